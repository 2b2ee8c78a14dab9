package ledger

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/repo-memory/ledger/pkg/regular"
)

// youngTime is how long after a change the kernel may stamp another one with the
// same time, where time stamps are not as fine as that (Linux before 6.13).
const youngTime = 20 * time.Millisecond

// ErrDirectory: a folder of the ledger is a link or no folder.
var ErrDirectory = errors.New("ledger directory must be a real directory, not a link")

// directory is the shard folder of a ledger on disk. What others write to it is
// found by one stat of the folder and one of each file that may still grow.
type directory struct {
	path     string   // the root of the ledger
	root     *os.Root // of the shard folder, nil while there is none
	handle   *os.File // the shard folder itself
	modified time.Time
	young    bool // the folder changed so recently that its time may not tell
	growing  map[string]*shard
	own      string // the shard written by this process: never looked at again
}

// Open reconstructs the ledger below path, which holds ledger/shards or nothing
// yet. Links are never followed. The error names no path; what is wrong with
// shards and records is a diagnostic.
func Open(path string, limits Limits) (*Ledger, error) {
	l := &Ledger{limits: limits, dir: &directory{path: path}}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("ledger folder does not exist or is no folder: give the one that holds %s", ShardDir)
	}
	if err := l.readAll(); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// Close releases the folder. The records stay readable.
func (l *Ledger) Close() error {
	if l.dir == nil || l.dir.root == nil {
		return nil
	}
	err := errors.Join(l.dir.handle.Close(), l.dir.root.Close())
	l.dir.root, l.dir.handle = nil, nil
	return err
}

// Generation changes when records were read anew from the start, so that what
// was derived from [Ledger.Added] has to be derived again.
func (l *Ledger) Generation() int { return l.generation }

// Refresh brings in what others wrote since: new shards and new lines. It costs
// one stat when nothing happened.
func (l *Ledger) Refresh() error {
	d := l.dir
	if d == nil {
		return nil
	}
	if d.root == nil {
		return l.readAll()
	}
	info, err := d.handle.Stat()
	if err != nil {
		return l.readAll()
	}
	if d.young || !info.ModTime().Equal(d.modified) {
		d.stamp(info)
		if err := l.list(); err != nil {
			return err
		}
	}
	for _, s := range d.growing {
		if err := l.grow(s); err != nil {
			return err
		}
	}
	if l.reload {
		return l.readAll()
	}
	return nil
}

// stamp remembers the folder's time.
func (d *directory) stamp(info os.FileInfo) {
	d.modified = info.ModTime()
	d.young = coarseTimes && time.Since(d.modified) < youngTime
}

// readAll reads the ledger from the start.
func (l *Ledger) readAll() error {
	d := l.dir
	l.reset()
	l.generation++
	d.growing = map[string]*shard{}
	if err := d.open(); err != nil || d.root == nil {
		l.order = []int32{}
		return err
	}
	info, err := d.handle.Stat()
	if err != nil {
		return fmt.Errorf("failed to read the shard directory: %w", cause(err))
	}
	d.stamp(info)
	names, err := d.names(ShardExt)
	if err != nil {
		return err
	}
	for _, file := range l.bound(names) {
		l.addShard(d.read(file, l.limits), l.load)
	}
	l.sorted()
	return nil
}

// open opens the shard folder if there is one.
func (d *directory) open() error {
	if d.root != nil {
		return nil
	}
	for _, dir := range []string{Dir, ShardDir} {
		info, err := os.Lstat(filepath.Join(d.path, filepath.FromSlash(dir)))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("failed to open the ledger directory: %w", cause(err))
		}
		if !info.IsDir() {
			return ErrDirectory
		}
	}
	root, err := os.OpenRoot(filepath.Join(d.path, filepath.FromSlash(ShardDir)))
	if err != nil {
		return fmt.Errorf("failed to open the shard directory: %w", cause(err))
	}
	handle, err := root.Open(".")
	if err != nil {
		root.Close()
		return fmt.Errorf("failed to open the shard directory: %w", cause(err))
	}
	d.root, d.handle = root, handle
	return nil
}

// names lists the names that end with ext.
func (d *directory) names(ext string) ([]string, error) {
	f, err := d.root.Open(".")
	if err != nil {
		return nil, fmt.Errorf("failed to list the shard directory: %w", cause(err))
	}
	defer f.Close()
	var names []string
	for seen := 0; ; {
		some, err := f.Readdirnames(4096)
		if seen += len(some); seen > maxDirectoryEntries {
			return nil, fmt.Errorf("shard directory has more than %d entries: remove what does not belong there", maxDirectoryEntries)
		}
		for _, name := range some {
			if strings.HasSuffix(name, ext) {
				names = append(names, name)
			}
		}
		if err == io.EOF {
			return names, nil
		}
		if err != nil {
			return nil, fmt.Errorf("failed to list the shard directory: %w", cause(err))
		}
	}
}

// read reads one shard, as far as it is one.
func (d *directory) read(file string, limits Limits) *shard {
	s := &shard{file: file, fault: true}
	if _, ok := shardID(file); !ok {
		return s
	}
	if info, err := d.root.Lstat(file); err == nil {
		s.size = info.Size()
	}
	f, err := regular.OpenShared(d.root, file)
	if err != nil {
		return s
	}
	defer f.Close()
	if s.seen, err = f.Stat(); err != nil {
		return s
	}
	s.content, err = regular.Read(f, int64(limits.MaxSegmentBytes))
	if err != nil {
		return s
	}
	s.fault, s.size = false, int64(len(s.content))
	if s.seen.Mode().Perm()&0o222 != 0 && file != d.own {
		d.growing[file] = s
	}
	return s
}

// list finds shards that appeared or went since.
func (l *Ledger) list() error {
	names, err := l.dir.names(ShardExt)
	if err != nil {
		return err
	}
	known := make(map[string]bool, len(l.shards))
	for _, s := range l.shards {
		known[s.file] = true
	}
	if len(names) > l.limits.MaxShards || l.cut {
		l.reload = true
		return nil
	}
	here := 0
	for _, file := range names {
		if known[file] {
			here++
			continue
		}
		l.addShard(l.dir.read(file, l.limits), l.insert)
		here++
	}
	if here != len(l.shards) {
		l.reload = true
	}
	return nil
}

// grow reads the lines that were added to a shard of somebody else.
func (l *Ledger) grow(s *shard) error {
	info, err := l.dir.root.Lstat(s.file)
	if err != nil || !os.SameFile(info, s.seen) || info.Size() < s.size {
		l.reload = true
		return nil
	}
	if info.Mode().Perm()&0o222 == 0 {
		delete(l.dir.growing, s.file) // closed by its writer
	}
	if info.Size() == s.size {
		if !info.ModTime().Equal(s.seen.ModTime()) {
			l.reload = true // written over in place
		}
		return nil
	}
	f, err := regular.OpenShared(l.dir.root, s.file)
	if err != nil {
		l.reload = true
		return nil
	}
	defer f.Close()
	if info.Size() > int64(l.limits.MaxSegmentBytes) {
		l.reload = true
		return nil
	}
	if s.seen, err = f.Stat(); err != nil {
		l.reload = true
		return nil
	}
	tail := make([]byte, info.Size()-s.size)
	if _, err := f.ReadAt(tail, s.size); err != nil {
		l.reload = true
		return nil
	}
	s.content = append(s.content, tail...)
	s.size = int64(len(s.content))
	l.extend(s, l.insert)
	return nil
}

// cause drops the path from a file error.
func cause(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	var linkErr *os.LinkError
	if errors.As(err, &linkErr) {
		return linkErr.Err
	}
	return err
}
