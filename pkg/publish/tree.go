package publish

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/storage/memory"

	"github.com/repo-memory/ledger/pkg/branch"
	"github.com/repo-memory/ledger/pkg/ledger"
)

// objects are what a commit adds to what the server has.
type objects struct {
	memory.ObjectStorage
	order []plumbing.Hash
}

func newObjects() *objects {
	return &objects{ObjectStorage: memory.NewStorage().ObjectStorage}
}

func (o *objects) add(kind plumbing.ObjectType, data []byte) (plumbing.Hash, error) {
	obj := &plumbing.MemoryObject{}
	obj.SetType(kind)
	obj.Write(data)
	return o.put(obj)
}

func (o *objects) put(obj plumbing.EncodedObject) (plumbing.Hash, error) {
	id := obj.Hash()
	if o.HasEncodedObject(id) == nil {
		return id, nil
	}
	o.order = append(o.order, id)
	return o.SetEncodedObject(obj)
}

// node is what a change does at one path and below.
type node struct {
	below  map[string]*node
	data   []byte
	adds   bool
	delete bool
}

func plan(c ledger.Change) *node {
	top := &node{}
	at := func(path string) *node {
		n := top
		for name := range strings.SplitSeq(path, "/") {
			next := n.below[name]
			if next == nil {
				next = &node{}
				if n.below == nil {
					n.below = map[string]*node{}
				}
				n.below[name] = next
			}
			n = next
		}
		return n
	}
	for _, p := range c.Delete {
		at(p).delete = true
	}
	for p, data := range c.Add {
		n := at(p)
		n.data, n.adds = data, true
	}
	return top
}

// grow makes the directory objects that the change touches, from those of the
// tip. Entries it does not name are taken over as they stand.
type grow struct {
	tip *branch.Tip
	new *objects
}

// directory applies n to the directory id (zero: none) and returns the result,
// or false when nothing is left in it.
func (g *grow) directory(id plumbing.Hash, n *node) (plumbing.Hash, bool, error) {
	var old []branch.Entry
	if id != plumbing.ZeroHash {
		var ok bool
		if old, ok = g.tip.Tree(id); !ok {
			return id, false, fmt.Errorf("%w: a directory of the branch was not read", ErrMalformed)
		}
	}
	entries := make([]branch.Entry, 0, len(old)+len(n.below))
	was := make(map[string]branch.Entry, len(n.below))
	for _, e := range old {
		if n.below[e.Name] != nil {
			was[e.Name] = e
		} else {
			entries = append(entries, e)
		}
	}
	for name, change := range n.below {
		e, exists := was[name]
		next, ok, err := g.entry(name, e, exists, change)
		if err != nil {
			return id, false, err
		}
		if ok {
			entries = append(entries, next)
		}
	}
	if len(entries) == 0 {
		return plumbing.ZeroHash, false, nil
	}
	made, err := g.write(entries)
	return made, true, err
}

func (g *grow) write(entries []branch.Entry) (plumbing.Hash, error) {
	slices.SortFunc(entries, func(a, b branch.Entry) int { return strings.Compare(a.SortKey(), b.SortKey()) })
	var b []byte
	for _, e := range entries {
		b = append(append(append(append(b, e.Mode...), ' '), e.Name...), 0)
		b = append(b, e.Hash[:]...)
	}
	if _, there := g.tip.Tree(plumbing.ComputeHash(plumbing.TreeObject, b)); there {
		return plumbing.ComputeHash(plumbing.TreeObject, b), nil
	}
	return g.new.add(plumbing.TreeObject, b)
}

// entry applies a change to what stands under one name; ok is false when
// nothing does afterwards.
func (g *grow) entry(name string, e branch.Entry, exists bool, n *node) (next branch.Entry, ok bool, err error) {
	conflict := func() (branch.Entry, bool, error) {
		return branch.Entry{}, false, fmt.Errorf("%w: it does not fit what is on the branch at %s", ErrChange, branch.Printable(name, 200))
	}
	kind := e.Kind()
	switch {
	case exists && kind != branch.File && kind != branch.Directory:
		return conflict()
	case n.delete && (!exists || kind != branch.File):
		return conflict()
	case exists && kind == branch.File && n.below != nil && !n.delete:
		return conflict()
	}
	if exists && kind == branch.Directory || n.below != nil {
		next = branch.Entry{Mode: branch.ModeDirectory, Name: name}
		under := plumbing.ZeroHash
		if exists && kind == branch.Directory {
			next.Mode, under = e.Mode, e.Hash
		}
		if next.Hash, ok, err = g.directory(under, n); err != nil {
			return next, false, err
		}
		if n.adds && ok {
			return conflict()
		}
	}
	if !n.adds {
		return next, ok, nil
	}
	id, err := g.blob(n.data, e, exists && kind == branch.File)
	if err != nil {
		return next, false, err
	}
	if exists && kind == branch.File && e.Hash == id {
		return e, true, nil
	}
	return branch.Entry{Mode: branch.ModeFile, Name: name, Hash: id}, true, nil
}

// blob stores content, unless it is what stands there already.
func (g *grow) blob(data []byte, e branch.Entry, exists bool) (plumbing.Hash, error) {
	if id := plumbing.ComputeHash(plumbing.BlobObject, data); exists && id == e.Hash {
		return id, nil
	}
	return g.new.add(plumbing.BlobObject, data)
}
