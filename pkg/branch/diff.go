package branch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// treeCacheEntries is how many directory entries a differ keeps parsed; two
// neighbouring commits of the largest branch fit.
const treeCacheEntries = 4 * DefaultEntries

// differ compares the ledger directories of two commits, looking only into
// directories whose ids differ.
type differ struct {
	archive *archive
	limits  Limits
	trees   map[plumbing.Hash][]Entry
	cached  int
	found   []FileChange
	visited int
}

// diff lists the regular files below ledger/ that differ between two top
// directories; zero is an empty one.
func (d *differ) diff(old, new plumbing.Hash) ([]FileChange, error) {
	d.found, d.visited = nil, 0
	oldDir, err := d.child(old, ledgerDirectory)
	if err != nil {
		return nil, err
	}
	newDir, err := d.child(new, ledgerDirectory)
	if err != nil {
		return nil, err
	}
	if err := d.directories(ledgerDirectory+"/", oldDir, newDir, 1); err != nil {
		return nil, err
	}
	slices.SortFunc(d.found, func(a, b FileChange) int { return strings.Compare(a.Path, b.Path) })
	return d.found, nil
}

// child is the id of a directory inside another, or zero.
func (d *differ) child(dir plumbing.Hash, name string) (plumbing.Hash, error) {
	entries, err := d.tree(dir)
	for _, e := range entries {
		if e.Name == name && e.Kind() == Directory {
			return e.Hash, nil
		}
	}
	return plumbing.ZeroHash, err
}

func (d *differ) directories(prefix string, old, new plumbing.Hash, depth int) error {
	if old == new {
		return nil
	}
	if depth > d.limits.Depth {
		return fmt.Errorf("%w: the history has paths of more than %d components", ErrTooLarge, d.limits.Depth)
	}
	before, err := d.tree(old)
	if err != nil {
		return err
	}
	after, err := d.tree(new)
	if err != nil {
		return err
	}
	if d.visited += len(before) + len(after); d.visited > 2*d.limits.Entries {
		return fmt.Errorf("%w: a commit has more than %d files and directories", ErrTooLarge, d.limits.Entries)
	}
	was := make(map[string]Entry, len(before))
	for _, e := range before {
		was[e.Name] = e
	}
	for _, e := range after {
		o := was[e.Name]
		delete(was, e.Name)
		if err := d.entries(prefix+e.Name, o, e, depth); err != nil {
			return err
		}
	}
	for _, o := range before {
		if _, gone := was[o.Name]; gone {
			if err := d.entries(prefix+o.Name, o, Entry{}, depth); err != nil {
				return err
			}
		}
	}
	return nil
}

// entries compares what one name stands for; the zero Entry is nothing.
func (d *differ) entries(path string, old, new Entry, depth int) error {
	if a, b := regular(old), regular(new); a != b {
		d.found = append(d.found, FileChange{Path: path, Old: d.blob(a), New: d.blob(b)})
	}
	return d.directories(path+"/", subdirectory(old), subdirectory(new), depth+1)
}

func regular(e Entry) plumbing.Hash {
	if e.Name != "" && e.Kind() == File {
		return e.Hash
	}
	return plumbing.ZeroHash
}

func subdirectory(e Entry) plumbing.Hash {
	if e.Name != "" && e.Kind() == Directory {
		return e.Hash
	}
	return plumbing.ZeroHash
}

func (d *differ) blob(id plumbing.Hash) Blob {
	if id == plumbing.ZeroHash {
		return Blob{}
	}
	return Blob{ID: id.String(), read: func() ([]byte, error) { return d.archive.object(plumbing.BlobObject, id) }}
}

func (d *differ) tree(id plumbing.Hash) ([]Entry, error) {
	if id == plumbing.ZeroHash {
		return nil, nil
	}
	if entries, ok := d.trees[id]; ok {
		return entries, nil
	}
	data, err := d.archive.object(plumbing.TreeObject, id)
	if err != nil {
		return nil, err
	}
	entries, err := parseTree(data)
	if err != nil {
		return nil, err
	}
	if d.cached += len(entries) + 1; d.cached > treeCacheEntries {
		d.trees, d.cached = map[plumbing.Hash][]Entry{}, len(entries)+1
	}
	d.trees[id] = entries
	return entries, nil
}
