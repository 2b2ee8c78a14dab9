package ledger

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/repo-memory/ledger/pkg/regular"
)

// pendingExt ends the name of a shard that is not published yet; readers do not
// look at it.
const pendingExt = ".pending"

// closedMode is that of a shard that nobody extends any more, which spares every
// reader a look at it: those of other writers, restored or rotated.
const closedMode = 0o444

// write makes line durable: at the end of the own shard, or as the first line of
// a new one when there is none, it is full, or somebody else touched it.
func (w *Writer) write(line []byte) error {
	for range maxNames {
		if w.file != nil && !w.fits(line) {
			if err := w.mayCreate(); err != nil {
				return err // a smaller record may still fit
			}
			if err := w.rotate(); err != nil {
				return err
			}
		}
		put := w.create
		if w.file != nil {
			put = w.extendOwn
		}
		if err := put(line); err != nil || !w.broken {
			return err
		}
	}
	return &Refusal{RuleUnavailable, "", "somebody else writes to the shards of this writer"}
}

// extendOwn adds line to the own shard. When the shard turns out to have been
// taken away or written to, broken is set and the line is not acknowledged.
func (w *Writer) extendOwn(line []byte) error {
	_, err := w.file.Write(line)
	if err == nil {
		err = w.file.Sync()
	}
	if err != nil {
		// Part of the line may stand there. If it cannot be taken back the shard is
		// given up: the next record must not join it.
		if errors.Join(w.file.Truncate(w.shard.size), w.file.Sync()) != nil {
			w.broken = true
		}
		return &Refusal{RuleUnavailable, "", "failed to write the shard durably"}
	}
	if !w.stands(line) {
		w.broken = true
		return nil
	}
	w.grown(line)
	return nil
}

// stands reports whether line stands behind what was there, as a line of its own
// and under the shard's name. A stranger may have added to the file since it was
// looked at. Retirement renames a shard before it looks at it for the last time:
// a line that is under the old name now was seen by it, any other is written
// again.
func (w *Writer) stands(line []byte) bool {
	mine, err := w.file.Stat()
	if err != nil || mine.Size() != w.shard.size+int64(len(line)) {
		return false
	}
	named, err := os.Lstat(w.dir.shardPath(w.dir.own))
	if err != nil || !os.SameFile(mine, named) {
		return false
	}
	tail, from := line, w.shard.size
	if from > 0 {
		tail, from = append([]byte{'\n'}, line...), from-1
	}
	got := make([]byte, len(tail))
	_, err = w.file.ReadAt(got, from)
	return err == nil && bytes.Equal(got, tail)
}

// fits reports whether line may be added to the own shard.
func (w *Writer) fits(line []byte) bool {
	if w.broken || int(w.shard.size)+len(line) > w.limits.MaxSegmentBytes {
		return false
	}
	info, err := w.file.Stat()
	w.broken = err != nil || info.Size() != w.shard.size
	return !w.broken
}

// rotate closes the own shard and takes a new id.
func (w *Writer) rotate() error {
	id, err := NewUUID(w.options.Random)
	if err != nil {
		return err
	}
	if err := w.file.Chmod(closedMode); err != nil {
		return &Refusal{RuleUnavailable, "", "failed to close a full shard"}
	}
	w.file.Close()
	if w.broken {
		w.reload = true // what became of the shard is not known
	}
	w.file, w.shard, w.id, w.broken = nil, nil, id, false
	return nil
}

// create writes line as the first of a new shard and publishes it by a rename,
// so that no reader sees less than a whole record. Like extendOwn it sets broken
// when the line does not stand there alone.
func (w *Writer) create(line []byte) error {
	if err := w.makeFolders(); err != nil {
		return &Refusal{RuleUnavailable, "", err.Error()}
	}
	if err := w.mayCreate(); err != nil {
		return err
	}
	f, err := w.createPending()
	if err != nil {
		return &Refusal{RuleUnavailable, "", "failed to create a shard"}
	}
	name, pending := w.id+ShardExt, w.id+pendingExt
	_, err = f.Write(line)
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = w.dir.root.Rename(pending, name)
	}
	if err == nil {
		pending = name
		err = w.syncFolders()
	}
	if err != nil {
		f.Close()
		w.dir.root.Remove(pending)
		return &Refusal{RuleUnavailable, "", "failed to publish a new shard"}
	}
	w.file, w.dir.own = f, name
	w.shard, w.seen = &shard{file: name}, w.generation
	if !w.stands(line) {
		w.broken = true
		return nil
	}
	w.addShard(w.shard)
	w.grown(line)
	return nil
}

// mayCreate refuses a shard over the bound.
func (w *Writer) mayCreate() error {
	if n := len(w.shards); n >= w.limits.MaxShards {
		return &Refusal{RuleShardCount, "", fmt.Sprintf("ledger has %d shards, max-shards allows no more: compact it first", n)}
	}
	return nil
}

// createPending creates the file of the next shard. A name that is taken is left
// to its owner.
func (w *Writer) createPending() (*os.File, error) {
	for range maxNames {
		_, err := w.dir.root.Lstat(w.id + ShardExt)
		if errors.Is(err, fs.ErrNotExist) {
			var f *os.File
			f, err = w.dir.root.OpenFile(w.id+pendingExt, os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
			if err == nil {
				return f, nil
			}
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if w.id, err = NewUUID(w.options.Random); err != nil {
			return nil, err
		}
	}
	return nil, fs.ErrExist
}

// grown adds a line that is durable now.
func (w *Writer) grown(line []byte) {
	w.shard.content = append(w.shard.content, line...)
	w.shard.size += int64(len(line))
	w.extend(w.shard, w.insert)
	w.sorted()
}

// makeFolders creates the folders of the ledger and opens the one for shards.
func (w *Writer) makeFolders() error {
	d := w.dir
	if _, here := d.stat(); here {
		return nil
	}
	if d.root != nil {
		_ = d.close()
		w.reload = true // what else stands in the new one is not known
	}
	above, err := os.OpenRoot(d.path)
	if err != nil {
		return fmt.Errorf("failed to open the ledger directory: %w", regular.Cause(err))
	}
	defer above.Close()
	for _, dir := range []string{Dir, ShardDir} {
		if err := above.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("failed to create the ledger directory: %w", regular.Cause(err))
		}
	}
	if err := d.open(); err != nil {
		return err
	}
	if d.root == nil {
		return ErrDirectory // taken away again
	}
	return nil
}

// syncFolders makes the name of a new shard durable, and those of the folders
// above it unless they are.
func (w *Writer) syncFolders() error {
	if err := syncFolder(w.dir.handle); err != nil {
		return err
	}
	return w.dir.syncAbove()
}
