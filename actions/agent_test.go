package actions_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

const (
	agentCommand = `node agent.mjs "$MCP_CONFIG" < calls.jsonl`
	modelKey     = "mk_TheKeyOfTheModel5550123456789"
)

// dispatched is the payload that starts testdata/workflows/agent.yml.
func dispatched(t *testing.T, command, detection string) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{"inputs": map[string]string{"command": command, "detection": detection}})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// appends are the calls of an agent that appends n notes.
func appends(n int, text string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"name": "ledger_append", "arguments": {"type": "note", "payload": {"text": %q, "n": %d}}}`+"\n", text, i)
	}
	return b.String()
}

// TestTheAgentWorkflowPublishesWhatTheDetectionSaw runs it whole; the check sees
// the bytes that are persisted, and the secret of the agent reaches its command
// alone.
func TestTheAgentWorkflowPublishesWhatTheDetectionSaw(t *testing.T) {
	c := newConsumer(t)
	write(t, filepath.Join(c.dir, "calls.jsonl"), firstCalls)
	command := agentCommand + "\n[ \"$AGENT_SECRET\" = " + modelKey + " ]\necho '# A note' > \"$LEDGER_DIRECTORY/note.md\""
	detection := `grep -q 'the second' "$STAGED"/memory/ledger/shards/*.jsonl
grep -q 'A note' "$STAGED/memory/note.md"
grep -q ledger_mutation "$SAFE_OUTPUT"
[ -z "${AGENT_SECRET:-}" ]
cat "$STAGED"/memory/ledger/shards/*.jsonl > seen.jsonl
cp seen.jsonl "$STUB_ARTIFACTS/seen.jsonl"`
	r := c.act(t, "agent.yml", dispatched(t, command, detection), "-s", "MODEL_KEY="+modelKey)
	if want := map[string]string{"agent": "success", "detection": "success", "persist": "success", "report": "success"}; r.code != 0 || !maps.Equal(r.jobs(), want) {
		t.Fatalf("exit %d, jobs %v\n%s", r.code, r.jobs(), r.readable())
	}
	r.want(t, "persist", "persist", map[string]string{"persisted": "true", "accepted": "2", "files": "1", "rejected": "0"})
	r.want(t, "report", "report", map[string]string{"events": "2", "dropped": "0"})
	seen, err := os.ReadFile(filepath.Join(c.artifacts, "seen.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(seen)) {
		if !strings.Contains(c.history(t), strings.TrimSpace(line)) {
			t.Errorf("the detection saw a record that was not persisted: %s", line)
		}
	}
	notIn(t, c.artifacts, modelKey)
}

// TestNothingIsPersistedUnlessTheDetectionPassed has the run before as its
// positive control.
func TestNothingIsPersistedUnlessTheDetectionPassed(t *testing.T) {
	c := newConsumer(t)
	write(t, filepath.Join(c.dir, "calls.jsonl"), firstCalls)
	r := c.act(t, "agent.yml", dispatched(t, agentCommand, "! grep -rq 'the second' \"$STAGED\""))
	if jobs := r.jobs(); r.code != 1 || jobs["agent"] != "success" || jobs["detection"] != "failure" || jobs["persist"] == "success" || jobs["persist"] == "failure" {
		t.Errorf("exit %d, jobs %v\n%s", r.code, jobs, r.readable())
	}
	if head := c.head(t, "ledgers/memory"); head != "" {
		t.Errorf("the branch stands at %s", head)
	}
	r.want(t, "report", "report", map[string]string{"events": "2"})
}

// TestARunWithoutADetectionSaysSo: the ledger's own admission still judges all,
// and an agent that failed half-way keeps what it had appended.
func TestARunWithoutADetectionSaysSo(t *testing.T) {
	c := newConsumer(t)
	write(t, filepath.Join(c.dir, "calls.jsonl"), firstCalls)
	r := c.act(t, "agent.yml", dispatched(t, agentCommand+"\nexit 3", ""))
	if jobs := r.jobs(); r.code != 1 || jobs["agent"] != "failure" || jobs["persist"] != "success" {
		t.Fatalf("exit %d, jobs %v\n%s", r.code, jobs, r.readable())
	}
	r.want(t, "persist", "persist", map[string]string{"persisted": "true", "accepted": "2"})
	if list := r.annotations("detection"); len(list) != 1 || !strings.HasPrefix(list[0], "warning detection: no detection-command is given") {
		t.Errorf("annotations: %q", list)
	}
}

// TestADroppedRunCostsNothing drops what GitHub may drop: a persist job, which the
// run of that job alone makes good, once; and a maintenance run that waited behind
// another, whose work the next one does.
func TestADroppedRunCostsNothing(t *testing.T) {
	c := newConsumer(t)
	write(t, filepath.Join(c.dir, "calls.jsonl"), appends(3, "of the dropped run"))
	roles, err := recorder()
	if err != nil {
		t.Fatal(err)
	}
	dropped := filepath.Join(t.TempDir(), "bin")
	for _, r := range theMatrix().Actions {
		script := "#!/bin/sh\nexec '" + filepath.Join(roles, r.Name) + "' \"$@\"\n"
		if r.Name == "persist" {
			script = "#!/bin/sh\nkill -9 $$\n"
		}
		write(t, filepath.Join(dropped, r.Name), script)
		if err := os.Chmod(filepath.Join(dropped, r.Name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r := c.act(t, "agent.yml", dispatched(t, agentCommand, "true"), "--var", "LEDGER_BIN="+dropped)
	if jobs := r.jobs(); jobs["agent"] != "success" || jobs["persist"] != "failure" || c.head(t, "ledgers/memory") != "" {
		t.Fatalf("jobs %v\n%s", jobs, r.readable())
	}
	for _, want := range []map[string]string{{"persisted": "true", "accepted": "3"}, {"persisted": "none", "accepted": "0"}} {
		r := c.act(t, "persist-again.yml", "{}")
		if r.code != 0 {
			t.Fatalf("exit %d\n%s", r.code, r.readable())
		}
		r.want(t, "persist", "persist", want)
	}

	// A later run adds more; the one maintenance run that GitHub let through finds
	// what the dropped one would have found, and that.
	write(t, filepath.Join(c.dir, "calls.jsonl"), appends(2, "of the next run"))
	if r := c.act(t, "agent.yml", dispatched(t, agentCommand, "true")); r.code != 0 {
		t.Fatalf("exit %d\n%s", r.code, r.readable())
	}
	before := c.ledger(t, "log")
	r = c.act(t, "dispatch.yml", requested)
	r.want(t, "apply-1", "apply", map[string]string{"status": "applied", "retired": "2", "records": "5"})
	if c.ledger(t, "log") != before {
		t.Error("the records are not what they were")
	}
	c.ledger(t, "audit")
}

// TestTheAgentWorkflowKeepsReviewedMemory: its first run begins the project, so that
// the agent of the second one has tools for it.
func TestTheAgentWorkflowKeepsReviewedMemory(t *testing.T) {
	c := newConsumer(t)
	write(t, filepath.Join(c.dir, ".github", "memory-policy.yml"), `version: memory-policy/v1
principals:
  - workflow: .github/workflows/agent.yml
    actor: helper
    scopes: [memory.read, memory.branch, memory.commit, memory.propose]
    projects: [demo]
`)
	payload := strings.Replace(dispatched(t, agentCommand, "true"), "{", `{"repository":{"default_branch":"main"},`, 1)
	run := func(calls string) run {
		write(t, filepath.Join(c.dir, "calls.jsonl"), calls)
		r := c.act(t, "agent.yml", payload, "--var", "MEMORY_POLICY=.github/memory-policy.yml", "--var", "MEMORY_PROJECT=demo",
			"--env", "GITHUB_WORKFLOW_REF=octo/consumer/.github/workflows/agent.yml@refs/heads/main")
		if r.code != 0 {
			t.Fatalf("exit %d\n%s", r.code, r.readable())
		}
		return r
	}
	run(appends(1, "plain"))
	if refs := c.ledger(t, "memory", "refs"); !strings.Contains(refs, "refs/shared/main") {
		t.Fatalf("the refs are %q", refs)
	}
	r := run(`{"name": "memory_branch_create", "arguments": {"ref_name": "refs/agents/helper/main", "idempotency_key": "k1"}}` + "\n")
	if refs := c.ledger(t, "memory", "refs"); !strings.Contains(refs, "refs/agents/helper/main") {
		t.Errorf("the refs are %q\n%s", refs, r.readable())
	}
	r.want(t, "persist", "persist", map[string]string{"memory-accepted": "1", "memory-refused": "0"})
}

// TestTheAgentWorkflowHoldsServerAndStagingToOneSchema has the server refuse what
// breaks it, and the persist job what was written past the server.
func TestTheAgentWorkflowHoldsServerAndStagingToOneSchema(t *testing.T) {
	c := newConsumer(t)
	write(t, filepath.Join(c.dir, "schema.json"), `{"type":"object","required":["text"],"properties":{"text":{"type":"string"},"n":{"type":"integer"}},"additionalProperties":false}`)
	write(t, filepath.Join(c.dir, "calls.jsonl"), appends(1, "good")+`{"name": "ledger_append", "arguments": {"type": "note", "payload": {"n": 7}}}`+"\n")
	past := record(t, 1, "note", "written past the server").Line()
	command := agentCommand + "\nprintf '%s\\n' '" + string(past) + "' > \"$LEDGER_DIRECTORY/ledger/shards/00000000-0000-4000-8000-000000000009.jsonl\""
	r := c.act(t, "agent.yml", dispatched(t, command, "true"), "--var", "PAYLOAD_SCHEMA=schema.json")
	if r.code != 0 {
		t.Fatalf("exit %d\n%s", r.code, r.readable())
	}
	r.want(t, "persist", "persist", map[string]string{"accepted": "1", "rejected": "1"})
	r.contains(t, "persist", "payload-schema: payload")
}

// TestTheAgentWorkflowQueuesNothing keeps a concurrency group out of it, and the
// write permission out of every job but the one that publishes.
func TestTheAgentWorkflowQueuesNothing(t *testing.T) {
	var w workflow
	if err := yaml.Unmarshal([]byte(read(t, ".github/workflows/agent-with-ledger.yml")), &w); err != nil {
		t.Fatal(err)
	}
	if w.Concurrency != nil || len(w.Jobs) != 4 {
		t.Errorf("concurrency %v, %d jobs", w.Concurrency, len(w.Jobs))
	}
	for id, j := range w.Jobs {
		if (j.Permissions["contents"] == "write") != (id == "persist") {
			t.Errorf("job %s has permissions %v", id, j.Permissions)
		}
	}
}
