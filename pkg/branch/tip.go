package branch

import (
	"fmt"
	"unicode/utf8"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// Tip is a branch as it stood at one commit: the Snapshot that pure functions
// work on, and the directory objects that a commit on top of it starts from.
// It does not change afterwards, and its Snapshot must not be changed.
type Tip struct {
	Snapshot ledger.Snapshot

	head    plumbing.Hash
	root    plumbing.Hash
	trees   map[plumbing.Hash][]Entry
	objects store
	limits  Limits
}

// Head is the id of the commit; zero when the branch does not exist.
func (t *Tip) Head() plumbing.Hash { return t.head }

// Root is the id of the top directory; zero when the branch does not exist.
func (t *Tip) Root() plumbing.Hash { return t.root }

// Tree lists a directory of this tip by its id, in git's order. The list must
// not be changed.
func (t *Tip) Tree(id plumbing.Hash) ([]Entry, bool) {
	entries, ok := t.trees[id]
	return entries, ok
}

// Limits are the bounds that the tip was read under, with the defaults filled
// in, so that a writer can refuse to make what no reader would take.
func (t *Tip) Limits() Limits { return t.limits }

func emptyTip(limits Limits) *Tip {
	return &Tip{limits: limits}
}

// newTip lists the tree of a commit whose objects are all in objects.
func newTip(head plumbing.Hash, objects store, limits Limits) (*Tip, error) {
	c, err := objects.commit(head)
	if err != nil {
		return nil, err
	}
	t := &Tip{
		Snapshot: ledger.Snapshot{Head: head.String(), Files: map[string][]byte{}, Irregular: map[string]string{}},
		head:     head,
		root:     c.tree,
		trees:    map[plumbing.Hash][]Entry{},
		objects:  store{head: objects[head]},
		limits:   limits,
	}
	w := &walk{tip: t, from: objects}
	if err := w.directory("", c.tree, 1); err != nil {
		return nil, err
	}
	return t, nil
}

// walk lists a tree path by path; what the same object is reached by twice
// counts twice, so that a small object cannot stand for a huge tree.
type walk struct {
	tip     *Tip
	from    store
	entries int
	bytes   int64
}

func (w *walk) directory(prefix string, id plumbing.Hash, depth int) error {
	entries, err := w.tree(id)
	if err != nil {
		return err
	}
	if w.entries += len(entries); w.entries > w.tip.limits.Entries {
		return fmt.Errorf("%w: the branch has more than %d files and directories", ErrTooLarge, w.tip.limits.Entries)
	}
	if depth > w.tip.limits.Depth && len(entries) > 0 {
		return fmt.Errorf("%w: the branch has paths of more than %d components", ErrTooLarge, w.tip.limits.Depth)
	}
	for _, e := range entries {
		path := prefix + e.Name
		if len(path) > maxPathBytes {
			return tooLarge("a path on the branch", int64(len(path)), maxPathBytes)
		}
		if err := w.entry(path, e, depth); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) entry(path string, e Entry, depth int) error {
	irregular := ""
	switch kind := e.Kind(); {
	case nameFault(e.Name) != "":
		irregular = "unsafe name: " + nameFault(e.Name)
	case kind == Link:
		irregular = "symbolic link"
	case kind == Submodule:
		irregular = "submodule"
	case kind == Directory:
		return w.directory(path+"/", e.Hash, depth+1)
	}
	if irregular != "" {
		if !utf8.ValidString(path) {
			path = Printable(path, maxPathBytes)
		}
		w.tip.Snapshot.Irregular[path] = irregular
		return nil
	}
	blob, ok := w.from[e.Hash]
	if !ok || blob.kind != plumbing.BlobObject {
		return fmt.Errorf("%w: the object of a file was not sent", ErrMalformed)
	}
	n := int64(len(blob.data))
	if n > w.tip.limits.FileBytes {
		return tooLarge("a file on the branch", n, w.tip.limits.FileBytes)
	}
	if w.bytes += n; w.bytes > w.tip.limits.TotalBytes {
		return tooLarge("all files of the branch together", w.bytes, w.tip.limits.TotalBytes)
	}
	w.tip.objects[e.Hash] = blob
	w.tip.Snapshot.Files[path] = blob.data
	return nil
}

func (w *walk) tree(id plumbing.Hash) ([]Entry, error) {
	if entries, ok := w.tip.trees[id]; ok {
		return entries, nil
	}
	o, ok := w.from[id]
	if !ok || o.kind != plumbing.TreeObject {
		return nil, fmt.Errorf("%w: a directory object was not sent", ErrMalformed)
	}
	entries, err := parseTree(o.data)
	if err != nil {
		return nil, err
	}
	w.tip.objects[id] = o
	w.tip.trees[id] = entries
	return entries, nil
}
