package publish

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/repo-memory/ledger/pkg/branch"
	"github.com/repo-memory/ledger/pkg/github"
	"github.com/repo-memory/ledger/pkg/ledger"
)

// api is the way over GitHub's API.
type api struct {
	client     *github.Client
	repository string // OWNER/NAME
	name       string
	opts       Options
	// push takes what the API does not; nil when nothing may be pushed.
	push way
	// puzzled is the head at which the API contradicted what was read; a second time
	// at the same head is final.
	puzzled string
	once    bool
}

func (w *api) commit(ctx context.Context, tip *branch.Tip, change ledger.Change) (string, error) {
	head := tip.Snapshot.Head
	_, _, ok, err := build(tip, change, w.opts.Now())
	if err != nil || !ok {
		return head, err
	}
	send := w.commitOf(tip, change)
	bytes, files := weigh(send)
	switch {
	case bytes > w.opts.apiBytes:
		return w.instead(ctx, tip, change, fmt.Errorf("%w: %d bytes to publish, the most for one commit through the API is %d", ErrTooLarge, bytes, w.opts.apiBytes))
	case head == "" && files > maxFirstFiles:
		return w.instead(ctx, tip, change, fmt.Errorf("%w: %d files for a new branch, the most that are sent through the API is %d", ErrTooLarge, files, maxFirstFiles))
	}
	var id string
	if head == "" {
		id, err = w.client.CreateBranch(ctx, send)
	} else {
		id, err = w.client.CommitOnBranch(ctx, send)
	}
	if errors.Is(err, github.ErrEmpty) {
		return w.instead(ctx, tip, change, fmt.Errorf("%w: the repository has no commit yet, and the API makes no first one", ErrRejected))
	}
	if err != nil {
		return "", w.outcome(head, err)
	}
	return id, nil
}

// instead pushes what the API does not take, unless only the API may be used.
func (w *api) instead(ctx context.Context, tip *branch.Tip, change ledger.Change, why error) (string, error) {
	if w.push == nil {
		return "", fmt.Errorf("%w: use publish: auto or git", why)
	}
	return w.push.commit(ctx, tip, change)
}

// commitOf is the change as the API takes it, without what stands there already.
func (w *api) commitOf(tip *branch.Tip, change ledger.Change) github.Commit {
	change = complete(tip.Snapshot, change)
	c := github.Commit{
		Repository: w.repository, Branch: w.name, Expected: tip.Snapshot.Head, Message: change.Message,
		Add: map[string][]byte{}, Delete: change.Delete,
	}
	for path, data := range change.Add {
		if old, there := tip.Snapshot.Files[path]; !there || plumbing.ComputeHash(plumbing.BlobObject, old) != plumbing.ComputeHash(plumbing.BlobObject, data) {
			c.Add[path] = data
		}
	}
	return c
}

func weigh(c github.Commit) (bytes int64, files int) {
	for _, data := range c.Add {
		bytes += int64(len(data))
	}
	return bytes, len(c.Add)
}

// outcome gives an error of the API its kind here.
func (w *api) outcome(head string, err error) error {
	again := !w.once || w.puzzled != head
	for _, k := range []struct {
		is, kind error
		puzzling bool // it contradicts what was read: read once more
	}{
		{github.ErrStale, errMoved, false},
		{github.ErrExists, errMoved, false},
		{github.ErrPathGone, ErrChange, true},
		// The branch, or the repository: reading tells which.
		{github.ErrNotFound, ErrNotFound, true},
		{github.ErrForkToken, ErrForkToken, false},
		{github.ErrForbidden, ErrForbidden, false},
		{github.ErrUnauthorized, ErrUnauthorized, false},
		{github.ErrThrottled, ErrThrottled, false},
		{github.ErrRule, ErrRejected, false},
		{github.ErrInvalid, ErrRejected, false},
		{github.ErrRedirect, ErrNotFound, false},
		{github.ErrConfig, ErrRemote, false},
	} {
		switch {
		case !errors.Is(err, k.is):
		case k.puzzling && again:
			w.once, w.puzzled = true, head
			return &failure{errMoved, err}
		default:
			return &failure{k.kind, err}
		}
	}
	switch {
	case github.Unclear(err):
		return &failure{errUnclear, &failure{ErrUnavailable, err}}
	case errors.Is(err, github.ErrTooLarge):
		return &failure{ErrTooLarge, err}
	}
	return err
}

// failure is an error that is of a kind of this package as well and keeps its text.
type failure struct {
	kind error
	err  error
}

func (f *failure) Error() string   { return f.err.Error() }
func (f *failure) Unwrap() []error { return []error{f.kind, f.err} }
