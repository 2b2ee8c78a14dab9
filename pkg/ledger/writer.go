package ledger

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/repo-memory/ledger/pkg/regular"
)

// Writer appends records to a ledger directory. A record is judged, written and
// synced before Append returns it; the shards it creates are its own, and it
// never writes to another's, so that writers in one directory, and what a crash
// left behind, cannot get in each other's way. It is not safe for concurrent use.
type Writer struct {
	*Ledger
	options WriterOptions

	id      string   // of the shard written to, or of the next
	file    *os.File // nil until the shard exists
	shard   *shard
	written int  // bytes appended, against the patch bound
	seen    int  // generation that shard belongs to
	broken  bool // the shard cannot be extended
}

// WriterOptions are what a Writer takes from outside. The zero value is the
// clock and randomness of the system.
type WriterOptions struct {
	Clock  func() time.Time
	Random io.Reader
	// Allow admits a reserved type; nil admits none.
	Allow func(typ string) bool
	// Restored holds the file names of the shards that stood there before the run.
	// The patch bound then counts all others, whichever process of the run wrote
	// them; with nil it counts what this Writer appends.
	Restored map[string]bool
}

// NewWriter opens the ledger below path for appending.
func NewWriter(path string, limits Limits, options WriterOptions) (*Writer, error) {
	if options.Clock == nil {
		options.Clock = time.Now
	}
	if options.Random == nil {
		options.Random = rand.Reader
	}
	l, err := Open(path, limits)
	if err != nil {
		return nil, err
	}
	// Folders that are here already are made durable now, so that the first append
	// does not have to; nothing is lost if that fails, since it then tries again.
	if l.dir.root != nil {
		_ = l.dir.syncAbove()
	}
	w := &Writer{Ledger: l, options: options}
	if w.id, err = NewUUID(options.Random); err != nil {
		l.Close()
		return nil, err
	}
	return w, nil
}

// ShardID returns the id of the shard that the next record goes to unless it
// does not fit or the name is taken.
func (w *Writer) ShardID() string { return w.id }

// Append records a payload, given as JSON text, under a type (in the string
// encoding of canonical.Value). The record's parents are the current heads, at
// most MaxParents and at most a quarter of the record bound. Once Append
// returns a Record it is durable; a *[Refusal] says that nothing was written.
func (w *Writer) Append(typ string, payload []byte) (Record, error) {
	text, refusal := StrictPayload(payload)
	if refusal != nil {
		return Record{}, refusal
	}
	admission := Admission{Base: w.Ledger, Allow: w.options.Allow}
	if refusal := admission.judgeType(typ); refusal != nil {
		return Record{}, refusal
	}
	if err := w.Refresh(); err != nil {
		return Record{}, &Refusal{RuleUnavailable, "", err.Error()}
	}
	w.reattach()
	if err := w.Whole(); err != nil {
		return Record{}, &Refusal{RuleNotWhole, "", err.Error()}
	}
	id, err := NewUUID(w.options.Random)
	if err != nil {
		return Record{}, err
	}
	now := w.options.Clock()
	r, err := Seal(Draft{ID: idPrefix + id, Parents: w.joinHeads(), Payload: text, Timestamp: FormatTime(now), Type: typ})
	if err != nil {
		return Record{}, err
	}
	admission.Now = now
	if refusal := admission.Admit([]Record{r})[0]; refusal != nil {
		return Record{}, refusal
	}
	line := append(r.line[:len(r.line):len(r.line)], '\n')
	if n := w.patch() + len(line); n > w.limits.MaxPatchBytes {
		return Record{}, &Refusal{RulePatchSize, "", fmt.Sprintf("run would add %d bytes, max-patch-kb allows %d: store less in one run", n, w.limits.MaxPatchBytes)}
	}
	if err := w.write(line); err != nil {
		return Record{}, err
	}
	w.written += len(line)
	r, _ = w.Get(r.sha)
	return r, nil
}

// patch returns how many bytes the run has added.
func (w *Writer) patch() int {
	if w.options.Restored == nil {
		return w.written
	}
	n := 0
	for _, s := range w.shards {
		if !w.options.Restored[s.file] {
			n += len(s.content)
		}
	}
	return n
}

// reattach finds the own shard again after the ledger was read anew. One that
// is gone or changed is given up.
func (w *Writer) reattach() {
	if w.file == nil || w.seen == w.generation {
		return
	}
	w.seen, w.broken = w.generation, true
	for _, s := range w.shards {
		if s.file == w.dir.own && !s.fault {
			w.broken = w.broken && (s.size != w.shard.size || s.truncated != 0)
			w.shard = s
		}
	}
}

// Close closes the own shard, which from then on nobody may extend, and releases
// the folder. Every record stands already.
func (w *Writer) Close() error {
	var err error
	if w.file != nil {
		err = regular.Cause(errors.Join(w.file.Chmod(closedMode), w.file.Close()))
		w.file = nil
	}
	return errors.Join(err, w.Ledger.Close())
}

// joinHeads returns the heads that the next record names. Each costs a digest
// in quotes and a comma; a quarter of the record leaves room for the payload
// however wide a ledger has become, and still makes it narrower.
func (w *Writer) joinHeads() []Hash {
	n := max(1, min(MaxParents, w.limits.MaxRecordBytes/4/(hashLen+3)))
	return w.heads[:min(n, len(w.heads))]
}
