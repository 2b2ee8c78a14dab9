package persist

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/thread"
)

// Trusted is a trusted staging: records that a trusted job made before the agent
// ran, of types that no agent's staging may hold. It is judged apart from an
// agent's and published before it, oldest first, in as many commits as the patch
// bound asks for; none is refused for the size of the whole.
type Trusted struct {
	staging *thread.Staging
	options TrustedOptions
}

// TrustedOptions say how a trusted staging is published. Limits must be set.
type TrustedOptions struct {
	Limits ledger.Limits
	// Now is the time of the judge; zero is the time of PrepareTrusted.
	Now time.Time
	// Ledger and Run are as in [Options].
	Ledger, Run string
}

// TrustedReport is what one Change of a trusted staging adds.
type TrustedReport struct {
	// Records are added, Left are those for later commits.
	Records, Left int
	ShardsAfter   int
}

// PrepareTrusted reads the trusted staging in dir, which crossed an agent's job and
// is hostile until it is the one that digest names. It is read like an agent's
// staging; a directory that does not exist holds no files, since artifacts keep no
// empty folders, and then digest is that of none. Whatever is no regular file, and
// everything that thread.OpenStaging refuses, refuses the whole: the error wraps
// thread.ErrStaging and is bad input.
func PrepareTrusted(dir, digest string, options TrustedOptions) (*Trusted, error) {
	o, err := Options{Limits: options.Limits, Now: options.Now}.check()
	if err != nil {
		return nil, err
	}
	options.Now = o.Now
	s := &scan{fold: newFolder()}
	if err := s.directory(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", thread.ErrStaging, err)
	}
	files := make(map[string][]byte, len(s.entries))
	for _, e := range s.entries {
		if e.content == nil || e.fault != "" {
			return nil, fmt.Errorf("%w: %s: %s", thread.ErrStaging, printable(e.path), e.fault)
		}
		files[e.path] = e.content
	}
	staging, err := thread.OpenStaging(files, digest)
	if err != nil {
		return nil, err
	}
	return &Trusted{staging, options}, nil
}

// Len is how many records are staged.
func (t *Trusted) Len() int { return len(t.staging.Records) }

// Change returns the next commit to the branch that snap was read from; it is empty
// when nothing is left to add. Call it for the branch as it is until its Left is 0.
// Errors: the ledger is not whole, has no room for further shards (a
// *[LimitError]), or admission refuses a record.
func (t *Trusted) Change(snap ledger.Snapshot) (ledger.Change, TrustedReport, error) {
	limits := t.options.Limits
	base := ledger.OpenSnapshot(snap, limits)
	var r TrustedReport
	records, left, err := t.staging.Next(base, t.options.Now)
	if err != nil || len(records) == 0 {
		return ledger.Change{}, r, err
	}
	add := map[string][]byte{}
	for len(records) > 0 {
		n, size := 0, 0
		for ; n < len(records) && size+len(records[n].Line())+1 <= limits.MaxSegmentBytes; n++ {
			size += len(records[n].Line()) + 1
		}
		segment, err := ledger.BuildSegment(records[:n], metadata, limits.MaxSegmentBytes)
		if err != nil {
			return ledger.Change{}, r, fmt.Errorf("shard cannot be made: %w", err)
		}
		path := ledger.ShardPath(segment.ID)
		if standing, there := snap.Files[path]; there && !bytes.Equal(standing, segment.Content) || snap.Irregular[path] != "" {
			return ledger.Change{}, r, fmt.Errorf("shard %s: its name is on the branch with other content", segment.ID)
		}
		add[path] = segment.Content
		r.Records, records = r.Records+n, records[n:]
	}
	r.Left, r.ShardsAfter = left, len(base.Shards())+len(add)
	if r.ShardsAfter > limits.MaxShards {
		return ledger.Change{}, TrustedReport{}, &LimitError{"max-shards", "shards in all", int64(r.ShardsAfter), int64(limits.MaxShards),
			"run maintenance to compact the ledger, then run this job again"}
	}
	message := "persist: add " + plural(r.Records, "record")
	if t.options.Ledger != "" {
		message += " to " + t.options.Ledger
	}
	if t.options.Run != "" {
		message += "\n\n" + t.options.Run
	}
	return ledger.Change{Add: add, Message: message + "\n"}, r, nil
}
