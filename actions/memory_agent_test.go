package actions_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/memory"
)

// memoryAgent is one agent's job: prepared by agent-ledger, its server running as
// an MCP client starts it.
type memoryAgent struct {
	t      testing.TB
	rig    *memoryRig
	env    []string // of the job
	folder string
	setup  trial
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	calls  int
}

// agentJob is the environment of a run of an agent's workflow.
func (m *memoryRig) agentJob(t testing.TB, folder, workflow string, more ...string) []string {
	return m.job(t, folder, "77", append([]string{"GITHUB_WORKFLOW_REF=octo/consumer/" + workflow + "@refs/heads/main",
		"GITHUB_RUN_ID=" + strings.TrimPrefix(filepath.Base(folder), "run-"), "GITHUB_ENV=" + filepath.Join(folder, "env")}, more...)...)
}

// agent starts an agent's job.
func (m *memoryRig) agent(t testing.TB, workflow string, more ...string) *memoryAgent {
	t.Helper()
	folder := m.folder(t)
	a := &memoryAgent{t: t, rig: m, folder: folder, env: m.agentJob(t, folder, workflow, more...)}
	if a.setup = start(t, folder, "agent-ledger", a.env); a.setup.code != 0 {
		t.Fatalf("agent-ledger: exit %d\n%s", a.setup.code, a.setup.printed)
	}
	a.serve()
	return a
}

// serve starts the server from the configuration that setup left, with an
// environment of the client's own.
func (a *memoryAgent) serve() {
	a.t.Helper()
	text, err := os.ReadFile(a.setup.outputs["mcp-config"])
	if err != nil {
		a.t.Fatal(err)
	}
	var config struct {
		Servers map[string]struct {
			Command string
			Args    []string
			Env     map[string]string
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal(text, &config); err != nil {
		a.t.Fatal(err)
	}
	server := config.Servers["ledger"]
	a.cmd = exec.Command(server.Command, server.Args...)
	a.cmd.Dir, a.cmd.Stderr = a.rig.dir, os.Stderr
	a.cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	for name, value := range server.Env {
		a.cmd.Env = append(a.cmd.Env, name+"="+value)
	}
	out, err := a.cmd.StdoutPipe()
	if err == nil {
		a.in, err = a.cmd.StdinPipe()
	}
	if err == nil {
		err = a.cmd.Start()
	}
	if err != nil {
		a.t.Fatal(err)
	}
	a.out = bufio.NewReaderSize(out, 1<<20)
	a.t.Cleanup(a.stop)
	a.exchange(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
	fmt.Fprintln(a.in, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// stop ends the server as a client does.
func (a *memoryAgent) stop() {
	if a.cmd != nil {
		a.in.Close()
		a.cmd.Wait()
		a.cmd = nil
	}
}

func (a *memoryAgent) exchange(line string) string {
	a.t.Helper()
	fmt.Fprintln(a.in, line)
	answer, err := a.out.ReadString('\n')
	if err != nil {
		a.t.Fatalf("no answer to %.200s: %v", line, err)
	}
	return answer
}

// call calls a tool and returns its structured content, or the sentence of its
// refusal, and whether it said that it was a replay.
func (a *memoryAgent) call(tool string, arguments any) (content map[string]any, refused string, replay bool) {
	a.t.Helper()
	a.calls++
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": a.calls, "method": "tools/call", "params": map[string]any{"name": tool, "arguments": arguments}})
	if err != nil {
		a.t.Fatal(err)
	}
	var answer struct {
		Error  json.RawMessage
		Result struct {
			IsError bool
			Content []struct{ Text string }
			Data    map[string]any `json:"structuredContent"`
		}
	}
	said := a.exchange(string(text))
	if err := json.Unmarshal([]byte(said), &answer); err != nil || answer.Error != nil {
		a.t.Fatalf("%s: %v %s", tool, err, said)
	}
	if answer.Result.IsError {
		return nil, answer.Result.Content[0].Text, false
	}
	for _, c := range answer.Result.Content[1:] {
		replay = replay || strings.HasPrefix(c.Text, "replay: ")
	}
	return answer.Result.Data, "", replay
}

// must calls a tool that has to answer.
func (a *memoryAgent) must(tool string, arguments any) map[string]any {
	a.t.Helper()
	content, refused, _ := a.call(tool, arguments)
	if refused != "" {
		a.t.Fatalf("%s: %s", tool, refused)
	}
	return content
}

// refuses calls a tool that has to refuse with these words.
func (a *memoryAgent) refuses(tool string, arguments any, words string) {
	a.t.Helper()
	content, refused, _ := a.call(tool, arguments)
	if !strings.Contains(refused, words) || refused == "" {
		a.t.Errorf("%s answers %v %q, want %q", tool, content, refused, words)
	}
}

type args = map[string]any

// factOps adds one fact.
func factOps(key, content string) []args {
	return []args{{"op_type": "add_memory", "payload": args{"kind": "fact", "fact_key": key, "content": content}}}
}

// persist ends the agent and persists what it staged, in a job of its own.
func (a *memoryAgent) persist(more ...string) trial {
	a.t.Helper()
	a.stop()
	env := append([]string{"INPUT_DIRECTORY=" + a.setup.outputs["directory"], "INPUT_BASE_COMMIT=" + a.setup.outputs["base-commit"]}, more...)
	for _, name := range []string{"output", "summary"} {
		os.Remove(filepath.Join(a.folder, name))
	}
	all := append([]string{}, a.env...)
	return start(a.t, a.folder, "persist", append(all, env...))
}

// remembers persists what has to be accepted whole.
func (a *memoryAgent) remembers(records int) trial {
	a.t.Helper()
	r := a.persist()
	if r.code != 0 || r.outputs["memory-accepted"] != fmt.Sprint(records) || r.outputs["memory-refused"] != "0" {
		a.t.Fatalf("persist: exit %d, outputs %v\n%s\n%s", r.code, r.outputs, r.printed, r.summary)
	}
	return r
}

// begun is a rig whose project has its root: the first persist makes it.
func begunRig(t testing.TB) *memoryRig {
	t.Helper()
	m := newMemoryRig(t)
	a := m.agent(t, agentOne)
	if s := a.must("memory_status", args{}); s["begun"] != false {
		t.Errorf("status %v", s)
	}
	a.refuses("memory_branch_create", args{"ref_name": "refs/sessions/one/a", "idempotency_key": "k"}, "has no root yet")
	a.must("ledger_append", args{"type": "note", "payload": args{"content": "the old note"}})
	a.remembers(0)
	if _, ok := m.state(t).Ref("demo", memory.SharedMain); !ok {
		t.Fatal("the project has no root")
	}
	return m
}

func TestAgentsRememberOverTheRealBinaries(t *testing.T) {
	m := begunRig(t)
	one, two := m.agent(t, agentOne), m.agent(t, agentTwo)

	// Each commits to a branch of its own, and neither sees the other's.
	first := one.must("memory_changeset_create", args{"ref_name": "refs/sessions/one/a", "create_ref": true, "message": "what I saw", "operations": factOps("port", "the port is 80"), "idempotency_key": "c1"})
	again, refused, replay := one.call("memory_changeset_create", args{"ref_name": "refs/sessions/one/a", "create_ref": true, "message": "what I saw", "operations": factOps("port", "the port is 80"), "idempotency_key": "c1"})
	if refused != "" || !replay || again["changeset_id"] != first["changeset_id"] || again["replay"] != true {
		t.Errorf("the replay is %v %q", again, refused)
	}
	one.refuses("memory_changeset_create", args{"ref_name": "refs/sessions/one/a", "create_ref": true, "message": "what I saw", "operations": factOps("port", "the port is 81"), "idempotency_key": "c1"}, "key-reused")
	one.refuses("memory_changeset_create", args{"ref_name": "refs/sessions/one/a", "expected_head": first["changeset_id"], "message": "what I saw", "operations": factOps("port", "the port is 80"), "idempotency_key": "c1"}, "key-reused")
	one.refuses("memory_changeset_create", args{"ref_name": "refs/sessions/two/a", "create_ref": true, "message": "not mine", "operations": factOps("x", "y"), "idempotency_key": "c2"}, "owner")
	one.refuses("memory_changeset_create", args{"ref_name": memory.SharedMain, "expected_head": one.must("memory_status", args{})["shared_main"], "message": "not mine", "operations": factOps("x", "y"), "idempotency_key": "c3"}, "protected-ref")
	proposal := one.must("memory_merge_propose", args{"source": "refs/sessions/one/a", "message": "please", "idempotency_key": "p1"})
	branched := two.must("memory_branch_create", args{"ref_name": "refs/sessions/two/b", "idempotency_key": "b1"})
	second := two.must("memory_changeset_create", args{"ref_name": "refs/sessions/two/b", "expected_head": branched["changeset_id"], "message": "mine", "operations": factOps("port", "the port is 443"), "idempotency_key": "c1"})
	two.refuses("memory_show", args{"changeset_id": first["changeset_id"]}, "unreadable")
	two.must("memory_merge_propose", args{"source": "refs/sessions/two/b", "message": "mine instead", "idempotency_key": "p1"})
	context := one.must("memory_context_at", args{"ref_name": "refs/sessions/one/a", "query": "port", "pin": true, "idempotency_key": "m1"})

	// A restarted server knows what was staged.
	one.stop()
	one.serve()
	if s := one.must("memory_status", args{}); s["staged_records"] != float64(4) {
		t.Errorf("status after a restart %v", s)
	}
	_, _, replay = one.call("memory_merge_propose", args{"source": "refs/sessions/one/a", "message": "please", "idempotency_key": "p1"})
	if !replay {
		t.Error("a proposal is made twice across a restart")
	}
	if c := one.must("memory_context_at", args{"manifest_id": context["manifest_id"]}); c["content_digest"] != context["content_digest"] {
		t.Errorf("the context is not the same again: %v", c)
	}
	one.remembers(4)
	if r := one.persist(); r.code != 0 || r.outputs["persisted"] != "none" || r.outputs["memory-accepted"] != "4" {
		t.Errorf("persisting again: %v\n%s", r.outputs, r.printed)
	}
	two.remembers(4)

	s := m.state(t)
	if err := s.Authorizes(); err != nil {
		t.Fatal(err)
	}
	for ref, want := range map[string]any{"refs/sessions/one/a": first["changeset_id"], "refs/sessions/two/b": second["changeset_id"]} {
		if r, _ := s.Ref("demo", ref); r.Head.String() != want {
			t.Errorf("%s is at %v, want %v", ref, r.Head, want)
		}
	}
	if p, ok := s.Proposal("demo", proposal["proposal_id"].(string)); !ok || p.Status != memory.ProposalOpen {
		t.Errorf("the proposal is %+v", p)
	}
	if seq, _ := s.Seq(); seq != 3 {
		t.Errorf("the chain has %d links", seq)
	}
}
