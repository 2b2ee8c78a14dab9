package listing

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/repo-memory/ledger/pkg/github"
	"github.com/repo-memory/ledger/pkg/thread"
)

// Permissions that a token needs, as errors name them.
const (
	needsIssues = "issues: read"
	needsPulls  = "pull-requests: read"
)

// Source is where a thread is read.
type Source struct {
	Client *github.Client
	// Repository is OWNER/NAME.
	Repository string
	// Thread is the thread; its RepositoryID is that of Repository.
	Thread thread.Thread
}

// Result is a thread as it was read.
type Result struct {
	Listing *thread.Listing
	// PullRequest says which of the two it is.
	PullRequest bool
	// Passes counts how often the lists were read.
	Passes int
	// Unknown counts the artifacts that GraphQL did not list, and which count as
	// minimized.
	Unknown int
	// Reason says why the listing is not complete; nil when it is.
	Reason error
}

// Read reads the thread whole. The error is that of the issue itself, or the end of
// ctx; any later failure is the Result's Reason.
func Read(ctx context.Context, s Source) (Result, error) { return read(ctx, s, false) }

// ReadComments reads the issue and its comments alone, which is where a state
// comment can be; nothing is asked of GraphQL.
func ReadComments(ctx context.Context, s Source) (Result, error) { return read(ctx, s, true) }

func read(ctx context.Context, s Source, commentsOnly bool) (Result, error) {
	r := &reader{client: s.Client, source: s, commentsOnly: commentsOnly, issues: map[string]page[issue]{}, comments: pages[thread.Comment]{},
		reviews: pages[thread.Review]{}, reviewComments: pages[thread.Comment]{}}
	out := Result{Listing: &thread.Listing{Thread: s.Thread}}
	for out.Passes = 1; ; out.Passes++ {
		changed, err := r.pass(ctx, out.Listing)
		if ctx.Err() != nil {
			return out, context.Cause(ctx)
		}
		if out.Listing.Issue == nil {
			return out, err
		}
		out.PullRequest = r.pullRequest
		if err != nil {
			out.Reason = err
			return out, nil
		}
		if !changed {
			out.Listing.Settled = true
			break
		}
		if out.Listing.Agrees() && !r.uncounted() {
			still, err := r.still(ctx)
			if err != nil {
				out.Reason = err
				return out, nil
			}
			if still {
				break
			}
		}
		if out.Passes == maxPasses {
			out.Reason = fmt.Errorf("the thread changed each of the %d times that it was read: run again when it rests", maxPasses)
			return out, nil
		}
	}
	if !commentsOnly {
		if out.Unknown, out.Reason = r.hidden(ctx, out.Listing); ctx.Err() != nil {
			return out, context.Cause(ctx)
		}
	}
	out.Listing.Complete = out.Reason == nil
	return out, nil
}

// issue is an issue with what tells a pull request.
type issue struct {
	thread.Issue
	Number      int64           `json:"number"`
	PullRequest *jsontext.Value `json:"pull_request"`
}

// reader is one Read.
type reader struct {
	client       *github.Client
	source       Source
	commentsOnly bool
	pullRequest  bool
	bytes        int // of all answers

	issues         map[string]page[issue]
	comments       pages[thread.Comment]
	reviews        pages[thread.Review]
	reviewComments pages[thread.Comment]
}

func (r *reader) path(kind, rest string) string {
	return fmt.Sprintf("repos/%s/%s/%d%s", r.source.Repository, kind, r.source.Thread.Number, rest)
}

// getIssue reads the issue.
func (r *reader) getIssue(ctx context.Context) (issue, bool, error) {
	p, changed, err := get(ctx, r, r.issues, r.path("issues", ""), needsIssues, func(a *github.Answer) ([]issue, error) {
		one := make([]issue, 1)
		return one, a.Decode(&one[0])
	})
	if err != nil {
		return issue{}, false, err
	}
	return p.items[0], changed, nil
}

// uncounted reports whether pages were read of lists whose length the issue does not
// state, so that a page which skipped an item shows only in a further pass.
func (r *reader) uncounted() bool { return len(r.reviews) > 1 || len(r.reviewComments) > 1 }

// still reports whether the issue is as it was when the pass began.
func (r *reader) still(ctx context.Context) (bool, error) {
	_, changed, err := r.getIssue(ctx)
	return !changed, err
}

// pass reads everything once into l. On an error l holds what was read before.
func (r *reader) pass(ctx context.Context, l *thread.Listing) (changed bool, err error) {
	one, changed, err := r.getIssue(ctx)
	if isKind(err, github.ErrNotFound) {
		return false, fmt.Errorf("no issue or pull request can be read under the number, and discussions are not supported: %w", err)
	}
	if err != nil {
		return false, fmt.Errorf("the issue cannot be read: %w", err)
	}
	l.Issue, r.pullRequest = &one.Issue, one.PullRequest != nil && one.PullRequest.Kind() == '{'
	note := func(what string, new bool, failed error) {
		changed = changed || new
		if failed != nil {
			err = fmt.Errorf("the %s cannot be read: %w", what, failed)
		}
	}
	var new bool
	l.Comments, new, err = list(ctx, r, r.comments, r.path("issues", "/comments"), needsIssues)
	if note("comments", new, err); err != nil || !r.pullRequest || r.commentsOnly {
		return changed, err
	}
	l.Reviews, new, err = list(ctx, r, r.reviews, r.path("pulls", "/reviews"), needsPulls)
	l.Reviews = slices.DeleteFunc(slices.Clone(l.Reviews), func(v thread.Review) bool { return strings.EqualFold(v.State, "PENDING") })
	if note("reviews", new, err); err != nil {
		return changed, err
	}
	l.ReviewComments, new, err = list(ctx, r, r.reviewComments, r.path("pulls", "/comments"), needsPulls)
	note("review comments", new, err)
	return changed, err
}
