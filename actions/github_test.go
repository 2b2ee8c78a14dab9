package actions_test

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/github/githubtest"
)

// The tokens of the jobs; secrets of the workflows have their names.
const (
	readsToken  = "ghs_ReadsContents0123456789abcdefghijklm"
	writesToken = "ghs_WritesContents0123456789abcdefghijkl"
	startsToken = "ghs_StartsWorkflows0123456789abcdefghijk"
)

const octo = "octo/consumer"

// hosted is a consumer whose repository a GitHub server holds.
type hosted struct {
	*consumer
	server *githubtest.Server
	args   []string // of act
}

func newHosted(t *testing.T) *hosted {
	t.Helper()
	h := &hosted{consumer: newConsumer(t), server: githubtest.New(t, githubtest.Options{})}
	h.remote, h.consumer.server = h.server.Repo(octo), h.server.URL+"/"
	h.server.Token(readsToken, githubtest.Permissions{"contents": "read"})
	h.server.Token(writesToken, githubtest.Permissions{"contents": "write"})
	h.server.Token(startsToken, githubtest.Permissions{"actions": "write"})
	h.server.Seed(octo, "main", map[string]string{".github/workflows/github-maintenance.yml": read(t, "testdata", "workflows", "github-maintenance.yml")})
	for _, v := range h.server.Env(octo) {
		h.args = append(h.args, "--env", v)
	}
	h.secrets(readsToken, writesToken, startsToken)
	write(t, filepath.Join(h.dir, "calls.jsonl"), firstCalls)
	write(t, filepath.Join(h.dir, "requests.jsonl"), `{"type":"ledger_request_compaction","reason":"many segments"}`+"\n")
	return h
}

// secrets says which token each kind of job gets; the last call counts.
func (h *hosted) secrets(reads, writes, starts string) {
	h.args = append(h.args, "-s", "READS="+reads, "-s", "WRITES="+writes, "-s", "STARTS="+starts)
}

// act runs a workflow, and fails the test where a token was shown or kept.
func (h *hosted) act(t *testing.T, workflow, payload string, more ...string) run {
	t.Helper()
	r := h.consumer.act(t, workflow, payload, append(slices.Clone(h.args), more...)...)
	h.hidden(t, r)
	return r
}

func (h *hosted) hidden(t *testing.T, r run) {
	t.Helper()
	for _, folder := range []string{h.artifacts, h.home, h.records, filepath.Join(h.dir, ".git")} {
		for _, secret := range []string{readsToken, writesToken, startsToken} {
			notIn(t, folder, secret)
		}
	}
	history := h.history(t)
	for _, secret := range []string{readsToken, writesToken, startsToken} {
		if strings.Contains(r.log, secret) || strings.Contains(history, secret) {
			t.Error("a token stands in the log or in the repository")
		}
	}
}

// tokens are those that requests of a kind came with, each once.
func (h *hosted) tokens(match githubtest.Match) (list []string) {
	seen := map[string]bool{}
	for _, r := range h.server.Requests() {
		if match(r) && !seen[r.Token] {
			seen[r.Token] = true
			list = append(list, r.Token)
		}
	}
	return list
}

// TestTheWholeLifeOfALedgerOnGitHub is the positive control of what the tokens of
// these jobs are refused elsewhere: each job reaches what its permissions allow, over
// TLS, and every commit was made by the API with the expected head.
func TestTheWholeLifeOfALedgerOnGitHub(t *testing.T) {
	h := newHosted(t)
	base := h.seed(t, "ledgers/memory", tiny(t, 5, 1000))
	before := h.ledger(t, "log")

	r := h.act(t, "github.yml", "{}")
	if want := map[string]string{"agent": "success", "safe-outputs": "success", "persist": "success", "request-compaction": "success", "plan": "success", "apply": "success"}; r.code != 0 || !maps.Equal(r.jobs(), want) {
		t.Fatalf("exit %d, jobs %v\n%s", r.code, r.jobs(), r.readable())
	}
	for job := range r.jobs() {
		if list := r.annotations(job); len(list) > 0 {
			t.Errorf("%s: %q", job, list)
		}
	}
	r.want(t, "agent", "ledger", map[string]string{"base-commit": base})
	r.want(t, "persist", "persist", map[string]string{"persisted": "true", "before": base, "accepted": "2"})
	persisted := r.outputs("persist", "persist")["after"]
	r.want(t, "request-compaction", "request", map[string]string{"requested": "1", "ledgers": "memory", "rejected": "0"})
	r.contains(t, "request-compaction", "### request-compaction: maintenance started for 1 ledgers", "the agent's reason: `many segments`")
	r.want(t, "apply", "apply", map[string]string{"status": "applied", "before": persisted})
	applied := r.outputs("apply", "apply")["after"]

	commits := h.server.Commits(octo)
	want := []githubtest.Landed{
		{Branch: "ledgers/memory", OID: persisted, How: "mutation", Expected: base, Parent: base, Token: writesToken},
		{Branch: "ledgers/memory", OID: applied, How: "mutation", Expected: persisted, Parent: persisted, Token: writesToken},
	}
	if !slices.Equal(commits, want) || h.head(t, "ledgers/memory") != applied {
		t.Errorf("commits are %+v, want %+v", commits, want)
	}
	log := h.ledger(t, "log")
	if n := strings.Count(log, "\n"); n != 9 || !strings.HasPrefix(log, before) {
		t.Errorf("the log has %d records:\n%s", n, log)
	}
	h.ledger(t, "verify")
	h.ledger(t, "audit")

	// Nobody came with another token than that of its job, or with none.
	mutations, dispatches := h.tokens(githubtest.Mutation), h.tokens(githubtest.On("POST", "/api/v3/*"))
	if !slices.Equal(mutations, []string{writesToken}) || !slices.Equal(dispatches, []string{startsToken}) {
		t.Errorf("mutations came with %q, dispatches with %q", mutations, dispatches)
	}
	for _, q := range h.server.Requests() {
		if !slices.Contains([]string{readsToken, writesToken, startsToken}, q.Token) {
			t.Errorf("%s %s came with %q", q.Method, q.Path, q.Token)
		}
		if githubtest.Push(q) {
			t.Errorf("a push: %s", q.Path)
		}
	}

	// What was dispatched is what the workflow takes.
	started := h.server.Dispatches(octo)
	if len(started) != 1 || started[0].Workflow != "github-maintenance.yml" || started[0].Ref != "refs/heads/main" || !maps.Equal(started[0].Inputs, map[string]string{"operation": "compact_ledger", "ledger": "memory"}) {
		t.Fatalf("dispatched %+v", started)
	}
	payload, err := json.Marshal(map[string]any{"inputs": started[0].Inputs})
	if err != nil {
		t.Fatal(err)
	}
	h.server.Seed(octo, "ledgers/memory", tiny2(t))
	r = h.act(t, "github-maintenance.yml", string(payload))
	if r.code != 0 || r.outputs("apply-1", "apply")["status"] != "applied" {
		t.Fatalf("exit %d, jobs %v\n%s", r.code, r.jobs(), r.readable())
	}
	for _, c := range h.server.Commits(octo) {
		if c.How != "mutation" || c.Expected != c.Parent || c.Parent == "" {
			t.Errorf("a commit without guard: %+v", c)
		}
	}
	h.ledger(t, "verify")
}

// tiny2 are two shards that tiny does not make.
func tiny2(t *testing.T) map[string]string {
	a, b := record(t, 2_000_001, "note", "a"), record(t, 2_000_002, "note", "b")
	return map[string]string{
		"ledger/shards/aaaaaaaa-0000-4000-8000-000000000001.jsonl": string(a.Line()) + "\n",
		"ledger/shards/bbbbbbbb-0000-4000-8000-000000000001.jsonl": string(b.Line()) + "\n",
	}
}

// TestAFirstRunOnGitHubMakesTheBranch begins without one.
func TestAFirstRunOnGitHubMakesTheBranch(t *testing.T) {
	h := newHosted(t)
	r := h.act(t, "github.yml", "{}")
	if r.code != 0 {
		t.Fatalf("exit %d, jobs %v\n%s", r.code, r.jobs(), r.readable())
	}
	after := r.outputs("persist", "persist")["after"]
	r.want(t, "persist", "persist", map[string]string{"persisted": "true", "before": "", "accepted": "2"})
	if got, want := h.server.Commits(octo), []githubtest.Landed{{Branch: "ledgers/memory", OID: after, How: "ref", Token: writesToken}}; !slices.Equal(got, want) {
		t.Errorf("commits are %+v, want %+v", got, want)
	}
	h.ledger(t, "verify")
}
