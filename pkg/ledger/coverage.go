package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/regular"
)

// maxCoverageBytes bounds a coverage declaration that is read back: one line
// with at most MaxReadShards ids.
const maxCoverageBytes = 1 << 20

// ErrCollision: a shard of that name has other bytes. Nothing was changed.
var ErrCollision = errors.New("a shard with the replacement's id holds other bytes: nothing was changed")

// Coverage declares that a replacement shard holds every record of the sources
// (specification, sections 1 and 5.4). On disk it is one line, canonical text
// and a newline, in ledger/coverage/<digest>.jsonl, named by the SHA-256 of that
// text:
//
//	{"replacement":"<uuid>","sources":["<uuid>",...]}
//
// with sources ascending, each once.
type Coverage struct {
	Replacement string
	Sources     []string
}

// text returns the canonical text of the declaration and its digest's digits.
func (c Coverage) text() (text []byte, name string) {
	text = append(text, `{"replacement":"`...)
	text = append(append(text, c.Replacement...), `","sources":[`...)
	for i, source := range c.Sources {
		if i > 0 {
			text = append(text, ',')
		}
		text = canonical.AppendString(text, source)
	}
	text = append(text, `]}`...)
	return text, canonical.Sum(text)[len(hashPrefix):]
}

// Retirement replaces shards of a ledger directory. It acts only on the
// declarations that it was given itself: what lies in the coverage folder, from
// an earlier run or from a stranger, is never honoured.
type Retirement struct {
	dir      *directory
	limits   Limits
	unstable map[string]bool
	declared []Coverage
}

// NewRetirement opens the ledger below path. The shards called current, the
// writer's own and all that the run added, are never retired nor taken as a
// replacement.
func NewRetirement(path string, limits Limits, current []string) (*Retirement, error) {
	r := &Retirement{dir: &directory{path: path}, limits: limits, unstable: map[string]bool{}}
	if err := r.dir.open(); err != nil {
		return nil, err
	}
	if r.dir.root == nil {
		return nil, fmt.Errorf("there is no %s to retire shards from", ShardDir)
	}
	for _, id := range current {
		r.unstable[id] = true
	}
	if err := r.recover(); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// Close releases the directory.
func (r *Retirement) Close() error { return r.dir.close() }

// Replace publishes the segment, declares that it covers the sources, and
// retires those that it does cover and that are there. It returns the sources
// retired; when the declaration does not hold, none are and the error says why.
func (r *Retirement) Replace(segment Segment, sources []string) (retired []string, err error) {
	c := Coverage{Replacement: segment.ID, Sources: slices.Compact(slices.Sorted(slices.Values(sources)))}
	if !IsUUID(c.Replacement) || len(c.Sources) == 0 || !allUUIDs(c.Sources) || slices.Contains(c.Sources, c.Replacement) {
		return nil, fmt.Errorf("coverage needs a replacement and other shards as sources, each named by a UUID")
	}
	if err := r.stable(c); err != nil {
		return nil, err
	}
	if err := r.publish(segment); err != nil {
		return nil, err
	}
	if err := r.declare(c); err != nil {
		return nil, err
	}
	return r.retire(c)
}

func allUUIDs(ids []string) bool {
	return !slices.ContainsFunc(ids, func(id string) bool { return !IsUUID(id) })
}

// publish writes the replacement unless it stands there already.
func (r *Retirement) publish(segment Segment) error {
	name := segment.ID + ShardExt
	existing, err := r.readShard(name)
	switch {
	case err == nil && string(existing) == string(segment.Content):
		return r.settle(name)
	case err == nil || !errors.Is(err, fs.ErrNotExist):
		return ErrCollision
	}
	return r.writeFile(r.dir.root, r.dir.handle, name, segment.ID+pendingExt, segment.Content)
}

// settle makes a shard durable that somebody else wrote.
func (r *Retirement) settle(name string) error {
	f, err := regular.OpenShared(r.dir.root, name)
	if err == nil {
		err = errors.Join(syncFolder(f), syncFolder(r.dir.handle), f.Close())
	}
	if err != nil {
		return fmt.Errorf("failed to make the replacement durable: %w", regular.Cause(err))
	}
	return nil
}

// writeFile makes a file durable under its name, which must be free.
func (r *Retirement) writeFile(root *os.Root, folder *os.File, name, pending string, content []byte) error {
	_ = root.Remove(pending) // what an interrupted run left behind
	f, err := root.OpenFile(pending, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("failed to create a file in the ledger: %w", regular.Cause(err))
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Sync(), f.Chmod(closedMode), f.Close())
	if err == nil {
		err = root.Rename(pending, name)
	}
	if err == nil {
		err = syncFolder(folder)
	}
	if err != nil {
		_ = root.Remove(pending)
		return fmt.Errorf("failed to write a file in the ledger durably: %w", regular.Cause(err))
	}
	return nil
}

// declare writes the declaration.
func (r *Retirement) declare(c Coverage) error {
	root, folder, err := r.coverageFolder(true)
	if err != nil {
		return err
	}
	defer root.Close()
	defer folder.Close()
	text, name := c.text()
	r.declared = append(r.declared, c)
	if held, err := readCoverage(root, name); err == nil && string(held) == string(text)+"\n" {
		return nil
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) || err == nil {
		return fmt.Errorf("coverage declaration %s exists with other content: remove it", name)
	}
	return r.writeFile(root, folder, name+ShardExt, name+pendingExt, append(text, '\n'))
}

// coverageFolder opens the folder of declarations.
func (r *Retirement) coverageFolder(create bool) (*os.Root, *os.File, error) {
	above, err := os.OpenRoot(r.dir.path)
	if err != nil {
		return nil, nil, fmt.Errorf("failed to open the ledger: %w", regular.Cause(err))
	}
	defer above.Close()
	if create {
		if err := above.Mkdir(CoverageDir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, nil, fmt.Errorf("failed to create the coverage directory: %w", regular.Cause(err))
		}
	}
	if info, err := above.Lstat(CoverageDir); err != nil || !info.IsDir() {
		return nil, nil, ErrDirectory
	}
	root, err := above.OpenRoot(CoverageDir)
	if err != nil {
		return nil, nil, fmt.Errorf("failed to open the coverage directory: %w", regular.Cause(err))
	}
	folder, err := root.Open(".")
	if err != nil {
		root.Close()
		return nil, nil, fmt.Errorf("failed to open the coverage directory: %w", regular.Cause(err))
	}
	return root, folder, nil
}

func readCoverage(root *os.Root, name string) ([]byte, error) {
	f, err := regular.OpenIn(root, name+ShardExt)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return regular.Read(f, maxCoverageBytes)
}

// readShard reads one shard whole.
func (r *Retirement) readShard(name string) ([]byte, error) {
	return r.readFile(name, r.limits.MaxSegmentBytes)
}

func (r *Retirement) readFile(name string, limit int) ([]byte, error) {
	f, err := regular.OpenShared(r.dir.root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return regular.Read(f, int64(limit))
}

// WriteState writes the compaction state, in one step for every reader.
func (r *Retirement) WriteState(content []byte) error {
	above, err := os.OpenRoot(r.dir.path)
	if err != nil {
		return fmt.Errorf("failed to open the ledger: %w", regular.Cause(err))
	}
	defer above.Close()
	folder := path.Dir(CompactionFile)
	if err := above.Mkdir(folder, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("failed to create the compaction directory: %w", regular.Cause(err))
	}
	if info, err := above.Lstat(folder); err != nil || !info.IsDir() {
		return ErrDirectory
	}
	root, err := above.OpenRoot(folder)
	if err != nil {
		return fmt.Errorf("failed to open the compaction directory: %w", regular.Cause(err))
	}
	defer root.Close()
	handle, err := root.Open(".")
	if err != nil {
		return fmt.Errorf("failed to open the compaction directory: %w", regular.Cause(err))
	}
	defer handle.Close()
	name := path.Base(CompactionFile)
	return r.writeFile(root, handle, name, name+pendingExt, content)
}
