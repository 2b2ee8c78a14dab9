package branch

import (
	"context"
	"fmt"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// Commit is one step of a branch's history, as [History] shows it.
type Commit struct {
	ID      string
	Parents []string // ids, in the commit's order
	Time    time.Time
	// Baseline is set where the walk begins in the middle of the history: at the
	// commit named by since, and at other commits before it that later ones were
	// merged from. Their Changes list everything that they hold.
	Baseline bool
	// Changes has one list for each parent, in order: the files under ledger/
	// that differ from that parent's. A root commit, and a baseline, has one
	// list, against nothing. Lists are in order of path.
	Changes [][]FileChange
	// Children counts the commits still to come that name this one as a parent,
	// so that a visitor knows when it can drop what it keeps for a commit.
	Children int
}

// FileChange is one path that differs between two commits. A side that has no
// regular file there has the zero Blob.
type FileChange struct {
	Path     string
	Old, New Blob
}

// Blob is the content of a regular file, read when asked for.
type Blob struct {
	// ID is the object id, equal for equal content: a key for a cache. "" when
	// there is no file.
	ID   string
	read func() ([]byte, error)
}

// Bytes returns the content; nil for the zero Blob. It is valid until the visit
// that gave the Blob returns, and must not be changed.
func (b Blob) Bytes() ([]byte, error) {
	if b.read == nil {
		return nil, nil
	}
	return b.read()
}

// ledgerDirectory is the part of a branch that a history shows.
const ledgerDirectory = "ledger"

// History visits every commit of the branch, parents before children and oldest
// first, and stops at the first error that visit returns. With since (a commit
// id; "" for the whole history) it begins there: that commit is the first
// baseline, and what is not one of its ancestors follows. A branch that does not
// exist has no commits. [ErrUnknownCommit] when since is not on the branch,
// [ErrShallow] when the remote lacks a part of the history. The history is
// spooled to a temporary file, compressed as it came; only small parts of it
// are in memory at a time.
func History(ctx context.Context, r Remote, name, since string, limits Limits, visit func(Commit) error) error {
	if err := CheckName(name); err != nil {
		return err
	}
	var from plumbing.Hash
	if since != "" {
		var err error
		if from, err = parseID(since); err != nil {
			return err
		}
	}
	limits = limits.withDefaults()
	archive, head, err := spool(ctx, r, name, limits)
	if err != nil {
		return err
	}
	if head == plumbing.ZeroHash {
		if since != "" {
			return fmt.Errorf("%w: the branch does not exist", ErrUnknownCommit)
		}
		return nil
	}
	defer archive.close()
	graph, err := newGraph(ctx, archive, head, from)
	if err != nil {
		return err
	}
	d := &differ{archive: archive, limits: limits, trees: map[plumbing.Hash][]Entry{}}
	for _, id := range graph.order {
		if err := ctx.Err(); err != nil {
			return err
		}
		c, err := graph.show(id, d)
		if err != nil {
			return err
		}
		if err := visit(c); err != nil {
			return err
		}
	}
	return nil
}
