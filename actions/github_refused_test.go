package actions_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/github/githubtest"
)

// TestATokenThatOnlyReadsWritesNothing gives every job the token of the agent's.
func TestATokenThatOnlyReadsWritesNothing(t *testing.T) {
	h := newHosted(t)
	base := h.seed(t, "ledgers/memory", tiny(t, 5, 1000))
	h.secrets(readsToken, readsToken, readsToken)
	r := h.act(t, "github.yml", "{}")
	if want := map[string]string{"agent": "success", "safe-outputs": "success", "persist": "failure", "request-compaction": "failure", "plan": "success", "apply": "failure"}; r.code != 1 || !maps.Equal(r.jobs(), want) {
		t.Fatalf("exit %d, jobs %v\n%s", r.code, r.jobs(), r.readable())
	}
	for role, needs := range map[string]string{"persist": "contents: write", "maintenance-apply": "contents: write", "request-compaction": "actions: write"} {
		h.advises(t, role, needs)
	}
	if h.head(t, "ledgers/memory") != base || len(h.server.Commits(octo)) > 0 || len(h.server.Dispatches(octo)) > 0 {
		t.Error("something was written")
	}
}

// advises fails the test unless a role ended with one error that names a permission.
func (h *hosted) advises(t *testing.T, role, needs string) {
	t.Helper()
	job := map[string]string{"maintenance-apply": "apply"}[role]
	if job == "" {
		job = role
	}
	printed := h.printed(t, job, "", role)
	_, last, _ := strings.Cut(printed, "::error title="+role+"::")
	if strings.Count(printed, "::error ") != 1 || !strings.Contains(last, needs) || strings.Contains(printed, "ghs_") {
		t.Errorf("%s printed %q, want one error that says %s", role, printed, needs)
	}
}

// persistBy is a workflow of one agent and one persist, which publishes one way.
const persistBy = `on: workflow_dispatch
permissions: {}
jobs:
  agent:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683 # v4.2.2
      - id: ledger
        uses: OWNER/ledger/actions/agent-ledger@v1
        with:
          token: ${{ secrets.READS }}
          bin: ${{ vars.LEDGER_BIN }}
      - env:
          MCP_CONFIG: ${{ steps.ledger.outputs.mcp-config }}
        run: node agent.mjs "$MCP_CONFIG" < calls.jsonl
      - uses: OWNER/ledger/actions/txlog-merge@v1
        with:
          bin: ${{ vars.LEDGER_BIN }}
  persist:
    needs: agent
    runs-on: ubuntu-latest
    steps:
      - id: persist
        uses: OWNER/ledger/actions/persist@v1
        with:
          publish: WAY
          token: ${{ secrets.WRITES }}
          remote: ${{ vars.PERSIST_REMOTE }}
          bin: ${{ vars.LEDGER_BIN }}
`

func (h *hosted) persistBy(t *testing.T, way string, more ...string) run {
	t.Helper()
	r := h.run(t, "persist-by.yml", strings.ReplaceAll(persistBy, "WAY", way), "{}", append(slices.Clone(h.args), more...)...)
	h.hidden(t, r)
	return r
}

func TestAPushWithATokenThatOnlyReadsIsRefusedToo(t *testing.T) {
	for _, c := range []struct {
		token   string
		succeed bool
	}{{readsToken, false}, {writesToken, true}} {
		h := newHosted(t)
		h.secrets(readsToken, c.token, "")
		r := h.persistBy(t, "git")
		if got := h.server.Commits(octo); c.succeed {
			if r.code != 0 || len(got) != 1 || got[0].How != "push" || got[0].Token != writesToken {
				t.Errorf("exit %d, commits %+v\n%s", r.code, got, r.readable())
			}
			continue
		} else if r.code != 1 || len(got) > 0 {
			t.Errorf("exit %d, commits %+v", r.code, got)
		}
		h.advises(t, "persist", "contents: write")
	}
}

// TestNoTokenLeavesTheServer sends the roles elsewhere, by every way there is: a
// server of the same authority and address, on another port. That a client which
// knows no better hands it over is seen first.
func TestNoTokenLeavesTheServer(t *testing.T) {
	other := githubtest.New(t, githubtest.Options{})
	other.Repo(octo)
	other.Token(writesToken, githubtest.Permissions{"contents": "write", "actions": "write"})
	leaked := func() (n int) {
		for _, r := range other.Requests() {
			if r.Authorization || strings.Contains(r.Query+string(r.Body), "ghs_") {
				n++
			}
		}
		return n
	}
	away := slices.Repeat([]githubtest.Reply{githubtest.RedirectTo(other.URL + "/api/v3/repos/" + octo)}, 64)
	awayGit := slices.Repeat([]githubtest.Reply{githubtest.RedirectTo(other.URL + "/" + octo + "/info/refs?service=git-upload-pack")}, 64)

	h := newHosted(t)
	h.server.Script(githubtest.Any, away[0])
	q, err := http.NewRequest(http.MethodGet, h.server.URL+"/api/v3/user", nil)
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Authorization", "Bearer "+writesToken)
	if res, err := h.server.Client().Do(q); err != nil || res.Body.Close() != nil || leaked() != 1 {
		t.Fatalf("the control leaked %d times, %v", leaked(), err)
	}

	for name, c := range map[string]struct {
		way    string
		script func(*githubtest.Server)
		args   []string
		reason string
		asked  bool // the other server may be asked, without a token
	}{
		"a remote on another host":            {"auto", nil, []string{"--var", "PERSIST_REMOTE=" + other.URL + "/" + octo + ".git"}, "the token was not sent, because it belongs to another server", true},
		"an API on another host":              {"api", nil, []string{"--env", "GITHUB_API_URL=" + other.URL + "/api/v3"}, "GITHUB_API_URL", false},
		"a GraphQL API on another host":       {"api", nil, []string{"--env", "GITHUB_GRAPHQL_URL=" + other.URL + "/api/graphql"}, "GITHUB_GRAPHQL_URL", false},
		"a redirect of the mutation":          {"auto", func(s *githubtest.Server) { s.Script(githubtest.Mutation, away...) }, nil, "redirects are not followed", false},
		"a redirect of all of the API's":      {"auto", func(s *githubtest.Server) { s.Script(githubtest.On("", "/api/*"), away...) }, nil, "redirects are not followed", false},
		"a redirect when git asks for a head": {"auto", func(s *githubtest.Server) { s.Script(githubtest.Advertise, awayGit...) }, nil, "redirects are not followed", false},
		"a redirect of a push":                {"git", func(s *githubtest.Server) { s.Script(githubtest.Push, awayGit...) }, nil, "redirects are not followed", false},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHosted(t)
			h.server.Seed(octo, "ledgers/memory", tiny(t, 1, 1000))
			seen, before := len(other.Requests()), leaked()
			if name == "a redirect when git asks for a head" {
				h.server.Before(githubtest.Advertise, func() {}) // the agent's restore is let through
			}
			if c.script != nil {
				c.script(h.server)
			}
			r := h.persistBy(t, c.way, c.args...)
			if r.code != 1 || r.jobs()["agent"] != "success" || r.jobs()["persist"] != "failure" {
				t.Errorf("exit %d, jobs %v\n%s", r.code, r.jobs(), r.readable())
			}
			printed := h.printed(t, "persist", "", "persist")
			if !strings.Contains(printed, "::error title=persist::") || !strings.Contains(printed, c.reason) {
				t.Errorf("persist printed %q", printed)
			}
			if n := leaked() - before; n > 0 {
				t.Errorf("%d requests with a token reached the other server: %+v", n, other.Requests()[seen:])
			}
			if asked := len(other.Requests()) > seen; asked != c.asked {
				t.Errorf("the other server was asked: %v", asked)
			}
			if got := h.server.Commits(octo); len(got) > 0 {
				t.Errorf("commits %+v", got)
			}
		})
	}
}

// misplaced has the roles that hold a token in the job of an agent.
const misplaced = `on: workflow_dispatch
permissions: {}
jobs:
  agent:
    runs-on: ubuntu-latest
    steps:
      - uses: OWNER/ledger/actions/agent-ledger@v1
        with:
          token: ${{ secrets.READS }}
          bin: ${{ vars.LEDGER_BIN }}
      - id: persist
        continue-on-error: true
        uses: OWNER/ledger/actions/persist@v1
        with:
          artifact: ""
          token: ${{ secrets.WRITES }}
          bin: ${{ vars.LEDGER_BIN }}
      - id: maintenance-apply
        continue-on-error: true
        uses: OWNER/ledger/actions/maintenance-apply@v1
        with:
          artifact: ""
          token: ${{ secrets.WRITES }}
          bin: ${{ vars.LEDGER_BIN }}
      - id: request-compaction
        continue-on-error: true
        uses: OWNER/ledger/actions/request-compaction@v1
        with:
          token: ${{ secrets.STARTS }}
          bin: ${{ vars.LEDGER_BIN }}
`

func TestARoleWithATokenRefusesToStartInTheJobOfAnAgent(t *testing.T) {
	h := newHosted(t)
	h.server.Seed(octo, "ledgers/memory", tiny(t, 5, 1000))
	r := h.run(t, "misplaced.yml", misplaced, "{}", h.args...)
	h.hidden(t, r)
	if r.code != 0 || r.jobs()["agent"] != "success" {
		t.Fatalf("exit %d, jobs %v\n%s", r.code, r.jobs(), r.readable())
	}
	for _, role := range []string{"persist", "maintenance-apply", "request-compaction"} {
		want := "::error title=" + role + "::refuses to run in a job that runs an agent (LEDGER_UNTRUSTED_JOB is set); give it a job of its own\n"
		if got := h.printed(t, "agent", "", role); got != want {
			t.Errorf("%s printed %q, want %q", role, got, want)
		}
	}
	if got := h.tokens(githubtest.Any); !slices.Equal(got, []string{readsToken}) {
		t.Errorf("the server saw the tokens %q", got)
	}
}
