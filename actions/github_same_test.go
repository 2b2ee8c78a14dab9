package actions_test

import (
	"encoding/base64"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/github/githubtest"
)

// asAPath has the workflows that were written for a ledger on a path find it on the
// server, each with the one token that the runner gives.
func (h *hosted) asAPath(t *testing.T) {
	t.Helper()
	h.server.Token(token, githubtest.Permissions{"contents": "write"})
	h.args = append(h.args, "--var", "LEDGER_REMOTE="+h.consumer.server+octo+".git")
}

// published fails the test where a role published in another way than by the API,
// or without saying which head it expects.
func (h *hosted) published(t *testing.T) (n int) {
	t.Helper()
	for _, c := range h.server.Commits(octo) {
		switch {
		case c.Token != token:
			continue // race.sh
		case c.How == "mutation" && c.Expected == c.Parent && c.Parent != "", c.How == "ref" && c.Parent == "":
			n++
		default:
			t.Errorf("published %+v", c)
		}
	}
	return n
}

func TestTheWorkflowsOfAPathEndTheSameOnGitHub(t *testing.T) {
	t.Run("lifecycle", func(t *testing.T) {
		h := newHosted(t)
		h.asAPath(t)
		h.seed(t, "ledgers/memory", tiny(t, 5, 1000))
		write(t, filepath.Join(h.dir, "note.md"), "# An ordinary file\n")
		r := h.act(t, "lifecycle.yml", "{}")
		if r.code != 0 || len(r.jobs()) != 5 {
			t.Fatalf("exit %d, jobs %v\n%s", r.code, r.jobs(), r.readable())
		}
		r.want(t, "persist", "persist", map[string]string{"persisted": "true", "accepted": "2", "files": "1"})
		r.want(t, "apply", "apply", map[string]string{"status": "applied", "retired": "7", "records": "9"})
		r.want(t, "apply", "again", map[string]string{"status": "already_applied"})
		if n := h.published(t); n != 2 || !slices.Contains(h.files(t, "ledgers/memory"), "note.md") {
			t.Errorf("%d commits, files %v", n, h.files(t, "ledgers/memory"))
		}
		h.ledger(t, "audit")
	})

	t.Run("maintenance", func(t *testing.T) {
		h := newHosted(t)
		h.asAPath(t)
		h.seed(t, "ledgers/memory", tiny(t, 300, 74_000))
		before := h.ledger(t, "log")
		r := h.act(t, "maintenance.yml", requested)
		if left := shards(h.files(t, "ledgers/memory")); r.code != 0 || left >= 64 || h.ledger(t, "log") != before {
			t.Fatalf("exit %d, %d segments left\n%s", r.code, left, r.readable())
		}
		if h.published(t) < 2 {
			t.Error("fewer than two rounds")
		}
		h.ledger(t, "audit")
	})

	t.Run("failures", func(t *testing.T) {
		h := newHosted(t)
		h.asAPath(t)
		for _, ledger := range []string{"memory", "stale", "conflict"} {
			h.seed(t, "ledgers/"+ledger, tiny(t, 5, 1000))
		}
		for name, text := range validationScripts {
			write(t, filepath.Join(h.dir, name), text+"\n")
		}
		write(t, filepath.Join(h.dir, "calls.jsonl"), `{"name": "ledger_append", "arguments": {"type": "note", "payload": {"text": "to be judged"}}}`+"\n")
		// The git of race.sh is told how to reach the server; the roles do not listen.
		r := h.act(t, "failures.yml", "{}", "--env", "GIT_SSL_CAINFO="+h.server.CertFile, "--env", "GIT_CONFIG_COUNT=1",
			"--env", "GIT_CONFIG_KEY_0=http.extraHeader", "--env", "GIT_CONFIG_VALUE_0=Authorization: Basic "+base64.StdEncoding.EncodeToString([]byte("x-access-token:"+writesToken)))
		for job, result := range r.jobs() {
			if result != "success" {
				t.Errorf("job %s: %s", job, result)
			}
		}
		if r.code != 0 || len(r.jobs()) != 14 {
			t.Fatalf("exit %d, jobs %v\n%s", r.code, r.jobs(), r.readable())
		}
		for _, role := range []string{"persist", "maintenance-apply", "ledger-mutation"} {
			if got := h.printed(t, "misplaced", "", role); !strings.Contains(got, "refuses to run in a job that runs an agent") {
				t.Errorf("misplaced %s printed %q", role, got)
			}
		}
		counts := map[string]string{}
		for _, ledger := range []string{"memory", "stale", "conflict", "checked"} {
			counts[ledger] = strings.TrimSpace(command(t, h.remote, "git", "rev-list", "--count", "ledgers/"+ledger))
		}
		if want := map[string]string{"memory": "2", "stale": "3", "conflict": "3", "checked": "1"}; !maps.Equal(counts, want) || h.head(t, "ledgers/misplaced") != "" {
			t.Errorf("commits: %v, want %v", counts, want)
		}
		if n := h.published(t); n != 4 {
			t.Errorf("%d commits by the roles, want 4", n)
		}
	})
}
