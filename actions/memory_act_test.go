package actions_test

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// TestTheReviewedMemoryOfTheREADMERunsAsItStandsThere takes the policy and both
// workflows of the README as they stand: an agent proposes, a person is shown it in
// one run, and approves and merges in the next.
func TestTheReviewedMemoryOfTheREADMERunsAsItStandsThere(t *testing.T) {
	_, part, _ := strings.Cut(read(t, "README.md"), "\n## Reviewed memory\n")
	part, _, _ = strings.Cut(part, "\n## ")
	texts := examples(part)
	if len(texts) != 3 {
		t.Fatalf("the part has %d examples, want the policy and two workflows", len(texts))
	}
	lint, err := tool("actionlint")
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"the agent's workflow", "the review"} {
		cmd := exec.Command(lint, "-no-color", "-shellcheck=", "-pyflakes=", "-")
		cmd.Dir, cmd.Stdin = t.TempDir(), strings.NewReader(texts[i+1])
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		for _, fault := range checkWorkflow(t, name, texts[i+1]) {
			t.Errorf("%s: %s", name, fault)
		}
	}

	c := newConsumer(t)
	folder := filepath.Join(filepath.Dir(c.dir), "github")
	c.remote = filepath.Join(folder, "octo", "consumer")
	command(t, c.dir, "git", "init", "-q", "--bare", "-b", "main", c.remote)
	command(t, c.remote, "git", "config", "http.receivepack", "true")
	var strangers atomic.Int32
	c.server = github(t, folder, &strangers)
	if c.suite, err = released(); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(c.dir, ".github", "memory-policy.yml"), texts[0])
	write(t, filepath.Join(c.dir, "calls.jsonl"), `{"name": "memory_changeset_create", "arguments": {"ref_name": "refs/sessions/helper/a", "create_ref": true, "message": "what I saw", "idempotency_key": "c", "operations": [{"op_type": "add_memory", "payload": {"kind": "fact", "fact_key": "db.port", "content": "The port is 5432."}}]}}
{"name": "memory_merge_propose", "arguments": {"source": "refs/sessions/helper/a", "message": "please", "idempotency_key": "p"}}
`)
	tools := t.TempDir()
	write(t, filepath.Join(tools, "your-agent"), "#!/bin/sh\nexec node agent.mjs \"$2\" < calls.jsonl\n")
	if err := os.Chmod(filepath.Join(tools, "your-agent"), 0o755); err != nil {
		t.Fatal(err)
	}
	c.path = []string{tools}
	c.ledger(t, "memory", "init", "--project", "demo", "--user", "583231", "--policy", filepath.Join(c.dir, ".github", "memory-policy.yml"))

	// act runs a workflow of a file as the person whose id is given.
	act := func(file, text, user string, inputs map[string]string) run {
		payload, err := json.Marshal(map[string]any{"inputs": inputs, "repository": map[string]string{"default_branch": "main"}})
		if err != nil {
			t.Fatal(err)
		}
		r := c.run(t, file, text, string(payload), "-s", "MEMORY_MERGE_HMAC_KEYS=2026="+mergeKey, "--actor", "user-"+user,
			"--env", "GITHUB_ACTOR_ID="+user, "--env", "GITHUB_TRIGGERING_ACTOR=user-"+user, "--env", "GITHUB_REPOSITORY_ID=4242", "--env", "GITHUB_RUN_ATTEMPT=1",
			"--env", "GITHUB_WORKFLOW_REF=octo/consumer/.github/workflows/"+file+"@refs/heads/main")
		if strings.Contains(r.log, mergeKey) {
			t.Error("the merge key stands in the log")
		}
		return r
	}
	r := act("agent.yml", texts[1], "77", nil)
	if want := map[string]string{"agent": "success", "persist": "success"}; r.code != 0 || !maps.Equal(r.jobs(), want) {
		t.Fatalf("exit %d, jobs %v\n%s", r.code, r.jobs(), r.readable())
	}
	var state struct {
		Projects []struct {
			Proposals []struct {
				Proposal struct {
					ID string `json:"proposal_id"`
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(c.ledger(t, "memory", "status", "--json")), &state); err != nil || len(state.Projects) != 1 || len(state.Projects[0].Proposals) != 1 {
		t.Fatalf("%v, %+v\n%s", err, state, r.readable())
	}
	inputs := map[string]string{"proposal": state.Projects[0].Proposals[0].Proposal.ID, "operation": "show", "state-digest": "", "conflicts": "", "findings": ""}
	r = act("memory-review.yml", texts[2], "583231", inputs)
	if r.code != 0 || r.jobs()["review"] != "success" || r.jobs()["merge"] == "success" {
		t.Fatalf("exit %d, jobs %v\n%s", r.code, r.jobs(), r.readable())
	}
	r.contains(t, "review", "The port is 5432.")
	inputs["state-digest"] = r.outputs("review", "review")["state-digest"]
	inputs["operation"] = "approve"

	// Somebody whom the policy does not name gets nowhere, with the same digest.
	if r := act("memory-review.yml", texts[2], "77", inputs); r.code == 0 || r.jobs()["review"] != "failure" {
		t.Errorf("a stranger: exit %d, jobs %v", r.code, r.jobs())
	}
	r = act("memory-review.yml", texts[2], "583231", inputs)
	if want := map[string]string{"review": "success", "merge": "success"}; r.code != 0 || !maps.Equal(r.jobs(), want) {
		t.Fatalf("exit %d, jobs %v\n%s", r.code, r.jobs(), r.readable())
	}
	r.contains(t, "merge", "merged into `refs/shared/main`")
	if got := c.ledger(t, "memory", "context"); !strings.Contains(got, "The port is 5432.") {
		t.Errorf("accepted is %s", got)
	}
	if n := strangers.Load(); n > 0 {
		t.Errorf("%d requests came without the token", n)
	}
}
