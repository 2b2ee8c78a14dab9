package persist

import (
	"iter"
	"strings"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// place is what stands under one name, as a file system sees it that does not
// tell case and composition apart.
type place struct {
	spellings map[string]bool // paths, as they are spelled
	file      bool            // a file stands here
	folder    bool            // something stands below
}

// places maps folded paths, of files and of the folders on the way to them.
type places map[string]*place

// prefixes yields the folders on the way to path, the outermost first, and then
// path itself.
func prefixes(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range len(path) {
			if path[i] == '/' && !yield(path[:i]) {
				return
			}
		}
		yield(path)
	}
}

func (p places) put(f *folder, path string) {
	for prefix := range prefixes(path) {
		key := f.twin(prefix)
		at := p[key]
		if at == nil {
			at = &place{spellings: map[string]bool{}}
			p[key] = at
		}
		at.spellings[prefix] = true
		at.file = at.file || prefix == path
		at.folder = at.folder || prefix != path
	}
}

// withoutTwins rejects the files that some file system could not hold beside
// what is on the branch or beside another staged one: names that differ in case
// or composition only, and a file where a folder is. Of staged twins none is
// taken; what is on the branch keeps its name.
func (c *changer) withoutTwins(files []*entry) []*entry {
	if len(files) == 0 {
		return nil
	}
	f, branch, staged := newFolder(), places{}, places{}
	for path := range c.snap.Files {
		// No ordinary file can be spelled like the ledger's folder.
		if !strings.HasPrefix(path, ledger.Dir+"/") {
			branch.put(f, path)
		}
	}
	for path := range c.snap.Irregular {
		branch.put(f, path)
	}
	var left []*entry
	for _, e := range files {
		if reason := c.occupied(f, branch, e.path); reason != "" {
			c.report.reject(Item{Kind: KindFile, Path: e.path}, reason)
			continue
		}
		left = append(left, e)
		staged.put(f, e.path)
	}
	var kept []*entry
	for _, e := range left {
		if c.hasTwin(f, branch, staged, e.path) {
			c.report.reject(Item{Kind: KindFile, Path: e.path}, "another staged name differs from its own only in case or composition")
			continue
		}
		kept = append(kept, e)
	}
	return kept
}

// occupied says what on the branch stands in the way of path, or "".
func (c *changer) occupied(f *folder, branch places, path string) string {
	for prefix := range prefixes(path) {
		if what, irregular := c.snap.Irregular[prefix]; irregular {
			return "the branch has a " + what + " where it would stand"
		}
		at := branch[f.twin(prefix)]
		switch {
		case at == nil:
			return ""
		case !at.spellings[prefix]:
			return "its name differs from one on the branch only in case or composition"
		case prefix != path && at.file:
			return "the branch has a file where its folder would be"
		case prefix == path && at.folder:
			return "the branch has a folder of its name"
		}
	}
	return ""
}

// hasTwin reports whether another staged file spells a part of path otherwise.
// Where the branch has the name, its spelling was asked for before.
func (c *changer) hasTwin(f *folder, branch, staged places, path string) bool {
	for prefix := range prefixes(path) {
		key := f.twin(prefix)
		if branch[key] == nil && (len(staged[key].spellings) > 1 || staged[key].file && staged[key].folder) {
			return true
		}
	}
	return false
}
