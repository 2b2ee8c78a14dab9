package listing

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/repo-memory/ledger/pkg/github"
	"github.com/repo-memory/ledger/pkg/github/githubtest"
	"github.com/repo-memory/ledger/pkg/thread"
)

const (
	octo  = "octo/consumer"
	token = "ghs_0123456789TheTokenOfTheTests9876543210"
)

var (
	alice = &githubtest.Account{ID: 1, Login: "alice", Type: "User"}
	born  = time.Date(2024, 3, 1, 10, 0, 0, 0, time.UTC)
)

// hub is a GitHub with one thread, number 1, and a way to read it.
type hub struct {
	*githubtest.Server
	source Source
	budget *Budget
}

func newHub(t *testing.T, issue githubtest.Issue, max int) *hub {
	t.Helper()
	h := &hub{Server: githubtest.New(t, githubtest.Options{Now: func() time.Time { return born }}), budget: NewBudget(max)}
	h.Repo(octo)
	h.Token(token, githubtest.Permissions{"issues": "read", "pull-requests": "read"})
	issue.Number, issue.User, issue.Created = 1, alice, born
	h.AddIssue(octo, issue)
	h.source = Source{Client: h.client(t, token), Repository: octo, Thread: thread.Thread{Number: 1, RepositoryID: 9}}
	return h
}

func (h *hub) client(t *testing.T, token string) *github.Client {
	t.Helper()
	env := map[string]string{}
	for _, pair := range h.Env(octo) {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	c, err := github.FromEnv(func(name string) string { return env[name] }, token, github.Options{Transport: h.Transport(), Budget: h.budget.Spend,
		Sleep: func(context.Context, time.Duration) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func comments(n int) (list []githubtest.Comment) {
	for i := range n {
		list = append(list, githubtest.Comment{ID: int64(100 + i), User: alice, Association: "OWNER", Body: fmt.Sprintf("comment %d", i), Created: born})
	}
	return list
}

func mustRead(t *testing.T, s Source) Result {
	t.Helper()
	r, err := Read(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// pageOf matches a page of a list; 1 is the one that no link leads to.
func pageOf(list string, n int) githubtest.Match {
	return func(r githubtest.Request) bool {
		if !strings.HasSuffix(r.Path, "/"+list) {
			return false
		}
		for _, part := range strings.Split(r.Query, "&") {
			if number, ok := strings.CutPrefix(part, "page="); ok {
				return number == fmt.Sprint(n)
			}
		}
		return n == 1
	}
}

// again matches the question whether the issue has changed.
func again(r githubtest.Request) bool {
	return strings.HasSuffix(r.Path, "/issues/1") && r.Header.Get("If-None-Match") != ""
}

func graphql(r githubtest.Request) bool { return r.Path == "/api/graphql" }
