package publish

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/repo-memory/ledger/pkg/github"
	"github.com/repo-memory/ledger/pkg/github/githubtest"
)

func TestALostReplyOfTheAPISettlesItselfByReadingAgain(t *testing.T) {
	after := func(r githubtest.Reply) githubtest.Reply { r.After = true; return r }
	odd := map[string]githubtest.Reply{
		"connection dropped":      {Drop: true},
		"gateway error":           githubtest.BadGateway,
		"no answer at all":        githubtest.Respond(200, ""),
		"half of a JSON text":     githubtest.Respond(200, `{"data":{"createCommitOnBr`),
		"an answer without data":  githubtest.Respond(200, `{}`),
		"data that names nothing": githubtest.Respond(200, `{"data":{"createCommitOnBranch":null}}`),
		"a page":                  githubtest.Respond(200, `<html>`),
		"an error that says nothing": githubtest.Respond(200,
			`{"data":null,"errors":[{"message":"Something went wrong while executing your query. This may be the result of a timeout."}]}`),
		"an answer over its bound": githubtest.Respond(200, strings.Repeat(" ", github.DefaultAnswerBytes+1)),
	}
	for name, reply := range odd {
		for _, applied := range []bool{true, false} {
			for _, missing := range []bool{true, false} {
				if missing && reply.Status == 200 && name != "data that names nothing" || !missing && !applied && reply.Status == 200 {
					continue // the same as another
				}
				t.Run(fmt.Sprintf("%s, applied %v, missing %v", name, applied, missing), func(t *testing.T) {
					h := newHub(t)
					match, before := githubtest.Match(githubtest.Mutation), ""
					if missing {
						match = githubtest.On("POST", "/api/v3/repos/octo/consumer/git/refs")
					} else {
						before = h.repo.commit(testRef, map[string]string{"a": "a"})
					}
					if applied {
						h.Script(match, after(reply))
					} else {
						h.Script(match, reply)
					}
					got, err := Update(context.Background(), h.remote, testName, h.options(t, Auto, github.Options{}), add("mine", "m"))
					if err != nil {
						t.Fatal(err)
					}
					want := Result{Before: before, After: h.repo.git("rev-parse", testRef), Attempts: 2, Empty: applied, Settled: applied, Created: !applied && missing}
					if got != want {
						t.Errorf("got %+v, want %+v", got, want)
					}
					if n := len(h.how(t)); n != 1 {
						t.Errorf("%d commits, want one", n)
					}
				})
			}
		}
	}
}

func TestEveryRefusalOfTheAPIHasItsReasonAndItsAdvice(t *testing.T) {
	problem := func(kind, message string) githubtest.Reply {
		return githubtest.Respond(200, fmt.Sprintf(`{"data":{"createCommitOnBranch":null},"errors":[{"type":%q,"message":%q}]}`, kind, message))
	}
	status := func(code int, message string) githubtest.Reply {
		return githubtest.Respond(code, fmt.Sprintf(`{"message":%q}`, message))
	}
	const secret = "q8Zr1vT6yB3n" // what add stores
	for name, c := range map[string]struct {
		reply    githubtest.Reply
		fork     string
		reason   string
		says     string
		attempts int
	}{
		"a token that is none":           {status(401, "Bad credentials"), "", "unauthorized", "contents: write", 1},
		"a permission that is missing":   {status(403, "Resource not accessible by integration"), "", "forbidden", "permissions: {contents: write}", 1},
		"the same over GraphQL":          {problem("FORBIDDEN", "Resource not accessible by integration"), "", "forbidden", "permissions: {contents: write}", 1},
		"the token of a fork":            {problem("FORBIDDEN", "Resource not accessible by integration"), "it is a fork's", "fork_token", "it is a fork's", 1},
		"a forbidden of another kind":    {status(403, "Your IP address is not permitted"), "", "forbidden", "Your IP address is not permitted", 1},
		"a ruleset":                      {problem("UNPROCESSABLE", "Repository rule violations found\n\nChanges must be made through a pull request."), "", "rejected", "through a pull request", 1},
		"a protected branch":             {status(403, "Protected branch update failed for refs/heads/ledgers/memory."), "", "rejected", "except the job's token", 1},
		"push protection":                {problem("UNPROCESSABLE", "Push cannot contain secrets: "+secret+" found in ledger/shards/x.jsonl"), "", "rejected", "push protection found a secret", 1},
		"push protection as a status":    {status(409, "Secret detected in content: "+secret), "", "rejected", "push protection found a secret", 1},
		"anything else unprocessable":    {problem("UNPROCESSABLE", "The branch name is odd"), "", "rejected", "The branch name is odd", 1},
		"a repository that is not there": {status(404, "Not Found"), "", "not_found", "contents: write", 2},
		"the same, twice, over GraphQL":  {problem("NOT_FOUND", "Could not resolve to a Repository"), "", "not_found", "Could not resolve", 2},
		"a redirect":                     {githubtest.RedirectTo("https://elsewhere.invalid/api?secret=1"), "", "not_found", "elsewhere.invalid", 1},
		"a request that is too large":    {status(413, ""), "", "too_large", "no request of this size", 1},
		"a limit for too long":           {githubtest.SecondaryLimit("999999"), "", "throttled", "run again after that", 1},
		"a server that is down":          {githubtest.BadGateway, "", "exhausted", "status 502", MaxAttempts},
		"a limit that does not end":      {githubtest.SecondaryLimit("1"), "", "throttled", "run again later", 1},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHub(t)
			head := h.repo.commit(testRef, map[string]string{"a": "a"})
			for range MaxAttempts {
				h.Script(githubtest.Mutation, c.reply)
			}
			opts := h.options(t, Auto, github.Options{ReadOnly: func() string { return c.fork }})
			got, err := Update(context.Background(), h.remote, testName, opts, add("mine", `{"token":"`+secret+`"}`))
			if Reason(err) != c.reason || got.Attempts != c.attempts {
				t.Errorf("got %q after %d: %v", Reason(err), got.Attempts, err)
			}
			text := fmt.Sprintf("%v %+v %#v", err, err, err)
			if !strings.Contains(text, c.says) || strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("it says %v", err)
			}
			for _, hidden := range []string{secret, testToken, "secret=1"} {
				if strings.Contains(text, hidden) {
					t.Errorf("%q is in %s", hidden, text)
				}
			}
			if h.repo.git("rev-parse", testRef) != head {
				t.Error("something was written")
			}
		})
	}
}

func TestARateLimitIsWaitedForWithinTheClient(t *testing.T) {
	h := newHub(t)
	h.repo.commit(testRef, map[string]string{"a": "a"})
	h.Script(githubtest.Mutation, githubtest.SecondaryLimit("7"), githubtest.SecondaryLimit(""))
	var waits []time.Duration
	opts := h.options(t, API, github.Options{Sleep: func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil }})
	got, err := Update(context.Background(), h.remote, testName, opts, add("mine", "m"))
	if err != nil || got.Attempts != 1 || fmt.Sprint(waits) != "[7s 2m0s]" {
		t.Errorf("got %+v, %v, waits %v", got, err, waits)
	}
}

func TestWritersOverBothWaysLoseNothing(t *testing.T) {
	h := newHub(t)
	var group sync.WaitGroup
	results := make([]Result, 8)
	for i := range results {
		mode := Mode(Modes[i%2*2]) // auto and git
		opts := h.options(t, mode, github.Options{})
		opts.Sleep, opts.Random = nil, nil
		group.Go(func() {
			var err error
			if results[i], err = Update(context.Background(), h.remote, testName, opts, add(fmt.Sprint("w", i), "x")); err != nil {
				t.Errorf("writer %d: %v", i, err)
			}
		})
	}
	group.Wait()
	if n := len(show(h.repo, testRef)); n != len(results)+1 {
		t.Errorf("%d files", n)
	}
	if n := len(h.how(t)); n != len(results) {
		t.Errorf("%d commits", n)
	}
	created := 0
	for _, r := range results {
		if r.Created {
			created++
		}
	}
	if created != 1 {
		t.Errorf("created %d times", created)
	}
}

func TestAWaitEndsWithItsContext(t *testing.T) {
	h := newHub(t)
	h.repo.commit(testRef, map[string]string{"a": "a"})
	h.Script(githubtest.Mutation, githubtest.SecondaryLimit("7"))
	ctx, cancel := context.WithCancel(context.Background())
	opts := h.options(t, API, github.Options{Waiting: func(time.Duration, *github.Error) { cancel() }})
	if _, err := Update(ctx, h.remote, testName, opts, add("mine", "m")); !errors.Is(err, context.Canceled) || Reason(err) != "canceled" {
		t.Errorf("got %v", err)
	}
}
