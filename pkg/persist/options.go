package persist

import (
	"cmp"
	"crypto/rand"
	"errors"
	"time"

	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/txlog"
)

// Options say how a staging is judged. Limits must be set; everything else has
// a use as its zero value.
type Options struct {
	// Limits are those of the ledger.
	Limits ledger.Limits
	// Files bound the ordinary memory files.
	Files FileLimits
	// Now is the time of the judge; zero is the time of Prepare.
	Now time.Time
	// Allow admits a reserved type that is not of Memory Git; nil admits none.
	Allow func(typ string) bool
	// Payload judges each payload, those of reserved types aside; nil takes all. A
	// payload schema goes here.
	Payload func(payload []byte) *ledger.Refusal
	// Memory says under whom records of Memory Git are admitted.
	Memory Memory
	// Base returns what the branch held at the commit that the staging was
	// restored from, or [ErrBaseUnknown], as nil does. It is called at most once,
	// and only where a memory file asks for it.
	Base func() (ledger.Snapshot, error)
	// Validate judges what is about to be committed (specification, section 4.1);
	// an error of it ends the run. It is called on every head that the Change is
	// made for, unless there is nothing to add. nil accepts.
	Validate func(files []File, records []ledger.Record) error
	// Log is what the transaction log says; nil when there is none.
	Log *txlog.Listing
	// Own names files of the staging that belong to the runtime and are not
	// content, by path, with what each is.
	Own map[string]string
	// Ledger is named in the commit message, Run, when it is not empty, is
	// its second paragraph: lines that name the transaction and lead to the run.
	Ledger, Run string
}

// File is one file that a Change writes: a normalized shard or a memory file.
type File struct {
	Path string // slash-separated, from the root of the branch
	Text string // UTF-8
}

// check completes the options.
func (o Options) check() (Options, error) {
	if o.Limits.MaxShards < 1 || o.Limits.MaxRecordBytes < 1 || o.Limits.MaxRecordBytes > o.Limits.MaxSegmentBytes || o.Limits.MaxPatchBytes < 1 {
		return o, errors.New("ledger limits are not set: take them from ledger.ParseLimits")
	}
	o.Files = o.Files.withDefaults()
	if err := o.Files.Check(); err != nil {
		return o, err
	}
	if o.Now.IsZero() {
		o.Now = time.Now()
	}
	if o.Memory.Seed == [32]byte{} {
		if _, err := rand.Read(o.Memory.Seed[:]); err != nil {
			return o, err
		}
	}
	if o.Memory.Project != "" {
		o.Memory.Policy = o.Memory.Policy.Within(o.Memory.Principal, o.Memory.Project)
	}
	o.Memory.Workflow, o.Memory.Run = cmp.Or(o.Memory.Workflow, "persist"), cmp.Or(o.Memory.Run, "local")
	return o, nil
}
