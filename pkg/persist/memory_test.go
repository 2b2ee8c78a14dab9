package persist

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/memory"
)

const agentWorkflow = ".github/workflows/agent.yml"

const memoryPolicy = `version: memory-policy/v1
principals:
  - workflow: .github/workflows/agent.yml
    actor: one
    scopes: [memory.read, memory.branch, memory.commit, memory.propose]
    projects: [demo, other]
  - workflow: .github/workflows/two.yml
    actor: two
    scopes: [memory.read, memory.branch, memory.commit, memory.propose]
    projects: [demo]
  - workflow: .github/workflows/reader.yml
    actor: reader
    scopes: [memory.read]
    projects: [demo]
`

func policy(t testing.TB, text string) *memory.Policy {
	t.Helper()
	p, err := memory.ParsePolicy([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// persists counts the runs, of which each makes ids of its own.
var persists byte

// remembering are options under which an agent's memory is admitted.
func remembering(t testing.TB, principal string) Options {
	o := options()
	persists++
	o.Memory = Memory{Policy: policy(t, memoryPolicy), Principal: principal, Project: "demo", Workflow: principal, Run: "7/1", Seed: [32]byte{1, 1, persists}}
	return o
}

// begun is a branch with a plain record and the project's root.
func begun(t testing.TB) ledger.Snapshot {
	t.Helper()
	c, r := run(t, map[string]string{shard(1): lines(record(t, 1))}, ledger.Snapshot{}, remembering(t, agentWorkflow))
	if r.Memory == nil || r.Memory.Made != 2 || r.Records != 1 {
		t.Fatalf("the project was not begun: %+v", r.Memory)
	}
	return apply(ledger.Snapshot{}, c)
}

// agent makes records as an agent's server does, one on the other.
type agent struct {
	t       testing.TB
	state   *memory.State
	entry   memory.Principal
	random  *rand.ChaCha8
	parents []ledger.Hash
	records []ledger.Record
	keys    int
}

func newAgent(t testing.TB, s ledger.Snapshot, principal string, seed byte) *agent {
	t.Helper()
	l := ledger.OpenSnapshot(s, ledger.DefaultLimits())
	entry, refused := policy(t, memoryPolicy).Principal(principal)
	if refused != nil {
		t.Fatal(refused)
	}
	return &agent{t: t, state: memory.Fold(l), entry: entry, random: rand.NewChaCha8([32]byte{seed}), parents: l.Heads()}
}

func (a *agent) Agent() memory.Agent {
	return memory.Agent{Principal: a.entry, Now: now.Add(-time.Minute), Random: a.random, Limits: ledger.DefaultLimits(), Parents: 1}
}

// record stages a record of any type.
func (a *agent) record(typ string, payload []byte) ledger.Record {
	a.t.Helper()
	id, err := ledger.NewUUID(a.random)
	if err != nil {
		a.t.Fatal(err)
	}
	r := seal(a.t, ledger.Draft{ID: "ldg-" + id, Parents: slices.Clone(a.parents), Payload: payload, Timestamp: ledger.FormatTime(now.Add(-time.Minute)), Type: typ})
	a.parents, a.records = []ledger.Hash{r.SHA()}, append(a.records, r)
	return r
}

func (a *agent) request(q memory.Request, err error) memory.Request {
	a.t.Helper()
	if err != nil {
		a.t.Fatal(err)
	}
	for _, d := range q.Records {
		if err := a.state.Stage(a.entry, a.record(d.Type, d.Payload)); err != nil {
			a.t.Fatal(err)
		}
	}
	return q
}

func (a *agent) key() string {
	a.keys++
	return fmt.Sprintf("%s-%d", a.entry.Actor, a.keys)
}

func (a *agent) head(ref string) memory.Name {
	a.t.Helper()
	r, ok := a.state.Ref("demo", ref)
	if !ok {
		a.t.Fatalf("there is no %s", ref)
	}
	return r.Head
}

// commit commits a fact to the actor's session, which is made when it is not there.
func (a *agent) commit(session, content string) memory.Name {
	a.t.Helper()
	return a.add(session, fmt.Sprintf(`{"kind":"fact","fact_key":%q,"content":%q}`, "k-"+content, content))
}

// add commits one memory.
func (a *agent) add(session, payload string) memory.Name {
	a.t.Helper()
	op, refused := memory.NewOp(memory.AddMemory, "", "", []byte(payload))
	if refused != nil {
		a.t.Fatal(refused)
	}
	q := memory.Commit{Project: "demo", Ref: "refs/sessions/" + a.entry.Actor + "/" + session, Message: "work", Key: a.key(), Ops: []memory.Op{op}}
	if r, there := a.state.Ref("demo", q.Ref); there {
		q.Expected = r.Head
	} else {
		q.Create, q.Parents = true, []memory.Name{a.head(memory.SharedMain)}
	}
	request, err := a.state.Commit(a.Agent(), q)
	return a.request(request, err).Name
}

func (a *agent) propose(head memory.Name) string {
	a.t.Helper()
	q, err := a.state.Propose(a.Agent(), memory.Proposal{Project: "demo", Head: head, Message: "please", Key: a.key()})
	return a.request(q, err).ID
}

func (a *agent) staging() map[string]string { return map[string]string{shard(2): lines(a.records...)} }

// foldOf is the state of a branch, whose chain must be whole.
func foldOf(t testing.TB, s ledger.Snapshot) *memory.State {
	t.Helper()
	state := memory.Fold(ledger.OpenSnapshot(s, ledger.DefaultLimits()))
	if err := state.Authorizes(); err != nil {
		t.Fatal(err)
	}
	for _, d := range state.Diagnostics() {
		if d.Kind != memory.Refused {
			t.Errorf("%+v", d)
		}
	}
	return state
}

func wantMemory(t testing.TB, r Report, accepted, without int) {
	t.Helper()
	if m := r.Memory; m == nil || m.Accepted != accepted || m.Without.Count != without {
		t.Errorf("memory is %+v, want %d accepted and %d without effect", m, accepted, without)
	}
}

// wantWithout asks that one record has no effect, for a reason that has these words.
func wantWithout(t testing.TB, r Report, record ledger.Record, words string) {
	t.Helper()
	i := slices.IndexFunc(r.Memory.Without.Items, func(i Item) bool { return i.SHA == record.SHA() })
	if i < 0 {
		t.Errorf("the record has effect; want %q", words)
	} else if reason := r.Memory.Without.Items[i].Reason; !strings.Contains(reason, words) {
		t.Errorf("the reason is %q, want %q", reason, words)
	}
}

func TestMemoryOfAnAgentIsAdmittedInTheSameCommit(t *testing.T) {
	s := begun(t)
	a := newAgent(t, s, agentWorkflow, 1)
	plain := a.record("note", []byte(`{"n":1}`))
	name := a.commit("s", "the port is 80")
	proposal := a.propose(name)
	c, r := run(t, a.staging(), s, remembering(t, agentWorkflow))
	wantMemory(t, r, 3, 0)
	wantCounts(t, r, 4, 0, 0)
	after := apply(s, c)
	state := foldOf(t, after)
	if ref, ok := state.Ref("demo", "refs/sessions/one/s"); !ok || ref.Head != name {
		t.Errorf("the session's ref is %+v", ref)
	}
	p, ok := state.Proposal("demo", proposal)
	if !ok || p.Status != memory.ProposalOpen {
		t.Errorf("the proposal is %+v", p)
	}
	l := ledger.OpenSnapshot(after, ledger.DefaultLimits())
	if heads := l.Heads(); len(heads) != 1 {
		t.Errorf("%d heads", len(heads))
	} else if last, _ := l.Get(heads[0]); last.Type() != memory.TypeAdmission {
		t.Errorf("the head is a %s", last.Type())
	}
	if !l.Has(plain.SHA()) || !strings.Contains(c.Message, "add 4 records and 2 records that admit memory") {
		t.Errorf("the message is %q", c.Message)
	}
	var types []string
	for record := range l.Records() {
		types = append(types, record.Type())
	}
	want := "note memory.changeset memory.admission note memory.changeset memory.ref memory.proposal memory.manifest memory.admission"
	if got := strings.Join(types, " "); got != want {
		t.Errorf("the branch holds %s", got)
	}
}

func TestTheSameStagingIsAdmittedOnce(t *testing.T) {
	s := begun(t)
	a := newAgent(t, s, agentWorkflow, 1)
	a.commit("s", "the port is 80")
	a.commit("s", "the host is up")
	forged := a.record(memory.TypeRef, []byte(`{"no":"movement"}`))
	c, r := run(t, a.staging(), s, remembering(t, agentWorkflow))
	wantMemory(t, r, 4, 1)
	wantWithout(t, r, forged, "shape")
	after := apply(s, c)
	again, r := run(t, a.staging(), after, remembering(t, agentWorkflow))
	if len(again.Add) != 0 {
		t.Errorf("a lost reply makes a second admission: %v", len(again.Add))
	}
	wantMemory(t, r, 4, 1)
	wantWithout(t, r, forged, "shape")
	seq, _ := foldOf(t, after).Seq()
	if seq != 2 {
		t.Errorf("the chain has %d links", seq)
	}
	// Nor does it when maintenance put the records into another shard meanwhile.
	var all []ledger.Record
	for record := range ledger.OpenSnapshot(after, ledger.DefaultLimits()).Records() {
		all = append(all, record)
	}
	whole, err := ledger.BuildSegment(all, madeMetadata[1], 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	compacted := branchOf(map[string]string{ledger.ShardPath(whole.ID): string(whole.Content)})
	again, r = run(t, a.staging(), compacted, remembering(t, agentWorkflow))
	if len(again.Add) != 0 || r.Memory.Refused != nil {
		t.Errorf("after compaction: %d files, %+v", len(again.Add), r.Memory)
	}
	wantMemory(t, r, 4, 1)
}

func TestTheChangeForOneHeadIsTheSameEveryTime(t *testing.T) {
	s := begun(t)
	a := newAgent(t, s, agentWorkflow, 1)
	a.propose(a.commit("s", "the port is 80"))
	staged := prepare(t, tree(t, a.staging()), remembering(t, agentWorkflow))
	first, _, err := staged.Change(s)
	if err != nil {
		t.Fatal(err)
	}
	second, _, err := staged.Change(s)
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(first) != fmt.Sprint(second) {
		t.Error("two changes for one head differ")
	}
}

func TestAMovementThatLostItsSwapKeepsItsChangeset(t *testing.T) {
	s := begun(t)
	base := newAgent(t, s, agentWorkflow, 1)
	base.commit("s", "first")
	c, _ := run(t, base.staging(), s, remembering(t, agentWorkflow))
	s = apply(s, c)
	left, right := newAgent(t, s, agentWorkflow, 2), newAgent(t, s, agentWorkflow, 3)
	left.keys, right.keys = 10, 20
	won := left.commit("s", "left")
	lost := right.commit("s", "right")
	c, _ = run(t, left.staging(), s, remembering(t, agentWorkflow))
	s = apply(s, c)
	c, r := run(t, right.staging(), s, remembering(t, agentWorkflow))
	wantMemory(t, r, 1, 1)
	wantWithout(t, r, right.records[1], "stale-head: the ref moved on: rebase, merge, or drop the change (current head "+won.String())
	state := foldOf(t, apply(s, c))
	if ref, _ := state.Ref("demo", "refs/sessions/one/s"); ref.Head != won {
		t.Errorf("the head is %v", ref.Head)
	}
	if _, kept := state.Changeset("demo", lost); !kept {
		t.Error("the changeset is lost")
	}
}
