package actions_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/memory"
)

func TestPersistBindsMemoryToItsOwnRun(t *testing.T) {
	m := begunRig(t)
	a := m.agent(t, agentOne)
	a.must("ledger_append", args{"type": "note", "payload": 1})
	a.must("memory_changeset_create", args{"ref_name": "refs/sessions/one/a", "create_ref": true, "message": "m", "operations": factOps("k", "v"), "idempotency_key": "c"})
	odd, locked := filepath.Join(m.dir, "odd.yml"), filepath.Join(m.dir, "locked.yml")
	write(t, odd, "version: memory-policy/v1\nprincipals: [{user: 1}]\n")
	write(t, locked, strings.Replace(memoryPolicy, "principals:", "read-only: true\nprincipals:", 1))
	bare := filepath.Join(m.dir, "bare.json")
	write(t, bare, `{"schedule":"0 4 * * *"}`)
	for _, test := range []struct {
		name, want string
		env        []string
	}{
		{"a branch that is not the default one", "not that of the default branch", []string{"GITHUB_REF=refs/heads/feature"}},
		{"a pull request", "not that of the default branch", []string{"GITHUB_REF=refs/pull/1/merge"}},
		{"a workflow of another branch", "not that of the default branch", []string{"GITHUB_WORKFLOW_REF=octo/consumer/" + agentOne + "@refs/heads/feature"}},
		{"a tag that is named like it", "not that of the default branch", []string{"GITHUB_REF=refs/tags/main"}},
		{"an event that names no default branch", "nothing says which branch is the default one", []string{"GITHUB_EVENT_PATH=" + bare}},
		{"a schedule of another branch", "nothing says which branch is the default one", []string{"GITHUB_EVENT_PATH=" + bare, "GITHUB_EVENT_NAME=schedule", "GITHUB_REF=refs/heads/feature"}},
		{"a workflow of another repository", "run: ", []string{"GITHUB_WORKFLOW_REF=octo/else/" + agentOne + "@refs/heads/main"}},
		{"a workflow without an entry", "the memory policy has no entry", []string{"GITHUB_WORKFLOW_REF=octo/consumer/.github/workflows/three.yml@refs/heads/main"}},
		{"the principal of another workflow", "not the run's own workflow", []string{"INPUT_MEMORY_PRINCIPAL=" + agentTwo}},
		{"a person who is not the actor", "not the actor of the run", []string{"INPUT_MEMORY_PRINCIPAL=11"}},
		{"a person whose run somebody else started again", "triggered by somebody else", []string{"INPUT_MEMORY_PRINCIPAL=11", "GITHUB_ACTOR_ID=11", "GITHUB_TRIGGERING_ACTOR=eve"}},
		{"no policy", "there is no memory policy", []string{"INPUT_MEMORY_POLICY="}},
		{"a policy that is not there", "there is no memory policy", []string{"INPUT_MEMORY_POLICY=" + filepath.Join(m.dir, "none.yml")}},
		{"a policy that is none", "memory policy", []string{"INPUT_MEMORY_POLICY=" + odd}},
		{"a policy that is read-only", "read-only", []string{"INPUT_MEMORY_POLICY=" + locked}},
		{"no principal outside a workflow", "outside a workflow memory needs memory-principal", []string{"GITHUB_ACTIONS="}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := a.persist(test.env...)
			if r.code != 0 || !strings.Contains(r.printed+r.summary, test.want) || r.outputs["rejected"] != "2" || r.outputs["memory-refused"] != "2" || r.outputs["memory-accepted"] != "0" {
				t.Errorf("exit %d, outputs %v\n%s", r.code, r.outputs, r.printed)
			}
			if strings.Contains(r.printed+r.summary, m.dir) {
				t.Error("a path is shown")
			}
		})
	}
	if r := a.persist("INPUT_MEMORY_PROJECT=../x"); r.code != 2 {
		t.Errorf("a project that is none: exit %d\n%s", r.code, r.printed)
	}
	s := m.state(t)
	if len(s.Refs("demo")) != 1 {
		t.Fatal("something was admitted")
	}
	// A scheduled run is one of the default branch, though its event does not say so.
	r := a.persist("GITHUB_EVENT_PATH="+bare, "GITHUB_EVENT_NAME=schedule")
	if r.code != 0 || r.outputs["memory-accepted"] != "2" || r.outputs["memory-refused"] != "0" || r.outputs["memory-state"] != m.state(t).Digest().String() {
		t.Errorf("exit %d, outputs %v\n%s\n%s", r.code, r.outputs, r.printed, r.summary)
	}
}

func TestAnAgentGetsNoMemoryToolsForWhatPersistWouldRefuse(t *testing.T) {
	m := begunRig(t)
	for _, test := range []struct {
		name, want string
		env        []string
	}{
		{"another branch", "not that of the default branch", []string{"GITHUB_REF=refs/heads/feature"}},
		{"no project", "memory-project is not given", []string{"INPUT_MEMORY_PROJECT="}},
		{"no policy", "there is no memory policy", []string{"INPUT_MEMORY_POLICY=" + filepath.Join(m.dir, "none.yml")}},
		{"a project of others", "not one of the principal's", []string{"INPUT_MEMORY_PROJECT=secret"}},
		{"no entry", "has no entry", []string{"GITHUB_WORKFLOW_REF=octo/consumer/.github/workflows/three.yml@refs/heads/main"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := m.agent(t, agentOne, test.env...)
			if !strings.Contains(a.setup.printed, "there are no memory tools: ") || !strings.Contains(a.setup.printed, test.want) {
				t.Errorf("setup says %s", a.setup.printed)
			}
			if tools := a.exchange(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`); strings.Contains(tools, "memory_") || !strings.Contains(tools, "ledger_append") {
				t.Errorf("the tools are %s", tools)
			}
			a.refuses("ledger_append", args{"type": memory.TypeRef, "payload": 1}, "reserved-type")
		})
	}
	odd := filepath.Join(m.dir, "odd.yml")
	write(t, odd, "version: 2\n")
	folder := m.folder(t)
	if r := start(t, folder, "agent-ledger", m.agentJob(t, folder, agentOne, "INPUT_MEMORY_POLICY="+odd)); r.code != 2 || !strings.Contains(r.printed, "memory-policy") || strings.Contains(r.printed, odd) {
		t.Errorf("a policy that is none: exit %d\n%s", r.code, r.printed)
	}
	a := m.agent(t, agentOne)
	for _, typ := range []string{memory.TypeRef, memory.TypeAdmission, "thread.artifact"} {
		a.refuses("ledger_append", args{"type": typ, "payload": 1}, "reserved-type")
	}
}

// forge stages a record as an agent does that writes into its folder by itself.
func (a *memoryAgent) forge(typ, payload string) {
	a.t.Helper()
	w, err := ledger.NewWriter(a.setup.outputs["directory"], ledger.DefaultLimits(), ledger.WriterOptions{Allow: func(string) bool { return true }})
	if err == nil {
		_, err = w.Append(typ, []byte(payload))
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		a.t.Fatal(err)
	}
}

// sameByHand asks the command line what it folds, from the branch and from a folder.
func (m *memoryRig) sameByHand(t testing.TB, s *memory.State, dir string) {
	t.Helper()
	text := m.ledger(t, "memory", "status", "--json")
	if folder := command(t, m.dir, binary(t, "ledger"), "memory", "status", "--json", dir); folder != text {
		t.Errorf("the command line folds the branch and the restored folder differently:\n%s\n%s", text, folder)
	}
	var got struct {
		Diagnostics json.RawMessage
		Projects    []struct {
			Refs json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	same := func(what string, got json.RawMessage, want any) {
		t.Helper()
		text, err := json.Marshal(want)
		var compact bytes.Buffer
		if err == nil {
			err = json.Compact(&compact, got)
		}
		if err != nil || compact.String() != string(text) {
			t.Errorf("the command line has other %s: %v\n%s\n%s", what, err, compact.String(), text)
		}
	}
	same("diagnostics", got.Diagnostics, s.Diagnostics())
	same("refs", got.Projects[0].Refs, s.Refs("demo"))
}

func TestAgentPersistAndCommandLineFoldAlike(t *testing.T) {
	m := begunRig(t)
	for round := range 3 {
		a := m.agent(t, agentOne)
		ref := fmt.Sprintf("refs/sessions/one/r%d", round)
		head := ""
		for i := range 12 {
			in := args{"ref_name": ref, "message": "m", "operations": factOps(fmt.Sprint("k", i), fmt.Sprint("v", round)), "idempotency_key": fmt.Sprintf("%d-%d", round, i)}
			if head == "" {
				in["create_ref"] = true
			} else {
				in["expected_head"] = head
			}
			made := a.must("memory_changeset_create", in)
			head = made["changeset_id"].(string)
			// A third is forged, types that are persistence's own at the end, since what
			// follows on them is lost.
			typ, payload := forgery(t, m.state(t), i, ref, head, fmt.Sprintf("f%d-%d", round, i))
			a.forge(typ, payload)
		}
		a.must("memory_merge_propose", args{"source": ref, "message": "m", "idempotency_key": fmt.Sprint("p", round)})
		for _, typ := range []string{memory.TypeAdmission, memory.TypeMerge, memory.TypeReview} {
			a.forge(typ, `{"schema_version":"memory_git/v1"}`)
		}
		r := a.persist()
		if r.code != 0 || r.outputs["memory-accepted"] != "25" || r.outputs["memory-refused"] != "15" {
			t.Fatalf("exit %d, outputs %v\n%s\n%s", r.code, r.outputs, r.printed, r.summary)
		}
		s := m.state(t)
		if ref, _ := s.Ref("demo", ref); ref.Head.String() != head {
			t.Errorf("the ref is at %v, want %s", ref.Head, head)
		}
		want := s.Digest().String()
		if r.outputs["memory-state"] != want {
			t.Errorf("persist folds %s, want %s", r.outputs["memory-state"], want)
		}
		next := m.agent(t, agentTwo)
		if got := next.must("memory_status", args{})["restored_state"]; got != want {
			t.Errorf("the agent's server folds %v, want %s", got, want)
		}
		next.stop()
		m.sameByHand(t, s, next.setup.outputs["directory"])
		n := 0
		for _, d := range s.Diagnostics() {
			if d.Kind != memory.Refused {
				t.Errorf("%+v", d)
			}
			n++
		}
		if n != 12*(round+1) {
			t.Errorf("%d diagnostics", n)
		}
	}
}

func TestSixPersistsRaceAndEverySwapIsInTheReflog(t *testing.T) {
	m := begunRig(t)
	agents := make([]*memoryAgent, 6)
	for i := range agents {
		workflow := []string{agentOne, agentTwo}[i%2]
		actor := []string{"one", "two"}[i%2]
		a := m.agent(t, workflow)
		a.must("memory_changeset_create", args{"ref_name": fmt.Sprintf("refs/sessions/%s/s%d", actor, i), "create_ref": true, "message": "m", "operations": factOps("k", fmt.Sprint(i)), "idempotency_key": fmt.Sprint("s", i)})
		a.must("memory_changeset_create", args{"ref_name": "refs/agents/" + actor + "/main", "create_ref": true, "message": "m", "operations": factOps("n", fmt.Sprint(i)), "idempotency_key": fmt.Sprint("m", i)})
		a.stop()
		agents[i] = a
	}
	results := make([]trial, len(agents))
	var all sync.WaitGroup
	for i, a := range agents {
		all.Go(func() { results[i] = a.persist() })
	}
	all.Wait()
	lost := 0
	for i, r := range results {
		if r.code != 0 {
			t.Fatalf("persist %d: exit %d\n%s", i, r.code, r.printed)
		}
		switch r.outputs["memory-accepted"] + " " + r.outputs["memory-refused"] {
		case "4 0":
		case "3 1":
			lost++
			if !strings.Contains(r.summary, "stale-head") || !strings.Contains(r.summary, "current head") {
				t.Errorf("persist %d does not say why: %s", i, r.summary)
			}
		default:
			t.Errorf("persist %d: %v", i, r.outputs)
		}
	}
	if lost != 4 {
		t.Errorf("%d lost their swap, want 4 of 6", lost)
	}
	s := m.state(t)
	if err := s.Authorizes(); err != nil {
		t.Fatal(err)
	}
	if seq, _ := s.Seq(); seq != 7 {
		t.Errorf("the chain has %d links, want 7", seq)
	}
	refs := s.Refs("demo")
	if len(refs) != 6+2+1 {
		t.Errorf("%d refs", len(refs))
	}
	sets := map[string]bool{}
	for _, r := range refs {
		if len(r.Log) != 1 || r.Log[0].To != r.Head {
			t.Errorf("%s has the reflog %+v", r.Name, r.Log)
		}
		for _, c := range s.Log("demo", r.Head, 100) {
			sets[c.ID] = true
		}
	}
	// What lost its swap is kept, too.
	for i, a := range agents {
		text, err := os.ReadFile(filepath.Join(a.folder, "summary"))
		if err != nil || len(text) == 0 {
			t.Errorf("persist %d has no summary", i)
		}
	}
}
