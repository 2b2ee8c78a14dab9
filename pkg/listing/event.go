package listing

import (
	"errors"
	"strings"
	"time"

	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/thread"
)

// ErrDiscussion: the event is of a discussion.
var ErrDiscussion = errors.New("discussions are not supported: they have no thread in the REST API; run on issues, pull requests and their comments")

// Event is what a payload says of the run's trigger.
type Event struct {
	// Sender is the account that triggered the run, nil when the payload has none.
	Sender *thread.User
	// At is when, zero when the payload does not say.
	At time.Time
	// RepositoryID and Number are the thread of the event, 0 without one.
	RepositoryID, Number int64

	source thread.Source // of what triggered the run, "" for none
	id     int64
	body   *string
}

type eventText struct {
	ID          int64   `json:"id"`
	Body        *string `json:"body"`
	CreatedAt   string  `json:"created_at"`
	UpdatedAt   string  `json:"updated_at"`
	SubmittedAt string  `json:"submitted_at"`
	Number      int64   `json:"number"`
}

type eventPayload struct {
	Action     *string      `json:"action"`
	Sender     *thread.User `json:"sender"`
	Repository *struct {
		ID int64 `json:"id"`
	} `json:"repository"`
	Issue       *eventText `json:"issue"`
	PullRequest *eventText `json:"pull_request"`
	Comment     *eventText `json:"comment"`
	Review      *eventText `json:"review"`
}

// ReadEvent reads the payload of the event called name, as the package comment
// states it. Errors: [ErrDiscussion], or a payload that is none.
func ReadEvent(name string, payload []byte, now time.Time) (Event, error) {
	if strings.HasPrefix(name, "discussion") {
		return Event{}, ErrDiscussion
	}
	var p eventPayload
	if err := canonical.Decode(payload, &p, canonical.AllowUnknown); err != nil {
		return Event{}, errors.New("the event's payload is not one that GitHub sends")
	}
	e := Event{Sender: p.Sender}
	thing := p.Issue
	if thing == nil {
		thing = p.PullRequest
	}
	if thing != nil && p.Repository != nil {
		e.Number, e.RepositoryID = thing.Number, p.Repository.ID
	}
	var text *eventText
	switch name {
	case "issues", "pull_request", "pull_request_target":
		text, e.source = thing, thread.SourceIssue
	case "issue_comment":
		text, e.source = p.Comment, thread.SourceComment
	case "pull_request_review_comment":
		text, e.source = p.Comment, thread.SourceReviewComment
	case "pull_request_review":
		text, e.source = p.Review, thread.SourceReview
	}
	if text == nil {
		e.source = ""
		return e, nil
	}
	e.id, e.body = text.ID, text.Body
	if e.body == nil {
		e.body = new(string)
	}
	at := text.UpdatedAt
	if p.Action != nil && (*p.Action == "opened" || *p.Action == "created") {
		at = text.CreatedAt
	}
	if p.Action != nil && *p.Action == "submitted" {
		at = text.SubmittedAt
	}
	e.At, _ = thread.ParseTrigger(at, now)
	return e, nil
}

// Trigger is the event as the listed thread's trigger: what triggered the run is
// named only where it belongs to that thread. A pull request's number in its own
// events is not the id that it has as an issue, so the issue is the listed one.
func (e Event) Trigger(l *thread.Listing) thread.Trigger {
	t := thread.Trigger{Author: e.Sender, At: e.At}
	if e.source == "" || l.Issue == nil || (thread.Thread{Number: e.Number, RepositoryID: e.RepositoryID}) != l.Thread {
		return t
	}
	t.Artifact, t.Body = thread.Ref{ID: e.id, Source: e.source}, e.body
	if e.source == thread.SourceIssue {
		t.Artifact.ID = l.Issue.ID
	}
	return t
}
