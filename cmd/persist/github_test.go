package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/repo-memory/ledger/pkg/branch"
	"github.com/repo-memory/ledger/pkg/github/githubtest"
	"github.com/repo-memory/ledger/pkg/ledger"
)

const (
	octo      = "octo/consumer"
	hubToken  = "ghs_0123456789abcdefABCDEF"
	hubBranch = "ledgers/memory"
)

// hub is a GitHub whose repository has a commit on main, and on the ledger's branch
// when seeded.
type hub struct {
	*githubtest.Server
	dir string
}

func newHub(t *testing.T, seeded bool) *hub {
	t.Helper()
	s := githubtest.New(t, githubtest.Options{})
	s.Token(hubToken, githubtest.Permissions{"contents": "write"})
	h := &hub{s, s.Repo(octo)}
	h.commit(t, "refs/heads/main", "")
	if seeded {
		h.commit(t, "refs/heads/"+hubBranch, "")
	}
	return h
}

// commit puts an empty commit on a reference.
func (h *hub) commit(t *testing.T, ref, parent string) string {
	t.Helper()
	args := []string{"-c", "user.name=T", "-c", "user.email=t@x.invalid", "commit-tree", "-m", "test", "4b825dc642cb6eb9a060e54bf8d69288fbee4904"}
	if parent != "" {
		args = append(args, "-p", parent)
	}
	hubGit(t, h.dir, "hash-object", "-t", "tree", "-w", "--stdin")
	id := hubGit(t, h.dir, args...)
	hubGit(t, h.dir, "update-ref", ref, id)
	return id
}

func hubGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd, clean, err := branch.Command(t.Context(), append([]string{"-C", dir}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	defer clean()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// ran is what one run of the binary left.
type ran struct {
	code                     int
	log, output, summaryText string
}

// everything is all that anyone can see of the run.
func (r ran) everything() string { return r.log + r.output + r.summaryText }

// persist runs this test's program as the role, as the runner of the hub does.
func (h *hub) persist(t *testing.T, staged string, env ...string) ran {
	self, err := os.Executable()
	if err != nil {
		t.Error(err)
		return ran{}
	}
	temp := t.TempDir()
	output, summary := filepath.Join(temp, "output"), filepath.Join(temp, "summary")
	cmd := exec.Command(self)
	cmd.Args[0] = "persist"
	cmd.Env = append(append(h.Env(octo), "PATH="+os.Getenv("PATH"), "TMPDIR="+temp, "RUNNER_TEMP="+temp, "GORACE="+noWait,
		"GITHUB_ACTIONS=true", "GITHUB_RUN_ID=7", "GITHUB_RUN_ATTEMPT=1", "GITHUB_OUTPUT="+output, "GITHUB_STEP_SUMMARY="+summary,
		"INPUT_TOKEN="+hubToken, "INPUT_DIRECTORY="+filepath.Join(staged, "memory")), env...)
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	err = cmd.Run()
	if cmd.ProcessState == nil {
		t.Error(err)
		return ran{}
	}
	read := func(path string) string { text, _ := os.ReadFile(path); return string(text) }
	return ran{cmd.ProcessState.ExitCode(), log.String(), read(output), read(summary)}
}

// writer stages n records as an agent's job does.
func (h *hub) writer(t *testing.T, name string, n int) (string, []ledger.Hash) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	shas, err := stage(dir, h.dir, n)
	if err != nil {
		t.Fatal(err)
	}
	return dir, shas
}

// stored opens the branch as it stands.
func (h *hub) stored(t *testing.T) *ledger.Ledger {
	t.Helper()
	location, err := branch.ParseRemote(h.dir, "", "")
	if err != nil {
		t.Fatal(err)
	}
	snap, err := branch.Read(t.Context(), location, hubBranch, branch.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return ledger.OpenSnapshot(snap, ledger.DefaultLimits())
}

// guarded fails where a commit was made on another head than was expected, and
// counts them by how they were made.
func (h *hub) guarded(t *testing.T) map[string]int {
	t.Helper()
	how := map[string]int{}
	for _, c := range h.Commits(octo) {
		if c.Expected != c.Parent || c.Branch != hubBranch {
			t.Errorf("a commit without its guard: %+v", c)
		}
		how[c.How]++
	}
	return how
}

func TestTheFirstRunsMakeTheBranchOverTheAPIAndNothingIsLost(t *testing.T) {
	const writers, each = 8, 5
	for name, replies := range map[string][]githubtest.Reply{
		"in peace":                  nil,
		"replies dropped":           {githubtest.DropAfter, githubtest.DropBefore, githubtest.DropAfter, githubtest.Serve, githubtest.DropAfter},
		"gateway errors":            {githubtest.BadGateway2, githubtest.BadGateway, githubtest.Serve, githubtest.BadGateway2, githubtest.BadGateway},
		"secondary rate limits":     {githubtest.SecondaryLimit("0"), githubtest.SecondaryLimit("1"), githubtest.Serve, githubtest.SecondaryLimit("0")},
		"the limit of GraphQL, 200": {githubtest.Reply{Status: 200, Header: map[string]string{"Retry-After": "1"}, Body: `{"errors":[{"type":"RATE_LIMITED","message":"API rate limit exceeded"}]}`}},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHub(t, false)
			h.Script(githubtest.Mutation, replies...)
			if len(replies) > 0 {
				h.Script(githubtest.On("POST", "/api/v3/repos/octo/consumer/git/refs"), replies[0], replies[len(replies)-1])
			}
			var group sync.WaitGroup
			var want []ledger.Hash
			for i := range writers {
				dir, shas := h.writer(t, fmt.Sprint("w", i), each)
				want = append(want, shas...)
				group.Go(func() {
					if r := h.persist(t, dir); r.code != 0 || !strings.Contains(r.output, "persisted=true\n") || strings.Contains(r.everything(), hubToken) {
						t.Errorf("writer %d: exit %d\n%s", i, r.code, r.log)
					}
				})
			}
			group.Wait()
			l := h.stored(t)
			for _, sha := range want {
				if !l.Has(sha) {
					t.Errorf("record %s is lost", sha)
				}
			}
			if l.Len() != len(want) || len(l.Diagnostics()) != 0 {
				t.Errorf("%d records, %v", l.Len(), l.Diagnostics())
			}
			if how := h.guarded(t); how["ref"] != 1 || how["mutation"] != writers-1 || len(how) != 2 {
				t.Errorf("made by %v", how)
			}
			hubGit(t, h.dir, "fsck", "--strict")
		})
	}
}

func TestTheCommitNamesItsTransactionAndNothingOfItsPayload(t *testing.T) {
	for _, mode := range []string{"auto", "api", "git"} {
		h := newHub(t, true)
		dir, _ := h.writer(t, "w", 2)
		if r := h.persist(t, dir, "INPUT_PUBLISH="+mode); r.code != 0 {
			t.Fatal(r.log)
		}
		want := "persist: add 2 records to memory\n\nTransaction: 7/00000000-0000-4000-8000-000000000001\nRun: " + h.URL + "/octo/consumer/actions/runs/7/attempts/1"
		if got := hubGit(t, h.dir, "log", "-1", "--format=%B", hubBranch); got != want {
			t.Errorf("%s: %s", mode, got)
		}
		how := "mutation"
		if mode == "git" {
			how = "push"
		}
		if h.guarded(t)[how] != 1 {
			t.Errorf("%s: made by %v", mode, h.guarded(t))
		}
	}
}

func TestABranchThatIsDeletedOrRewoundInBetweenStopsTheRun(t *testing.T) {
	for reason, meanwhile := range map[string]func(*testing.T, *hub, string){
		"deleted": func(t *testing.T, h *hub, _ string) { hubGit(t, h.dir, "update-ref", "-d", "refs/heads/"+hubBranch) },
		"rewound": func(t *testing.T, h *hub, base string) { hubGit(t, h.dir, "update-ref", "refs/heads/"+hubBranch, base) },
	} {
		t.Run(reason, func(t *testing.T) {
			h := newHub(t, true)
			base := hubGit(t, h.dir, "rev-parse", hubBranch)
			h.commit(t, "refs/heads/"+hubBranch, base)
			dir, _ := h.writer(t, "w", 1)
			h.Before(githubtest.Mutation, func() { meanwhile(t, h, base) })
			r := h.persist(t, dir)
			if r.code != 1 || !strings.Contains(r.log, "::error title=persist::nothing was persisted: branch was "+reason) || !strings.Contains(r.summaryText, "Reason: "+reason) {
				t.Errorf("exit %d\n%s%s", r.code, r.log, r.summaryText)
			}
			if !strings.Contains(r.output, "persisted=false\n") || len(h.Commits(octo)) != 0 {
				t.Errorf("%s, %v", r.output, h.Commits(octo))
			}
		})
	}
}

// TestALostReplyThatCannotBeSettledIsNotCalledNothing loses the reply to a commit
// that was made, and then the right to read; the next run settles it.
func TestALostReplyThatCannotBeSettledIsNotCalledNothing(t *testing.T) {
	h := newHub(t, true)
	base := hubGit(t, h.dir, "rev-parse", hubBranch)
	dir, _ := h.writer(t, "w", 1)
	h.Script(githubtest.Mutation, githubtest.Reply{After: true, Drop: true, Do: func() {
		h.Script(githubtest.Advertise, githubtest.Respond(401, `{"message":"Bad credentials"}`))
	}})
	r := h.persist(t, dir)
	if r.code != 1 || !strings.Contains(r.log, "::error title=persist::it is not known whether anything was persisted, re-run this job to settle it: not authorized") {
		t.Errorf("exit %d\n%s", r.code, r.log)
	}
	if !strings.Contains(r.summaryText, "whether anything was published is not known") {
		t.Errorf("the summary says %s", r.summaryText)
	}
	if after := hubGit(t, h.dir, "rev-parse", hubBranch); after == base {
		t.Error("the commit was not made")
	}
	if r = h.persist(t, dir); r.code != 0 || !strings.Contains(r.output, "persisted=none\n") || len(h.Commits(octo)) != 1 {
		t.Errorf("exit %d, %d commits\n%s%s", r.code, len(h.Commits(octo)), r.output, r.log)
	}
}
