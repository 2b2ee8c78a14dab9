package publish

import (
	"fmt"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/repo-memory/ledger/pkg/branch"
	"github.com/repo-memory/ledger/pkg/ledger"
)

// Author is the author and committer of every commit. The address belongs to
// nobody and can be given to nobody.
var Author = struct{ Name, Email string }{"repo-memory ledger", "ledger@noreply.invalid"}

// build makes the commit with the change on top of tip. ok is false when its
// tree would be the tip's own, so that there is nothing to commit.
func build(tip *branch.Tip, change ledger.Change, now time.Time) (id plumbing.Hash, made *objects, ok bool, err error) {
	change = complete(tip.Snapshot, change)
	if err := check(tip.Snapshot, change, tip.Limits()); err != nil {
		return id, nil, false, err
	}
	g := &grow{tip: tip, new: newObjects()}
	root, filled, err := g.directory(tip.Root(), plan(change))
	if err != nil {
		return id, nil, false, err
	}
	if !filled {
		if root, err = g.new.add(plumbing.TreeObject, nil); err != nil {
			return id, nil, false, err
		}
	}
	if root == tip.Root() {
		return id, nil, false, nil
	}
	signature := object.Signature{Name: Author.Name, Email: Author.Email, When: now.UTC()}
	c := &object.Commit{
		Author: signature, Committer: signature, TreeHash: root,
		Message: strings.TrimRight(change.Message, "\n") + "\n",
	}
	if parent := tip.Head(); parent != plumbing.ZeroHash {
		c.ParentHashes = []plumbing.Hash{parent}
	}
	obj := &plumbing.MemoryObject{}
	if err := c.Encode(obj); err != nil {
		return id, nil, false, fmt.Errorf("%w: the commit cannot be encoded", ErrChange)
	}
	id, err = g.new.put(obj)
	return id, g.new, true, err
}
