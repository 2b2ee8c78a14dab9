package ledger

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/repo-memory/ledger/pkg/regular"
)

// retiringExt ends the name of a source between the proof and its deletion.
const retiringExt = ".retiring"

// stable refuses a declaration about shards of the current run.
func (r *Retirement) stable(c Coverage) error {
	for _, id := range append(slices.Clone(c.Sources), c.Replacement) {
		if r.unstable[id] {
			return fmt.Errorf("shard %s belongs to the current run: nothing was retired", id)
		}
	}
	return nil
}

// retire deletes the sources of a declaration, if the declaration on disk is the
// one that this run wrote and every record of every source is in the
// replacement. A source is taken away under another name, read again, and put
// back if a writer added to it meanwhile. One that is not there was retired by a
// run that was interrupted.
func (r *Retirement) retire(c Coverage) ([]string, error) {
	if !r.honours(c) {
		return nil, fmt.Errorf("coverage declaration was not made by this run: nothing was retired")
	}
	kept := map[Hash]bool{}
	content, err := r.readShard(c.Replacement + ShardExt)
	if err != nil {
		return nil, fmt.Errorf("replacement cannot be read: nothing was retired: %w", err)
	}
	records, err := ReadSegment(content)
	if err != nil {
		return nil, fmt.Errorf("replacement is damaged: nothing was retired: %w", err)
	}
	for _, record := range records {
		kept[record.sha] = true
	}
	var present, retired []string
	for _, id := range c.Sources {
		switch err := r.covered(id+ShardExt, kept); {
		case err == nil:
			present = append(present, id)
		case !errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("shard %s is not covered: nothing was retired: %w", id, err)
		}
	}
	var failed error
	for _, id := range present {
		if failed = r.remove(id, kept); failed != nil {
			break
		}
		retired = append(retired, id)
	}
	if err := syncFolder(r.dir.handle); err != nil {
		failed = errors.Join(failed, fmt.Errorf("failed to sync the shard directory: %w", regular.Cause(err)))
	}
	if failed != nil {
		return retired, failed
	}
	return retired, r.withdraw(c)
}

// honours reports whether the declaration was made in this run and stands on
// disk as it was made.
func (r *Retirement) honours(c Coverage) bool {
	if !slices.ContainsFunc(r.declared, func(d Coverage) bool {
		return d.Replacement == c.Replacement && slices.Equal(d.Sources, c.Sources)
	}) {
		return false
	}
	root, folder, err := r.coverageFolder(false)
	if err != nil {
		return false
	}
	defer root.Close()
	defer folder.Close()
	text, name := c.text()
	held, err := readCoverage(root, name)
	return err == nil && string(held) == string(text)+"\n"
}

// covered proves that every record of a shard is among kept. A line that is no
// record has nothing to keep it for and stops the retirement.
func (r *Retirement) covered(name string, kept map[Hash]bool) error {
	content, err := r.readShard(name)
	if err != nil {
		return err
	}
	records, err := ReadSegment(content)
	if err != nil {
		return err
	}
	for _, record := range records {
		if !kept[record.sha] {
			return fmt.Errorf("record %s is not in the replacement", record.sha)
		}
	}
	return nil
}

// remove deletes one source.
func (r *Retirement) remove(id string, kept map[Hash]bool) error {
	name, aside := id+ShardExt, id+retiringExt
	if _, err := r.dir.root.Lstat(aside); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("failed to retire shard %s: %s is in the way, remove it", id, aside)
	}
	if err := r.dir.root.Rename(name, aside); err != nil {
		return fmt.Errorf("failed to retire shard %s: %w", id, regular.Cause(err))
	}
	if err := r.covered(aside, kept); err != nil {
		if back := r.dir.root.Rename(aside, name); back != nil {
			return fmt.Errorf("shard %s changed while it was retired and could not be put back: %w", id, regular.Cause(back))
		}
		return fmt.Errorf("shard %s changed while it was retired and was put back: %w", id, err)
	}
	if err := r.dir.root.Remove(aside); err != nil {
		return fmt.Errorf("failed to retire shard %s: %w", id, regular.Cause(err))
	}
	return nil
}

// recover puts back what an interrupted run had taken aside: whether it was
// covered is not known any more, and records that stand twice do no harm. If
// another file has its name by now, it goes under a new one.
func (r *Retirement) recover() error {
	names, err := r.dir.names(retiringExt)
	if err != nil {
		return err
	}
	for _, aside := range names {
		id := strings.TrimSuffix(aside, retiringExt)
		held, err := r.readFile(aside, maxSegmentBytes)
		if !IsUUID(id) || errors.Is(err, regular.ErrKind) || errors.Is(err, regular.ErrTooLarge) {
			continue // not what retirement takes aside
		}
		if err != nil {
			return fmt.Errorf("failed to read a shard that an interrupted run took aside: %w", err)
		}
		for {
			there, err := r.readShard(id + ShardExt)
			if errors.Is(err, fs.ErrNotExist) {
				err = r.dir.root.Rename(aside, id+ShardExt)
			} else if err == nil && bytes.Equal(there, held) {
				err = r.dir.root.Remove(aside)
			} else if id, err = NewUUID(rand.Reader); err == nil {
				continue
			}
			if err != nil {
				return fmt.Errorf("failed to put back a shard that an interrupted run took aside: %w", regular.Cause(err))
			}
			break
		}
	}
	return regular.Cause(syncFolder(r.dir.handle))
}

// withdraw removes a declaration that was carried out.
func (r *Retirement) withdraw(c Coverage) error {
	root, folder, err := r.coverageFolder(false)
	if err != nil {
		return err
	}
	defer root.Close()
	defer folder.Close()
	_, name := c.text()
	if err := root.Remove(name + ShardExt); err != nil {
		return fmt.Errorf("failed to remove the coverage declaration: %w", regular.Cause(err))
	}
	r.declared = slices.DeleteFunc(r.declared, func(d Coverage) bool { return d.Replacement == c.Replacement })
	if err := syncFolder(folder); err != nil {
		return fmt.Errorf("failed to sync the coverage directory: %w", regular.Cause(err))
	}
	return nil
}
