package actions_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/repo-memory/ledger/pkg/branch"
	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/memory"
)

// story is the acceptance story of the specification, told by the real binaries on
// a real remote: two agents that persist and two people who review.
type story struct {
	*memoryRig
	t    *testing.T
	root string
}

func (s *story) main() string {
	s.t.Helper()
	r, ok := s.state(s.t).Ref("demo", memory.SharedMain)
	if !ok {
		s.t.Fatal("there is no refs/shared/main")
	}
	return r.Head.String()
}

func (s *story) changeset(name string) memory.ChangesetInfo {
	s.t.Helper()
	n, _ := memory.ParseName(name)
	c, ok := s.state(s.t).Changeset("demo", n)
	if !ok {
		s.t.Fatalf("changeset %s is not there", name)
	}
	return c
}

func (s *story) proposal(id string) memory.ProposalInfo {
	s.t.Helper()
	p, ok := s.state(s.t).Proposal("demo", id)
	if !ok {
		s.t.Fatalf("proposal %s is not there", id)
	}
	return p
}

// context is the accepted context as the operator's command prints it.
func (s *story) context(flags ...string) string {
	s.t.Helper()
	return s.ledger(s.t, append([]string{"memory", "context", "--project", "demo"}, flags...)...)
}

func text(v any) string { s, _ := v.(string); return s }

func op(typ string, payload args) args { return args{"op_type": typ, "payload": payload} }

func TestTwoAgentsAndTwoPeopleShareReviewedMemoryThroughTheRealBinaries(t *testing.T) {
	s := &story{memoryRig: newMemoryRig(t), t: t}
	one, two := s.begin()
	first, second := s.branch(one, two)
	s.fastForward(first)
	manifest, context := s.pin()
	s.mergeStale(second)
	s.mixed()
	s.revert(first)
	s.compacted(manifest, context)
	s.forged()
	s.boundaries()

	s.audited(t)
	if status := s.ledger(t, "memory", "status"); !strings.Contains(status, s.state(t).Digest().String()) {
		t.Errorf("the command line folds another state: %s", status)
	}
	s.ledger(t, "verify")
	s.ledger(t, "audit")
}

// begin is steps 1 to 3: the project has its root, and two agents start from it.
func (s *story) begin() (one, two *memoryAgent) {
	old := s.agent(s.t, agentOne, "INPUT_MEMORY_POLICY=")
	old.must("ledger_append", args{"type": "note", "payload": args{"content": "From before."}})
	old.remembers(0)
	opener := s.agent(s.t, agentOne)
	opener.must("ledger_append", args{"type": "note", "payload": args{"text": "hello"}})
	opener.remembers(0)
	s.root = s.main()
	if !strings.HasPrefix(s.root, memory.RootID+"@") {
		s.t.Errorf("main starts at %s", s.root)
	}
	if b := s.state(s.t).Baseline("demo"); len(b) != 1 || b[0].Content != "From before." || !b[0].Unreviewed {
		s.t.Errorf("the baseline is %+v", b)
	}
	one, two = s.agent(s.t, agentOne), s.agent(s.t, agentTwo)
	one.must("memory_branch_create", args{"ref_name": "refs/sessions/one/a", "idempotency_key": "b"})
	two.must("memory_branch_create", args{"ref_name": "refs/sessions/two/b", "idempotency_key": "b"})
	return one, two
}

// branch is steps 4 and 5: attributed changesets on each, and diffs that are the
// same whoever makes them and whenever.
func (s *story) branch(one, two *memoryAgent) (first, second [2]string) {
	commit := func(a *memoryAgent, ref string, ops ...args) [2]string {
		made := a.must("memory_changeset_create", args{"ref_name": ref, "expected_head": s.root, "message": "what I saw", "operations": ops, "idempotency_key": "c",
			"evidence_refs": []string{"https://example.org/" + ref}})
		proposed := a.must("memory_merge_propose", args{"source": ref, "message": "please", "idempotency_key": "p"})
		return [2]string{text(made["changeset_id"]), text(proposed["proposal_id"])}
	}
	first = commit(one, "refs/sessions/one/a", op("add_memory", args{"kind": "fact", "fact_key": "db.port", "content": "The port is 5432."}),
		op("add_memory", args{"kind": "decision", "subject": "cache", "content": "We use no cache."}))
	second = commit(two, "refs/sessions/two/b", op("add_memory", args{"kind": "fact", "fact_key": "lang", "content": "The service is in Go."}))
	one.remembers(4)
	two.remembers(4)
	for name, c := range map[string]memory.ChangesetInfo{agentOne: s.changeset(first[0]), agentTwo: s.changeset(second[0])} {
		if c.Author.Principal != name || c.Parents[0].String() != s.root || len(c.Evidence) != 1 {
			s.t.Errorf("changeset %s is by %s on %s", c.ID, c.Author.Principal, c.Parents[0])
		}
	}
	diff := func() string { return s.ledger(s.t, "memory", "diff", "--project", "demo", s.root, first[0]) }
	if d := diff(); d != diff() || !strings.Contains(d, `"decisions_changed":[{`) || strings.Count(d, `"change":"added"`) < 2 {
		s.t.Errorf("the diff is %s", d)
	}
	return first, second
}

// fastForward is step 6.
func (s *story) fastForward(first [2]string) {
	if r := s.shown(s.t, ada, first[1]); r.outputs["strategy"] != "fast_forward" || !strings.Contains(r.summary, "The port is 5432.") {
		s.t.Errorf("outputs %v", r.outputs)
	}
	s.land(s.t, ada, first[1])
	if s.main() != first[0] {
		s.t.Errorf("main is at %s, want %s", s.main(), first[0])
	}
}

// pin records what an agent was shown at this head.
func (s *story) pin() (manifest, context string) {
	reader := s.agent(s.t, agentTwo)
	pinned := reader.must("memory_context_at", args{"query": "port", "pin": true, "idempotency_key": "pin"})
	reader.remembers(1)
	manifest = text(pinned["manifest_id"])
	return manifest, s.context("--manifest", manifest)
}

// mergeStale is steps 7 and 8: the other proposal is stale, and an explicit merge
// keeps both histories.
func (s *story) mergeStale(second [2]string) {
	before := s.main()
	r := s.shown(s.t, ben, second[1])
	if r.outputs["strategy"] != "merge_commit" || !strings.Contains(r.summary, "stale_base") || !slices.ContainsFunc(s.proposal(second[1]).Conflicts, func(c memory.Conflict) bool { return c.Type == memory.StaleBase }) {
		s.t.Errorf("outputs %v\n%s", r.outputs, r.summary)
	}
	s.land(s.t, ben, second[1])
	merged := s.changeset(s.main())
	if len(merged.Parents) != 2 || merged.Parents[0].String() != before || merged.Parents[1].String() != second[0] {
		s.t.Errorf("the merge has the parents %v", merged.Parents)
	}
	log := s.ledger(s.t, "memory", "log", "--project", "demo")
	for _, name := range []string{s.root, before, second[0]} {
		if !strings.Contains(log, name) {
			s.t.Errorf("%s is not in the history", name)
		}
	}
}

// mixed is steps 9 to 11: of a changeset one decision contradicts another, the fact
// beside it is picked, and the rest rejected with its evidence.
func (s *story) mixed() {
	agent := s.agent(s.t, agentOne)
	made := agent.must("memory_changeset_create", args{"ref_name": "refs/sessions/one/c", "create_ref": true, "message": "more", "idempotency_key": "c2",
		"operations": []args{op("add_memory", args{"kind": "decision", "subject": "cache", "content": "We use Redis."}),
			op("add_memory", args{"kind": "fact", "fact_key": "team", "content": "The team is five."})},
		"evidence_refs": []string{"https://example.org/benchmark"}})
	name := text(made["changeset_id"])
	all := text(agent.must("memory_merge_propose", args{"source": "refs/sessions/one/c", "message": "all of it", "idempotency_key": "p2"})["proposal_id"])
	some := text(agent.must("memory_merge_propose", args{"source": "refs/sessions/one/c", "message": "the fact", "idempotency_key": "p3", "kind": "changeset",
		"selected_ops": []args{{"changeset_id": name, "ordinal": 1}}})["proposal_id"])
	agent.remembers(4)

	r := s.shown(s.t, ada, all)
	if r.outputs["blocking"] == "0" || !strings.Contains(r.summary, "contradictory_decision") {
		s.t.Errorf("outputs %v\n%s", r.outputs, r.summary)
	}
	s.review(s.t, ada, all, "operation=approve", "state-digest="+r.outputs["state-digest"]).want(s.t, 1, "conflicts: ", map[string]string{"status": "refused"})

	before := s.main()
	s.land(s.t, ada, some)
	picked := s.changeset(s.main())
	if len(picked.Parents) != 1 || picked.Parents[0].String() != before || !strings.Contains(picked.Ops[0].Text("cherrypicked_from"), name) {
		s.t.Errorf("the cherry-pick is %+v", picked.Changeset)
	}
	s.review(s.t, ben, all, "operation=reject", "findings=no cache was decided").want(s.t, 0, "", map[string]string{"proposal-status": "rejected"})
	kept := s.ledger(s.t, "memory", "show", "--project", "demo", name)
	if !strings.Contains(kept, "We use Redis.") || !strings.Contains(kept, "https://example.org/benchmark") {
		s.t.Errorf("the rejected work is %s", kept)
	}
	if p := s.proposal(all); len(p.Reviews) == 0 || p.Reviews[len(p.Reviews)-1].Findings[0] != "no cache was decided" {
		s.t.Errorf("the rejected proposal is %+v", p)
	}
	if c := s.context(); strings.Contains(c, "Redis") || !strings.Contains(c, "The team is five.") {
		s.t.Errorf("accepted is %s", c)
	}
}

// revert is steps 12 and 13: what was accepted is taken back by a new changeset,
// and the context of before can still be made.
func (s *story) revert(first [2]string) {
	before := s.main()
	agent := s.agent(s.t, agentTwo)
	made := agent.must("memory_revert_propose", args{"changeset_id": first[0], "ref_name": "refs/sessions/two/undo", "message": "it was wrong", "idempotency_key": "r"})
	agent.remembers(3)
	s.land(s.t, ada, text(made["proposal_id"]))
	then, now := s.context("--head", before), s.context()
	if !strings.Contains(then, "The port is 5432.") || strings.Contains(now, "The port is 5432.") || !strings.Contains(now, "in Go") {
		s.t.Errorf("before: %s\nafter: %s", then, now)
	}
	s.changeset(first[0])
}

// compacted is step 14: after more merges and a compaction a manifest gives the
// same bytes, to the operator and to an agent.
func (s *story) compacted(manifest, context string) {
	folder := s.folder(s.t)
	for _, role := range []string{"maintenance-plan", "maintenance-apply"} {
		env := s.job(s.t, folder, ada, "INPUT_MIN_SEGMENTS=2", "INPUT_TRIGGER=requested")
		if r := start(s.t, folder, role, env); r.code != 0 || role == "maintenance-apply" && r.outputs["status"] != "applied" {
			s.t.Fatalf("%s: exit %d, outputs %v\n%s", role, r.code, r.outputs, r.printed)
		}
	}
	if got := s.context("--manifest", manifest); got != context || !strings.Contains(got, "The port is 5432.") {
		s.t.Errorf("the pinned context was\n%sand is\n%s", context, got)
	}
	m, _ := s.state(s.t).Manifest("demo", manifest)
	reader := s.agent(s.t, agentOne)
	if c := reader.must("memory_context_at", args{"manifest_id": manifest}); c["content_digest"] != m.ContentDigest {
		s.t.Errorf("an agent gets %v", c)
	}
	reader.stop()
}

// forged is step 15: no route of an agent leads to refs/shared/main.
func (s *story) forged() {
	before := s.main()
	agent := s.agent(s.t, agentOne)
	agent.refuses("memory_changeset_create", args{"ref_name": memory.SharedMain, "expected_head": before, "message": "m", "operations": factOps("x", "y"), "idempotency_key": "f1"}, "protected-ref")
	agent.refuses("memory_branch_create", args{"ref_name": "refs/shared/mine", "idempotency_key": "f2"}, "protected-ref")
	for _, typ := range []string{memory.TypeMerge, memory.TypeAdmission, memory.TypeReview, memory.TypeRef} {
		agent.refuses("ledger_append", args{"type": typ, "payload": args{"schema_version": "memory_git/v1"}}, "")
	}
	made := agent.must("memory_changeset_create", args{"ref_name": "refs/sessions/one/f", "create_ref": true, "message": "m", "operations": factOps("x", "y"), "idempotency_key": "f3"})
	agent.stop()

	// What a server would not stage is put into the folder as a shard.
	head := text(made["changeset_id"])
	now := ledger.FormatTime(time.Now())
	name, _ := memory.ParseName(head)
	main, _ := memory.ParseName(before)
	author := memory.Author{Principal: ben, Actor: "ben"}
	forgeries := []struct {
		typ     string
		payload []byte
	}{
		{memory.TypeRef, (&memory.Movement{Project: "demo", Ref: memory.SharedMain, Author: memory.Author{Principal: agentOne, Actor: "one"}, Expected: main, Head: name, Key: "g1", CreatedAt: now}).Seal()},
		{memory.TypeRef, (&memory.Movement{Project: "demo", Ref: "refs/agents/two/main", Author: memory.Author{Principal: agentOne, Actor: "one"}, Head: name, Create: true, Key: "g2", CreatedAt: now}).Seal()},
		{memory.TypeRef, (&memory.Movement{Project: "demo", Ref: "refs/agents/ben/main", Author: author, Head: name, Create: true, Key: "g3", CreatedAt: now}).Seal()},
		{memory.TypeMerge, (&memory.Merge{Token: memory.Token{Bound: mergeBinding, MAC: strings.Repeat("0", 64), Envelope: memory.Envelope{Project: "demo", Ref: memory.SharedMain, Expected: main, NewHead: name,
			Proposal: "01900000-0000-7000-8000-000000000000", StateDigest: "sha256:" + strings.Repeat("0", 64), Reviewer: ada, Merger: ben, Strategy: memory.FastForward,
			IssuedAt: now, Expires: now, Nonce: strings.Repeat("0", 64), KeyID: "2026"}}, MergedAt: now}).Seal()},
		{memory.TypeAdmission, (&memory.Admission{Seq: 1, Principal: memory.Principal{ID: ben, Actor: "ben"}, Workflow: "x", Run: "1/1"}).Seal()},
	}
	snap, err := branch.Read(s.t.Context(), s.remoteOf(s.t), "ledgers/memory", branch.Limits{})
	if err != nil {
		s.t.Fatal(err)
	}
	var shard strings.Builder
	for i, f := range forgeries {
		r, err := ledger.Seal(ledger.Draft{ID: fmt.Sprintf("ldg-00000000-0000-4000-8000-%012d", i), Parents: ledger.OpenSnapshot(snap, ledger.DefaultLimits()).Heads(), Payload: f.payload, Timestamp: now, Type: f.typ})
		if err != nil {
			s.t.Fatal(err)
		}
		shard.WriteString(string(r.Line()) + "\n")
	}
	write(s.t, filepath.Join(agent.setup.outputs["directory"], "ledger", "shards", "f0f0f0f0-0000-4000-8000-000000000001.jsonl"), shard.String())
	r := agent.persist()
	if r.code != 0 || r.outputs["memory-accepted"] != "2" || r.outputs["memory-refused"] != fmt.Sprint(len(forgeries)) {
		s.t.Errorf("persist: exit %d, outputs %v\n%s\n%s", r.code, r.outputs, r.printed, r.summary)
	}
	if s.main() != before {
		s.t.Errorf("main moved to %s", s.main())
	}
	for _, ref := range []string{"refs/agents/two/main", "refs/agents/ben/main"} {
		if _, there := s.state(s.t).Ref("demo", ref); there {
			s.t.Errorf("%s was made", ref)
		}
	}
}

// boundaries is step 16: nothing crosses projects, and nothing private reaches a
// shared ref without a conflict that a person has to name.
func (s *story) boundaries() {
	foreign := s.agent(s.t, agentTwo, "INPUT_MEMORY_PROJECT=other")
	if _, err := os.Stat(foreign.setup.outputs["mcp-config"]); err != nil {
		s.t.Fatal(err)
	}
	if tools := foreign.exchange(`{"jsonrpc":"2.0","id":99,"method":"tools/list"}`); strings.Contains(tools, "memory_status") {
		s.t.Errorf("an agent has tools for a project that is not its own: %s", tools)
	}
	foreign.stop()

	opener := s.agent(s.t, agentOne, "INPUT_MEMORY_PROJECT=other")
	opener.must("ledger_append", args{"type": "note", "payload": args{"n": 1}})
	opener.remembers(0)
	crossing := s.agent(s.t, agentOne, "INPUT_MEMORY_PROJECT=other")
	crossing.refuses("memory_branch_create", args{"ref_name": "refs/sessions/one/x", "from": s.main(), "idempotency_key": "x1"}, "unreadable")
	crossing.refuses("memory_changeset_create", args{"ref_name": "refs/sessions/one/x", "create_ref": true, "message": "m", "idempotency_key": "x2",
		"operations": []args{{"op_type": "correct_memory", "target_event_id": s.memoryID("The team is five."), "payload": args{"content": "The team is six."}}}}, "operation")
	crossing.stop()
	if c := s.ledger(s.t, "memory", "context", "--project", "other", "--include-baseline"); strings.Contains(c, "The team is five.") {
		s.t.Errorf("the other project holds %s", c)
	}

	agent := s.agent(s.t, agentOne)
	agent.must("memory_changeset_create", args{"ref_name": "refs/sessions/one/p", "create_ref": true, "message": "m", "idempotency_key": "s1",
		"operations": []args{op("add_memory", args{"content": "Ada is on leave.", "visibility": "private"})}})
	proposal := text(agent.must("memory_merge_propose", args{"source": "refs/sessions/one/p", "message": "m", "idempotency_key": "s2"})["proposal_id"])
	agent.remembers(3)
	r := s.shown(s.t, ada, proposal)
	flow := r.outputs["acknowledge"]
	if flow == "" || !strings.Contains(r.summary, "scope_flow") {
		s.t.Errorf("outputs %v\n%s", r.outputs, r.summary)
	}
	s.review(s.t, ada, proposal, "operation=approve", "state-digest="+r.outputs["state-digest"]).want(s.t, 1, "conflicts: 1 open conflicts want to be acknowledged by id", nil)
	s.review(s.t, ada, proposal, "operation=approve", "state-digest="+r.outputs["state-digest"], "conflicts="+flow).want(s.t, 0, "approve: done", nil)
}

// memoryID is the id of an accepted memory.
func (s *story) memoryID(content string) string {
	s.t.Helper()
	var c struct {
		Memories []struct{ ID, Content string }
	}
	if err := json.Unmarshal([]byte(s.context()), &c); err != nil {
		s.t.Fatal(err)
	}
	for _, m := range c.Memories {
		if m.Content == content {
			return m.ID
		}
	}
	s.t.Fatalf("no memory %q", content)
	return ""
}
