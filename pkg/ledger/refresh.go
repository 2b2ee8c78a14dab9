package ledger

import (
	"fmt"
	"os"

	"github.com/repo-memory/ledger/pkg/regular"
)

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
		return fmt.Errorf("failed to read the shard directory: %w", regular.Cause(err))
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
