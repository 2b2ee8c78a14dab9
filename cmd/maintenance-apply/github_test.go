package main

import (
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/repo-memory/ledger/pkg/github/githubtest"
	"github.com/repo-memory/ledger/pkg/ledger"
)

func TestOverGitHubsAPI(t *testing.T) {
	bin := buildRoles(t)
	t.Run("eight persists and an apply race, and nothing is lost", func(t *testing.T) { testRace(t, bin) })
	t.Run("a branch that is deleted or rewound in between stops every run", func(t *testing.T) { testTaken(t, bin) })
	t.Run("a refused apply says why and what it needs", func(t *testing.T) { testRefused(t, bin) })
	t.Run("the commit names the plan and the run", func(t *testing.T) { testMessage(t, bin) })
}

// testRace runs the real binaries
// against a GitHub over TLS, in peace and with each kind of failure in between.
func testRace(t *testing.T, bin string) {
	const writers, each = 8, 5
	serve, limited := githubtest.Serve, githubtest.SecondaryLimit
	for name, replies := range map[string][]githubtest.Reply{
		"in peace":              nil,
		"replies dropped":       {githubtest.DropAfter, serve, githubtest.DropAfter, githubtest.DropBefore, serve, githubtest.DropAfter, githubtest.DropAfter},
		"gateway errors":        {githubtest.BadGateway2, githubtest.BadGateway, serve, githubtest.BadGateway2, serve, githubtest.BadGateway, githubtest.BadGateway2},
		"secondary rate limits": {limited("0"), limited("1"), serve, limited("0"), serve, limited("1"), limited("0")},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHub(t, bin)
			h.plan(t)
			var want []ledger.Hash
			dirs := make([]string, writers)
			for i := range writers {
				var shas []ledger.Hash
				dirs[i], shas = h.stage(t, i+1, each)
				want = append(want, shas...)
			}
			h.Script(githubtest.Mutation, replies...)
			var group sync.WaitGroup
			group.Go(func() {
				if code, out := h.run(t, "maintenance-apply", writeToken); code != 0 || !strings.Contains(out, "status=applied\n") {
					t.Errorf("apply: exit %d\n%s", code, out)
				}
			})
			for i, dir := range dirs {
				group.Go(func() {
					if code, out := h.run(t, "persist", writeToken, "INPUT_DIRECTORY="+dir); code != 0 || !strings.Contains(out, "persisted=true\n") {
						t.Errorf("writer %d: exit %d\n%s", i, code, out)
					}
				})
			}
			group.Wait()
			if n := h.Unused(); n != 0 {
				t.Errorf("%d replies of the script were not asked for", n)
			}
			l := ledger.OpenSnapshot(h.read(t), ledger.DefaultLimits())
			for _, sha := range want {
				if !l.Has(sha) {
					t.Errorf("record %s is lost", sha)
				}
			}
			if l.Len() != seeded+writers*each || len(l.Diagnostics()) != 0 {
				t.Errorf("%d records, %v", l.Len(), l.Diagnostics())
			}
			// One replacement, and a shard of each writer.
			if n := len(l.Shards()); n != 1+writers {
				t.Errorf("%d shards", n)
			}
			if n := h.guarded(t); n != writers+1 {
				t.Errorf("%d commits, want %d", n, writers+1)
			}
			if out, err := exec.Command("git", "-C", h.dir, "fsck", "--strict").CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// testTaken takes the branch away at
// the first commit of a race; whoever had read it stops with that reason.
func testTaken(t *testing.T, bin string) {
	for _, reason := range []string{"deleted", "rewound"} {
		t.Run(reason, func(t *testing.T) {
			h := newHub(t, bin)
			h.plan(t)
			to := ""
			if reason == "rewound" {
				to = h.base
			}
			t.Run("apply", func(t *testing.T) {
				head := h.read(t).Head
				h.Before(githubtest.Mutation, func() { h.move(t, to) })
				code, out := h.run(t, "maintenance-apply", writeToken)
				if code != 1 || !strings.Contains(out, "status=failed\nreason="+reason+"\n") || !strings.Contains(out, "branch was "+reason) {
					t.Errorf("exit %d\n%s", code, out)
				}
				h.move(t, head)
			})
			t.Run("persists", func(t *testing.T) {
				const writers = 4
				dirs := make([]string, writers)
				for i := range dirs {
					dirs[i], _ = h.stage(t, i+1, 1)
				}
				h.Before(githubtest.Mutation, func() { h.move(t, to) })
				var group sync.WaitGroup
				for i, dir := range dirs {
					group.Go(func() {
						code, out := h.run(t, "persist", writeToken, "INPUT_DIRECTORY="+dir)
						if code != 1 || !strings.Contains(out, "branch was "+reason) || !strings.Contains(out, "persisted=false\n") {
							t.Errorf("writer %d: exit %d\n%s", i, code, out)
						}
					})
				}
				group.Wait()
			})
			if n := h.guarded(t); n != 0 {
				t.Errorf("%d commits were made", n)
			}
			if got := h.read(t).Head; got != to {
				t.Errorf("the branch stands at %q, want %q", got, to)
			}
		})
	}
}

func testRefused(t *testing.T, bin string) {
	rule := githubtest.Respond(200, `{"data":{"createCommitOnBranch":null},"errors":[{"type":"UNPROCESSABLE","message":"Repository rule violations found\n\nChanges must be made through a pull request."}]}`)
	limit := githubtest.SecondaryLimit("3600")
	for name, c := range map[string]struct {
		token  string
		reply  *githubtest.Reply
		reason string
		says   string
	}{
		"a token that only reads": {readToken, nil, "forbidden", "permissions: {contents: write}"},
		"a ruleset":               {writeToken, &rule, "rejected", "through a pull request"},
		"a limit for an hour":     {writeToken, &limit, "throttled", "run again after that"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHub(t, bin)
			h.plan(t)
			if c.reply != nil {
				h.Script(githubtest.Mutation, *c.reply)
			}
			code, out := h.run(t, "maintenance-apply", c.token)
			if code != 1 || !strings.Contains(out, fmt.Sprintf("status=failed\nreason=%s\n", c.reason)) || !strings.Contains(out, c.says) {
				t.Errorf("exit %d\n%s", code, out)
			}
			if h.guarded(t) != 0 {
				t.Error("something was committed")
			}
		})
	}
}

func testMessage(t *testing.T, bin string) {
	h := newHub(t, bin)
	h.plan(t)
	code, out := h.run(t, "maintenance-apply", writeToken, "INPUT_PUBLISH=api")
	if code != 0 {
		t.Fatalf("exit %d\n%s", code, out)
	}
	message, err := exec.Command("git", "-C", h.dir, "log", "-1", "--format=%B", hubBranch).Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"maintenance-apply: compact 40 segments of ledger memory into one\n\n", "\nRun: " + h.URL + "/octo/consumer/actions/runs/42/attempts/2\n", "Plan: "} {
		if !strings.Contains(string(message), want) {
			t.Errorf("%q is not in %q", want, message)
		}
	}
	if h.guarded(t) != 1 {
		t.Errorf("made by %v", h.Commits(octo))
	}
}
