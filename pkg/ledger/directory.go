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
	path     string      // the root of the ledger
	root     *os.Root    // of the shard folder, nil while there is none
	handle   *os.File    // the shard folder itself
	opened   os.FileInfo // what it was when it was opened
	modified time.Time
	young    bool // the folder changed so recently that its time may not tell
	growing  map[string]*shard
	own      string // the shard written by this process: never looked at again
	synced   bool   // the names of the folders above the shards are durable
}

// Open reconstructs the ledger below path, which holds ledger/shards or nothing
// yet. Links are never followed. The error names no path; what is wrong with
// shards and records is a diagnostic.
func Open(path string, limits Limits) (*Ledger, error) {
	l := &Ledger{limits: limits, dir: &directory{path: path}}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return nil, errNoFolder
	}
	if err := l.readAll(); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// Close releases the folder. The records stay readable.
func (l *Ledger) Close() error {
	if l.dir == nil {
		return nil
	}
	return l.dir.close()
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
	info, here := d.stat()
	if !here {
		_ = d.close()
	}
	if !here || l.reload {
		return l.readAll()
	}
	l.inserts = 0
	defer l.sorted()
	if d.young || !info.ModTime().Equal(d.modified) {
		if err := l.list(); err != nil {
			return err
		}
		d.stamp(info)
	}
	for _, s := range d.growing {
		l.grow(s)
	}
	if l.reload {
		return l.readAll()
	}
	return nil
}

// stat looks at the shard folder by its path, and reports whether it is still
// the one that was opened: what is written to another is nowhere in the ledger.
func (d *directory) stat() (info os.FileInfo, here bool) {
	if d.root == nil {
		return nil, false
	}
	info, err := os.Lstat(d.shardPath(""))
	return info, err == nil && os.SameFile(info, d.opened)
}

// shardPath is the path of a shard on disk.
func (d *directory) shardPath(file string) string {
	return filepath.Join(d.path, filepath.FromSlash(ShardDir), file)
}

// close releases the shard folder.
func (d *directory) close() error {
	if d.root == nil {
		return nil
	}
	err := errors.Join(d.handle.Close(), d.root.Close())
	d.root, d.handle = nil, nil
	return cause(err)
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
	l.reload = true // until all is read
	l.generation++
	d.growing = map[string]*shard{}
	if err := d.open(); err != nil || d.root == nil {
		l.order, l.read, l.reload = []int32{}, true, err != nil
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
	var shards []*shard
	for _, file := range l.bound(names) {
		shards = append(shards, d.read(file, l.limits))
	}
	l.loadAll(shards)
	l.reload = false
	return nil
}

// open opens the shard folder if there is one.
func (d *directory) open() error {
	if d.root != nil {
		return nil
	}
	above, err := os.OpenRoot(d.path)
	if err != nil {
		return fmt.Errorf("failed to open the ledger directory: %w", cause(err))
	}
	defer above.Close()
	var info os.FileInfo
	for _, dir := range []string{Dir, ShardDir} {
		info, err = above.Lstat(dir)
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
	root, err := above.OpenRoot(ShardDir)
	if err != nil {
		return fmt.Errorf("failed to open the shard directory: %w", cause(err))
	}
	handle, err := root.Open(".")
	if err != nil {
		root.Close()
		return fmt.Errorf("failed to open the shard directory: %w", cause(err))
	}
	d.root, d.handle, d.opened, d.synced = root, handle, info, false
	if now, err := handle.Stat(); err != nil || !os.SameFile(now, info) {
		_ = d.close()
		return ErrDirectory // replaced by a link meanwhile
	}
	return nil
}

// syncAbove makes the names of the folders durable, once for each time that they
// were opened.
func (d *directory) syncAbove() error {
	if d.synced {
		return nil
	}
	for _, dir := range []string{Dir, "."} {
		f, err := os.Open(filepath.Join(d.path, filepath.FromSlash(dir)))
		if err != nil {
			return err
		}
		err = syncFolder(f)
		f.Close()
		if err != nil {
			return err
		}
	}
	d.synced = true
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

// read reads one shard, as far as it is one. Whatever may still change is
// looked at again later: a shard that is not closed, and what is no shard now.
func (d *directory) read(file string, limits Limits) *shard {
	s := &shard{file: file, fault: true}
	if _, ok := ShardID(file); !ok {
		return s
	}
	var err error
	if s.seen, err = d.root.Lstat(file); err != nil {
		return s
	}
	s.size = s.seen.Size()
	if file != d.own {
		d.growing[file] = s
	}
	f, err := regular.OpenShared(d.root, file)
	if err != nil {
		return s
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return s
	}
	content, err := regular.Read(f, int64(limits.MaxSegmentBytes))
	if err != nil {
		return s
	}
	s.content, s.seen, s.fault, s.size = content, info, false, int64(len(content))
	if info.Mode().Perm()&0o222 == 0 {
		delete(d.growing, file)
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
		l.addShard(l.dir.read(file, l.limits))
		here++
	}
	if here != len(l.shards) {
		l.reload = true
	}
	return nil
}

// grow reads the lines that were added to a shard of somebody else. Anything
// else that happened to it makes the ledger be read anew.
func (l *Ledger) grow(s *shard) {
	info, err := l.dir.root.Lstat(s.file)
	if err != nil || !os.SameFile(info, s.seen) || info.Size() < s.size {
		l.reload = true
		return
	}
	same := info.Size() == s.size && info.ModTime().Equal(s.seen.ModTime())
	switch {
	case s.fault:
		l.reload = l.reload || !same || info.Mode() != s.seen.Mode()
		return
	case info.Size() == s.size && !same: // written over in place
		l.reload = true
		return
	case info.Size() > s.size && !l.readTail(s, info.Size()):
		l.reload = true
		return
	}
	if info.Mode().Perm()&0o222 == 0 {
		delete(l.dir.growing, s.file) // closed by its writer
	}
}

// readTail reads s on to size.
func (l *Ledger) readTail(s *shard, size int64) bool {
	if size > int64(l.limits.MaxSegmentBytes) {
		return false
	}
	f, err := regular.OpenShared(l.dir.root, s.file)
	if err != nil {
		return false
	}
	defer f.Close()
	if s.seen, err = f.Stat(); err != nil {
		return false
	}
	tail := make([]byte, size-s.size)
	if _, err := f.ReadAt(tail, s.size); err != nil {
		return false
	}
	s.content = append(s.content, tail...)
	s.size = size
	l.extend(s, l.insert)
	return true
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
