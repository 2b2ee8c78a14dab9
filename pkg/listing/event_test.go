package listing

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/repo-memory/ledger/pkg/github"
	"github.com/repo-memory/ledger/pkg/github/githubtest"
	"github.com/repo-memory/ledger/pkg/thread"
)

func TestAnEventSaysWhoTriggeredTheRunWhenAndWithWhat(t *testing.T) {
	const (
		sender  = `"sender":{"id":1,"login":"alice","type":"User"},"repository":{"id":9}`
		issue   = `"issue":{"id":50,"number":1,"body":"task","created_at":"2024-03-01T10:00:00Z","updated_at":"2024-03-01T10:30:00Z"}`
		pull    = `"pull_request":{"id":60,"number":1,"body":null,"created_at":"2024-03-01T10:00:00Z","updated_at":"2024-03-01T10:30:00Z"}`
		comment = `"comment":{"id":70,"body":"go","created_at":"2024-03-01T10:01:00Z","updated_at":"2024-03-01T10:31:00Z"}`
		review  = `"review":{"id":80,"body":"ok","submitted_at":"2024-03-01T10:02:00Z"}`
	)
	listed := &thread.Listing{Thread: thread.Thread{Number: 1, RepositoryID: 9}, Issue: &thread.Issue{ID: 50}}
	for name, c := range map[string]struct {
		event, payload string
		ref            thread.Ref
		at, body       string
	}{
		"an issue that is opened":    {"issues", `"action":"opened",` + issue, thread.Ref{ID: 50, Source: thread.SourceIssue}, "10:00", "task"},
		"an issue that is labeled":   {"issues", `"action":"labeled",` + issue, thread.Ref{ID: 50, Source: thread.SourceIssue}, "10:30", "task"},
		"a pull request":             {"pull_request", `"action":"opened",` + pull, thread.Ref{ID: 50, Source: thread.SourceIssue}, "10:00", ""},
		"a pull request of a fork":   {"pull_request_target", `"action":"synchronize",` + pull, thread.Ref{ID: 50, Source: thread.SourceIssue}, "10:30", ""},
		"a comment":                  {"issue_comment", `"action":"created",` + issue + "," + comment, thread.Ref{ID: 70, Source: thread.SourceComment}, "10:01", "go"},
		"a comment that is edited":   {"issue_comment", `"action":"edited",` + issue + "," + comment, thread.Ref{ID: 70, Source: thread.SourceComment}, "10:31", "go"},
		"a comment of a review":      {"pull_request_review_comment", `"action":"created",` + pull + "," + comment, thread.Ref{ID: 70, Source: thread.SourceReviewComment}, "10:01", "go"},
		"a review":                   {"pull_request_review", `"action":"submitted",` + pull + "," + review, thread.Ref{ID: 80, Source: thread.SourceReview}, "10:02", "ok"},
		"a review that is edited":    {"pull_request_review", `"action":"edited",` + pull + "," + review, thread.Ref{ID: 80, Source: thread.SourceReview}, "", "ok"},
		"a run by hand":              {"workflow_dispatch", `"inputs":{"number":"1"}`, thread.Ref{}, "", ""},
		"another event with a thing": {"workflow_run", issue + "," + comment, thread.Ref{}, "", ""},
		"a comment of nobody knows":  {"issue_comment", `"action":"created",` + issue, thread.Ref{}, "", ""},
		"another thread":             {"issue_comment", `"action":"created",` + strings.Replace(issue, `"number":1`, `"number":2`, 1) + "," + comment, thread.Ref{}, "10:01", ""},
	} {
		e, err := ReadEvent(c.event, []byte("{"+sender+","+c.payload+"}"), time.Now())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, at, body := e.Trigger(listed), "", ""
		if !got.At.IsZero() {
			at = got.At.Format("15:04")
		}
		if got.Body != nil {
			body = *got.Body
		}
		if got.Author == nil || got.Author.ID != 1 || got.Artifact != c.ref || at != c.at || body != c.body || (got.Body == nil) != (c.ref == thread.Ref{}) {
			t.Errorf("%s: %+v at %q with %q", name, got, at, body)
		}
	}
}

func TestAnEventThatCannotBeReadTrustsNobody(t *testing.T) {
	for _, name := range []string{"discussion", "discussion_comment"} {
		if _, err := ReadEvent(name, []byte(`{}`), time.Now()); !errors.Is(err, ErrDiscussion) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, payload := range []string{"", "[]", `{"sender":1}`, `{"sender":{"id":1},"sender":{"id":2}}`, "{}{}"} {
		if e, err := ReadEvent("issues", []byte(payload), time.Now()); err == nil || e.Sender != nil {
			t.Errorf("%q: %v, %+v", payload, err, e)
		}
	}
	// A time that is none is no time, and so is one in the future.
	for _, at := range []string{"", "null", "2026-13-01T00:00:00Z", "9999-01-01T00:00:00Z", "2024-03-01T10:00:00+02:00"} {
		e, err := ReadEvent("issue_comment", []byte(`{"action":"created","comment":{"id":1,"created_at":"`+at+`"}}`), time.Now())
		if err != nil || !e.At.IsZero() || e.Sender != nil {
			t.Errorf("%q: %v, %+v", at, err, e)
		}
	}
}

func TestTheEnginesActorIsWhoTheTokenBelongsTo(t *testing.T) {
	h := newHub(t, githubtest.Issue{}, 9)
	h.Token("person", githubtest.Permissions{"issues": "read"}, githubtest.Account{ID: 5, Login: "engine", Type: "User"})
	if actor, why, err := Engine(t.Context(), h.client(t, "person")); err != nil || why != nil || actor == nil || actor.ID != 5 || actor.Login != "engine" {
		t.Errorf("%+v, %v, %v", actor, why, err)
	}
	if actor, why, err := Engine(t.Context(), h.client(t, token)); err != nil || !errors.Is(why, github.ErrForbidden) || actor != nil {
		t.Errorf("a workflow's token: %+v, %v, %v", actor, why, err)
	}
	user := githubtest.On("GET", "/api/v3/user")
	h.Script(user, githubtest.Respond(200, `{"id":0,"login":""}`))
	if actor, why, err := Engine(t.Context(), h.client(t, token)); err != nil || why == nil || actor != nil {
		t.Errorf("nobody: %+v, %v, %v", actor, why, err)
	}
	if _, _, err := Engine(t.Context(), h.client(t, "unknown")); !errors.Is(err, github.ErrUnauthorized) {
		t.Errorf("a token that is none: %v", err)
	}
	h.budget = NewBudget(1)
	if err := h.budget.Spend(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Engine(t.Context(), h.client(t, token)); !errors.Is(err, ErrBudget) {
		t.Errorf("no budget: %v", err)
	}
}

func TestAnActorIsAnIdOrALogin(t *testing.T) {
	for text, want := range map[string]thread.User{"7": {ID: 7}, "alice": {Login: "alice"}, "github-actions[bot]": {Login: "github-actions[bot]"}} {
		if got, ok := ParseActor(text); !ok || *got != want {
			t.Errorf("%q: %+v, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "a b", "-a", "@alice", "a[bot]b", "9999999999999999", "a\n", "*"} {
		if _, ok := ParseActor(text); ok {
			t.Errorf("%q is taken", text)
		}
	}
}
