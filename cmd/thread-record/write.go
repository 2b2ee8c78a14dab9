package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/repo-memory/ledger/pkg/github"
	"github.com/repo-memory/ledger/pkg/listing"
	"github.com/repo-memory/ledger/pkg/thread"
)

// maxRounds bounds how often the comments are read again after a write without a
// clear answer.
const maxRounds = 3

// write brings the state comment to where it should be.
func (r *recorder) write(ctx context.Context) error {
	for round := 1; ; round++ {
		err := r.writeOnce(ctx)
		if err == nil || !github.Unclear(err) || round == maxRounds {
			return err
		}
		r.Noticef("it is unclear whether the state comment was written; the comments are read again")
	}
}

// find reads the comments and returns the state comment among them.
func (r *recorder) find(ctx context.Context) (l *thread.Listing, ref thread.Ref, found bool, err error) {
	result, err := listing.ReadComments(ctx, r.run.Source)
	if err == nil {
		err = result.Reason
	}
	if err != nil {
		// A read without a clear answer was repeated already and is not unclear here.
		return nil, ref, false, fmt.Errorf("the comments cannot be read: %s", err)
	}
	if r.needs = "issues: write"; result.PullRequest {
		r.needs = "pull-requests: write"
	}
	ref, found, r.others, err = thread.FindStateComment(r.fold, result.Listing, r.config)
	return result.Listing, ref, found, err
}

func (r *recorder) commentPath(id int64) string {
	return fmt.Sprintf("repos/%s/issues/comments/%d", r.run.Source.Repository, id)
}

// writeOnce finds the comment and writes it if it has to be.
func (r *recorder) writeOnce(ctx context.Context) error {
	l, ref, found, err := r.find(ctx)
	if err != nil {
		return err
	}
	before := r.written
	call := github.Call{Method: http.MethodPost, Path: fmt.Sprintf("repos/%s/issues/%d/comments", r.run.Source.Repository, r.run.Source.Thread.Number),
		Body: map[string]string{"body": r.body}, Needs: r.needs}
	outcome := writtenCreated
	if found {
		r.comment = ref.ID
		if same(l, ref.ID, r.body) {
			// After a write without a clear answer this is that write.
			if r.written = writtenNone; before == writtenCreated || before == writtenUpdated {
				r.written = before
			}
			return nil
		}
		call.Method, call.Path, outcome = http.MethodPatch, r.commentPath(ref.ID), writtenUpdated
	}
	answer, err := r.run.Source.Client.Do(ctx, call)
	if err != nil {
		if r.written = writtenFalse; github.Unclear(err) {
			r.written = outcome
		}
		return fmt.Errorf("the state comment cannot be written: %w", err)
	}
	r.written = outcome
	var made struct {
		ID int64 `json:"id"`
	}
	if answer.Decode(&made) == nil && made.ID > 0 {
		r.comment = made.ID
	}
	if outcome == writtenCreated && made.ID > 0 && !r.yielded {
		return r.yield(ctx, made.ID)
	}
	return nil
}

// yield takes back the comment that this run made, id, where another run made one at
// the same time that is the state comment for everybody, and writes that one instead.
// When this cannot be found out the comment stands, as it does for a run alone.
func (r *recorder) yield(ctx context.Context, id int64) error {
	l, ref, found, err := r.find(ctx)
	if err != nil {
		r.Noticef("whether another run made a state comment at the same time is not known: %v", err)
		return nil
	}
	if !found || ref.ID == id || !same(l, id, r.body) {
		return nil
	}
	if _, err := r.run.Source.Client.Do(ctx, github.Call{Method: http.MethodDelete, Path: r.commentPath(id), Needs: r.needs}); err != nil {
		r.Warningf("another run made the state comment at the same time, and the one of this run cannot be taken back: %v", err)
		return nil
	}
	r.Noticef("another run made the state comment at the same time; the one of this run was taken back")
	r.written, r.yielded = writtenFalse, true
	return r.writeOnce(ctx)
}

// same reports whether the comment says what it should; a server may have made
// line ends of its own.
func same(l *thread.Listing, id int64, body string) bool {
	for i := range l.Comments {
		if c := &l.Comments[i]; c.ID == id && c.Body != nil {
			return strings.TrimRight(strings.ReplaceAll(*c.Body, "\r\n", "\n"), "\n") == strings.TrimRight(body, "\n")
		}
	}
	return false
}
