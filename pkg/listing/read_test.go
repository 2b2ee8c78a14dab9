package listing

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/github"
	"github.com/repo-memory/ledger/pkg/github/githubtest"
)

func TestEveryPageOfAThreadIsRead(t *testing.T) {
	for _, n := range []int{0, 31, 100, 101, 250} {
		h := newHub(t, githubtest.Issue{Comments: comments(n)}, MaxRequests)
		r := mustRead(t, h.source)
		if r.Reason != nil || !r.Listing.Complete || r.PullRequest || r.Passes != 1 || len(r.Listing.Comments) != n || r.Unknown != 0 {
			t.Errorf("%d comments: %+v, %d listed", n, r, len(r.Listing.Comments))
		}
		// The issue twice, its pages, and as many of GraphQL.
		if pages := max(1, (n+99)/100); h.budget.Used() != 2+2*pages || h.budget.Used() != len(h.Requests()) {
			t.Errorf("%d comments took %d requests", n, h.budget.Used())
		}
	}
}

func TestAPullRequestHasReviewsAndTheirComments(t *testing.T) {
	pull := githubtest.Issue{PullRequest: true, Comments: comments(1)}
	for n := range 130 {
		pull.Reviews = append(pull.Reviews, githubtest.Review{ID: int64(1000 + n), User: alice, State: "COMMENTED", Body: "review", Submitted: born})
	}
	pull.Reviews[3].State, pull.Reviews[5].Minimized, pull.Reviews[6].Edited = "PENDING", "SPAM", born.Add(1)
	// One review has more comments than GraphQL gives with it, and each of these
	// stands in a conversation of its own.
	for n := range 140 {
		c := githubtest.ReviewComment{Comment: githubtest.Comment{ID: int64(5000 + n), User: alice, Body: "inline", Created: born}, Review: 1001}
		if n == 139 {
			c.Minimized = "OUTDATED"
		}
		pull.ReviewComments = append(pull.ReviewComments, c)
	}
	h := newHub(t, pull, MaxRequests)
	r := mustRead(t, h.source)
	l := r.Listing
	if r.Reason != nil || !l.Complete || !r.PullRequest || len(l.Comments) != 1 || len(l.Reviews) != 129 || len(l.ReviewComments) != 140 || r.Unknown != 0 {
		t.Fatalf("%+v: %d, %d, %d", r, len(l.Comments), len(l.Reviews), len(l.ReviewComments))
	}
	if l.Reviews[3].ID != 1004 || !l.Reviews[4].Minimized || !l.Reviews[5].LastEdited.Known || l.Reviews[5].LastEdited.At.IsZero() || l.Reviews[0].Minimized {
		t.Errorf("reviews are %+v", l.Reviews[:7])
	}
	if !l.ReviewComments[139].Minimized || l.ReviewComments[138].Minimized {
		t.Error("what is minimized beyond the first hundred is not known")
	}
	if n := len(h.Requests()); n != h.budget.Used() {
		t.Errorf("%d requests, %d counted", n, h.budget.Used())
	}
}

func TestStateCommentsAreLookedForInCommentsAlone(t *testing.T) {
	h := newHub(t, githubtest.Issue{PullRequest: true, Comments: comments(3), Reviews: []githubtest.Review{{User: alice}}}, MaxRequests)
	r, err := ReadComments(t.Context(), h.source)
	if err != nil || !r.Listing.Complete || len(r.Listing.Comments) != 3 || len(r.Listing.Reviews) != 0 || h.budget.Used() != 3 {
		t.Errorf("%v, %+v, %d requests", err, r, h.budget.Used())
	}
}

func TestAnyFailureAfterTheIssueGivesAListingThatIsNotComplete(t *testing.T) {
	forbidden := githubtest.Respond(403, `{"message":"Resource not accessible by integration"}`)
	for name, c := range map[string]struct {
		match  githubtest.Match
		reply  githubtest.Reply
		max    int
		reason string
	}{
		"a page that is forbidden":  {pageOf("comments", 2), forbidden, 99, "the comments cannot be read: page 2: permission is missing"},
		"a first page that fails":   {pageOf("reviews", 1), githubtest.Respond(404, `{"message":"Not Found"}`), 99, "the reviews cannot be read: page 1: not found"},
		"a page that is no list":    {pageOf("comments", 2), githubtest.Respond(200, `{"message":"x"}`), 99, "the comments cannot be read: page 2: malformed answer"},
		"two glued lists":           {pageOf("comments", 2), githubtest.Respond(200, `[][]`), 99, "the comments cannot be read: page 2: malformed answer"},
		"a name that stands twice":  {pageOf("comments", 2), githubtest.Respond(200, `[{"id":1,"id":2}]`), 99, "malformed answer"},
		"a page of another host":    {pageOf("comments", 1), githubtest.Reply{Status: 200, Body: "[]", Header: map[string]string{"Link": `<https://example.org/x>; rel="next"`}}, 99, "the server's link to the next page leads to another server"},
		"a page that leads back":    {pageOf("comments", 1), githubtest.Reply{Status: 200, Body: "[]", Header: map[string]string{"Link": `<repos/octo/consumer/issues/1/comments?per_page=100>; rel="next"`}}, 99, "links between pages lead nowhere"},
		"a budget that is used up":  {pageOf("comments", 9), githubtest.Serve, 3, "budget of requests is used up: 3 were sent, raise max-requests"},
		"GraphQL that is forbidden": {graphql, githubtest.Respond(200, `{"errors":[{"type":"FORBIDDEN","message":"Resource not accessible by integration"}]}`), 99, "what is minimized or edited cannot be read: permission is missing"},
		"GraphQL in part":           {graphql, githubtest.Respond(200, `{"data":{"repository":{"thread":null}},"errors":[{"message":"x"}]}`), 99, "what is minimized or edited cannot be read"},
		"GraphQL without a thread":  {graphql, githubtest.Respond(200, `{"data":{"repository":{"thread":null}}}`), 99, "GraphQL knows no such thread"},
		"the issue at the end":      {again, githubtest.Respond(410, `{"message":"This issue was deleted"}`), 99, "not found"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHub(t, githubtest.Issue{PullRequest: true, Comments: comments(150)}, c.max)
			h.Script(c.match, c.reply, c.reply, c.reply)
			r := mustRead(t, h.source)
			if r.Listing.Complete || r.Reason == nil || !strings.Contains(r.Reason.Error(), c.reason) {
				t.Errorf("complete %v, reason %v, want %q", r.Listing.Complete, r.Reason, c.reason)
			}
		})
	}
}

func TestWithoutTheIssueThereIsNoListing(t *testing.T) {
	h := newHub(t, githubtest.Issue{}, MaxRequests)
	h.source.Thread.Number = 2
	if r, err := Read(t.Context(), h.source); !errors.Is(err, github.ErrNotFound) || !strings.Contains(err.Error(), "discussions are not supported") || r.Listing.Issue != nil {
		t.Errorf("%v, %+v", err, r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Read(ctx, h.source); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestAThreadThatChangesWhileItIsReadIsReadAgain(t *testing.T) {
	h := newHub(t, githubtest.Issue{Comments: comments(250)}, MaxRequests)
	// Between the pages one of the first is deleted and one is added: the count is
	// what it was, and a comment was skipped.
	h.Before(pageOf("comments", 2), func() {
		h.Change(octo, 1, func(i *githubtest.Issue) {
			i.Comments = append(i.Comments[1:], githubtest.Comment{ID: 999, User: alice, Body: "new", Created: born, Updated: born})
			i.Updated = born.Add(1e9)
		})
	})
	r := mustRead(t, h.source)
	if r.Passes != 2 || !r.Listing.Complete || len(r.Listing.Comments) != 250 || r.Listing.Comments[0].ID != 101 || r.Listing.Comments[249].ID != 999 {
		t.Errorf("%+v: %d comments", r, len(r.Listing.Comments))
	}
	for n := 1; n < 250; n++ {
		if r.Listing.Comments[n].ID <= r.Listing.Comments[n-1].ID {
			t.Fatalf("comment %d is out of order", n)
		}
	}
}

func TestAReviewCommentThatAPageSkippedIsNotMissing(t *testing.T) {
	pull := githubtest.Issue{PullRequest: true}
	for n := range 150 {
		pull.ReviewComments = append(pull.ReviewComments, githubtest.ReviewComment{Comment: githubtest.Comment{ID: int64(5000 + n), User: alice, Body: "inline", Created: born}})
	}
	h := newHub(t, pull, MaxRequests)
	// One of the first page is deleted before the second is read, and neither count
	// nor time of the issue say so.
	h.Before(func(r githubtest.Request) bool {
		return strings.Contains(r.Path, "/pulls/") && pageOf("comments", 2)(r)
	}, func() {
		h.Change(octo, 1, func(i *githubtest.Issue) { i.ReviewComments = i.ReviewComments[1:] })
	})
	r := mustRead(t, h.source)
	if l := r.Listing; r.Reason != nil || !l.Settled || r.Passes != 3 || len(l.ReviewComments) != 149 || l.ReviewComments[99].ID != 5100 {
		t.Errorf("%+v: %d review comments", r, len(r.Listing.ReviewComments))
	}
}

func TestACountThatIsNotWhatIsListedIsSettledByReadingAgain(t *testing.T) {
	h := newHub(t, githubtest.Issue{Comments: comments(3)}, MaxRequests)
	issue := `{"id":1002,"number":1,"comments":7,"user":null,"body":null,"created_at":"2024-03-01T10:00:00Z","author_association":"NONE","html_url":""}`
	tagged := githubtest.Reply{Status: 200, Body: issue, Header: map[string]string{"Etag": `"a"`}}
	h.Script(githubtest.On("GET", "/api/v3/repos/octo/consumer/issues/1"), tagged, githubtest.Reply{Status: 304})
	r := mustRead(t, h.source)
	if r.Passes != 2 || !r.Listing.Complete || !r.Listing.Settled || r.Listing.Agrees() {
		t.Errorf("%+v", r)
	}
	unchanged := 0
	for _, q := range h.Requests() {
		if q.Status == 304 {
			unchanged++
		}
	}
	if unchanged != 2 {
		t.Errorf("%d answers said that nothing changed", unchanged)
	}
}

func TestAThreadThatNeverRestsIsNotComplete(t *testing.T) {
	h := newHub(t, githubtest.Issue{Comments: comments(3)}, MaxRequests)
	for n := range 5 {
		h.Before(again, func() {
			h.AddComment(octo, 1, githubtest.Comment{User: alice, Body: fmt.Sprint(n)})
		})
	}
	r := mustRead(t, h.source)
	if r.Listing.Complete || r.Reason == nil || !strings.Contains(r.Reason.Error(), "changed each of the 3 times") {
		t.Errorf("%+v", r)
	}
}

func TestWhatGraphQLDoesNotListCountsAsMinimized(t *testing.T) {
	h := newHub(t, githubtest.Issue{Comments: comments(3)}, MaxRequests)
	h.Script(graphql, githubtest.Respond(200, `{"data":{"repository":{"thread":{"lastEditedAt":null,"list":{"nodes":[
		{"id":"100","isMinimized":false,"lastEditedAt":null},{"id":102,"isMinimized":true,"lastEditedAt":"2024-03-01T11:00:00Z"}],"pageInfo":{"hasNextPage":false,"endCursor":null}}}}}}`))
	l := mustRead(t, h.source)
	c := l.Listing.Comments
	if !l.Listing.Complete || l.Unknown != 1 || c[0].Minimized || !c[0].LastEdited.Known || !c[1].Minimized || !c[2].Minimized || c[2].LastEdited.At.IsZero() || !l.Listing.Issue.LastEdited.Known {
		t.Errorf("%+v, %+v", l, c)
	}
}

func TestAServerWithoutFullDatabaseIdIsAskedForDatabaseId(t *testing.T) {
	h := newHub(t, githubtest.Issue{Comments: comments(1)}, MaxRequests)
	h.Script(graphql, githubtest.Respond(200, `{"errors":[{"message":"Field 'fullDatabaseId' doesn't exist on type 'IssueComment'","extensions":{"code":"undefinedField"}}]}`))
	r := mustRead(t, h.source)
	if !r.Listing.Complete || r.Unknown != 0 {
		t.Errorf("%+v", r)
	}
	// A query that is refused for another reason is not repeated for ever.
	h.Script(graphql, githubtest.Respond(200, `{"errors":[{"type":"UNPROCESSABLE","message":"no"}]}`), githubtest.Respond(200, `{"errors":[{"type":"UNPROCESSABLE","message":"no"}]}`))
	if r := mustRead(t, h.source); r.Listing.Complete || !errors.Is(r.Reason, github.ErrInvalid) {
		t.Errorf("%+v", r)
	}
}
