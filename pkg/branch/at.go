package branch

import (
	"context"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// At reads the regular files of the branch as they stood at commit, which must be
// on it (ErrUnknownCommit). It fetches the branch's history, so it is for the
// rare question of what something was based on. Irregular entries are left out.
func At(ctx context.Context, r Remote, name, commit string, limits Limits) (ledger.Snapshot, error) {
	if err := CheckName(name); err != nil {
		return ledger.Snapshot{}, err
	}
	id, err := parseID(commit)
	if err != nil {
		return ledger.Snapshot{}, err
	}
	limits = limits.withDefaults()
	archive, head, err := spool(ctx, r, name, limits)
	if err != nil {
		return ledger.Snapshot{}, err
	}
	if head == plumbing.ZeroHash {
		return ledger.Snapshot{}, fmt.Errorf("%w: the branch does not exist", ErrUnknownCommit)
	}
	defer archive.close()
	graph, err := newGraph(ctx, archive, head, id)
	if err != nil {
		return ledger.Snapshot{}, err
	}
	d := &differ{archive: archive, limits: limits, trees: map[plumbing.Hash][]Entry{}}
	if err := d.directories("", plumbing.ZeroHash, graph.commits[id].tree, 0); err != nil {
		return ledger.Snapshot{}, err
	}
	snap := ledger.Snapshot{Head: commit, Files: map[string][]byte{}}
	total := int64(0)
	for _, file := range d.found {
		content, err := file.New.Bytes()
		if err != nil {
			return ledger.Snapshot{}, err
		}
		if total += int64(len(content)); total > limits.TotalBytes {
			return ledger.Snapshot{}, fmt.Errorf("%w: the commit holds more than %d bytes", ErrTooLarge, limits.TotalBytes)
		}
		snap.Files[file.Path] = content
	}
	return snap, nil
}
