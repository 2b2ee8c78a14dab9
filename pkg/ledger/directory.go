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
	return regular.Cause(err)
}

// stamp remembers the folder's time.
func (d *directory) stamp(info os.FileInfo) {
	d.modified = info.ModTime()
	d.young = coarseTimes && time.Since(d.modified) < youngTime
}

// open opens the shard folder if there is one.
func (d *directory) open() error {
	if d.root != nil {
		return nil
	}
	above, err := os.OpenRoot(d.path)
	if err != nil {
		return fmt.Errorf("failed to open the ledger directory: %w", regular.Cause(err))
	}
	defer above.Close()
	var info os.FileInfo
	for _, dir := range []string{Dir, ShardDir} {
		info, err = above.Lstat(dir)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("failed to open the ledger directory: %w", regular.Cause(err))
		}
		if !info.IsDir() {
			return ErrDirectory
		}
	}
	root, err := above.OpenRoot(ShardDir)
	if err != nil {
		return fmt.Errorf("failed to open the shard directory: %w", regular.Cause(err))
	}
	handle, err := root.Open(".")
	if err != nil {
		root.Close()
		return fmt.Errorf("failed to open the shard directory: %w", regular.Cause(err))
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
		return nil, fmt.Errorf("failed to list the shard directory: %w", regular.Cause(err))
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
			return nil, fmt.Errorf("failed to list the shard directory: %w", regular.Cause(err))
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
