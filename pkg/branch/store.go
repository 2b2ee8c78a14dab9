package branch

import (
	"encoding/hex"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// stored is one object as it was received.
type stored struct {
	kind plumbing.ObjectType
	data []byte
}

// store holds objects by their ids, which were computed here, not claimed.
type store map[plumbing.Hash]stored

// commit is what is read of a commit object.
type commit struct {
	id      plumbing.Hash
	tree    plumbing.Hash
	parents []plumbing.Hash
	seconds int64 // of the committer's clock
}

func (s store) commit(id plumbing.Hash) (commit, error) {
	o, ok := s[id]
	if !ok || o.kind != plumbing.CommitObject {
		return commit{}, fmt.Errorf("%w: commit %s was not sent", ErrMalformed, id)
	}
	return parseCommit(id, o.data)
}

func parseCommit(id plumbing.Hash, data []byte) (commit, error) {
	raw := &plumbing.MemoryObject{}
	raw.SetType(plumbing.CommitObject)
	raw.Write(data)
	var c object.Commit
	if err := c.Decode(raw); err != nil || c.TreeHash == plumbing.ZeroHash {
		return commit{}, fmt.Errorf("%w: commit %s cannot be read", ErrMalformed, id)
	}
	return commit{id: id, tree: c.TreeHash, parents: c.ParentHashes, seconds: c.Committer.When.Unix()}, nil
}

// parseID reads an object id in lower-case hex.
func parseID(text string) (plumbing.Hash, error) {
	var h plumbing.Hash
	if len(text) != hex.EncodedLen(len(h)) {
		return h, fmt.Errorf("%w: %s is not a commit id of 40 hexadecimal digits", ErrUnknownCommit, Printable(text, 80))
	}
	if _, err := hex.Decode(h[:], []byte(text)); err != nil || h.String() != text {
		return plumbing.ZeroHash, fmt.Errorf("%w: %s is not a commit id of 40 lower-case hexadecimal digits", ErrUnknownCommit, Printable(text, 80))
	}
	return h, nil
}
