package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
	if w.file != nil && w.fits(line) {
		if err := w.extendOwn(line); err != nil || !w.broken {
			return err
		}
	}
	if w.file != nil {
		if err := w.rotate(); err != nil {
			return err
		}
	}
	return w.create(line)
}

// extendOwn adds line to the own shard. When the shard turns out to have been
// taken away, broken is set and the line is not acknowledged.
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
	// Retirement renames a shard before it looks at it for the last time: a line
	// that is under the old name now was seen by it, any other is written again.
	mine, err := w.file.Stat()
	if err == nil {
		var named os.FileInfo
		if named, err = w.dir.root.Lstat(w.dir.own); err == nil && os.SameFile(mine, named) {
			w.grown(line)
			return nil
		}
	}
	w.broken = true
	return nil
}

// fits reports whether line may be added to the own shard.
func (w *Writer) fits(line []byte) bool {
	if w.broken || int(w.shard.size)+len(line) > w.limits.MaxSegmentBytes {
		return false
	}
	info, err := w.file.Stat()
	return err == nil && info.Size() == w.shard.size
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
	w.file, w.shard, w.id, w.broken = nil, nil, id, false
	return nil
}

// create writes line as the first of a new shard and publishes it by a rename,
// so that no reader sees less than a whole record.
func (w *Writer) create(line []byte) error {
	if err := w.makeFolders(); err != nil {
		return &Refusal{RuleUnavailable, "", err.Error()}
	}
	if len(w.shards) >= w.limits.MaxShards {
		return &Refusal{RuleShardCount, "", fmt.Sprintf("ledger has %d shards, max-shards allows no more: compact it first", len(w.shards))}
	}
	name, pending := w.id+ShardExt, w.id+pendingExt
	f, err := w.dir.root.OpenFile(pending, os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return &Refusal{RuleUnavailable, "", "failed to create a shard"}
	}
	_, err = f.Write(line)
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = w.dir.root.Rename(pending, name)
	}
	if err == nil {
		err = w.syncFolders()
	}
	if err != nil {
		f.Close()
		w.dir.root.Remove(pending)
		w.dir.root.Remove(name)
		return &Refusal{RuleUnavailable, "", "failed to publish a new shard"}
	}
	w.file = f
	w.dir.own = name
	w.shard, w.seen = &shard{file: name}, w.generation
	w.addShard(w.shard, w.insert)
	w.grown(line)
	return nil
}

// grown adds a line that is durable now.
func (w *Writer) grown(line []byte) {
	w.shard.content = append(w.shard.content, line...)
	w.shard.size += int64(len(line))
	w.extend(w.shard, w.insert)
}

// makeFolders creates the folders of the ledger and opens the one for shards.
func (w *Writer) makeFolders() error {
	d := w.dir
	if d.root != nil {
		return nil
	}
	for _, dir := range []string{Dir, ShardDir} {
		err := os.Mkdir(filepath.Join(d.path, filepath.FromSlash(dir)), 0o755)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("failed to create the ledger directory: %w", cause(err))
		}
	}
	return d.open()
}

// syncFolders makes the name of a new shard durable, and the first time those of
// the folders above it.
func (w *Writer) syncFolders() error {
	if err := syncFolder(w.dir.handle); err != nil {
		return err
	}
	if w.synced {
		return nil
	}
	for _, dir := range []string{Dir, "."} {
		f, err := os.Open(filepath.Join(w.dir.path, filepath.FromSlash(dir)))
		if err != nil {
			return err
		}
		err = syncFolder(f)
		f.Close()
		if err != nil {
			return err
		}
	}
	w.synced = true
	return nil
}
