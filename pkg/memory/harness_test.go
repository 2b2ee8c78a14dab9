package memory

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// world is a branch with everybody who works on it.
type world struct {
	t      testing.TB
	lines  []byte
	now    time.Time
	random *rand.ChaCha8
	policy *Policy
	limits ledger.Limits
}

const policyText = `version: memory-policy/v1
principals:
  - workflow: .github/workflows/one.yml
    actor: one
    scopes: [memory.read, memory.branch, memory.commit, memory.propose]
    projects: [demo, other]
  - workflow: .github/workflows/two.yml
    actor: two
    scopes: [memory.search, memory.branch, memory.commit, memory.propose]
    projects: [demo]
    topics: [owned, kept]
  - user: 11
    actor: ada
    scopes: [memory.read, memory.review, memory.merge, memory.commit, memory.branch, memory.propose]
    projects: [demo, other]
  - user: 12
    actor: ben
    scopes: [memory.read, memory.review, memory.merge, memory.write]
    projects: [demo]
  - workflow: .github/workflows/reader.yml
    actor: reader
    scopes: [memory.read]
    projects: [demo]
`

const (
	one = ".github/workflows/one.yml"
	two = ".github/workflows/two.yml"
	ada = "11"
	ben = "12"
)

func newWorld(t testing.TB) *world {
	policy, err := ParsePolicy([]byte(policyText))
	if err != nil {
		t.Fatal(err)
	}
	var seed [32]byte
	w := &world{t: t, now: time.Date(2026, 11, 30, 8, 0, 0, 0, time.UTC), random: rand.NewChaCha8(seed), policy: policy, limits: ledger.DefaultLimits()}
	return w
}

const shardName = "ledger/shards/00000000-0000-4000-8000-000000000001.jsonl"

func (w *world) ledger() *ledger.Ledger {
	limits := w.limits
	limits.MaxSegmentBytes = 1 << 30
	return ledger.OpenSnapshot(ledger.Snapshot{Files: map[string][]byte{shardName: w.lines}}, limits)
}

func (w *world) fold() *State { return Fold(w.ledger()) }

func (w *world) principal(id string) Principal {
	w.t.Helper()
	p, fault := w.policy.Principal(id)
	if fault != nil {
		w.t.Fatal(fault)
	}
	return p
}

func (w *world) clerk(id string) Clerk {
	w.now = w.now.Add(time.Second)
	return Clerk{Principal: w.principal(id), Workflow: ".github/workflows/trusted.yml", Run: "1/1", Now: w.now, Random: w.random, Limits: w.limits}
}

func (w *world) agent(id string) Agent {
	w.now = w.now.Add(time.Second)
	return Agent{Principal: w.principal(id), Now: w.now, Random: w.random, Limits: w.limits, Parents: 2}
}

func (w *world) publish(records []ledger.Record) {
	for _, r := range records {
		w.lines = append(append(w.lines, r.Line()...), '\n')
	}
}

// seal makes a record on top of parents.
func (w *world) seal(typ string, payload []byte, parents ...ledger.Hash) ledger.Record {
	w.t.Helper()
	id, _ := ledger.NewUUID(w.random)
	r, err := ledger.Seal(ledger.Draft{ID: "ldg-" + id, Parents: parents, Payload: payload, Timestamp: ledger.FormatTime(w.now), Type: typ})
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// stage seals drafts one on the other, on the heads of the branch.
func (w *world) stage(drafts ...RecordDraft) []ledger.Record {
	parents := w.ledger().Heads()
	parents = parents[:min(len(parents), ledger.MaxParents)]
	var records []ledger.Record
	for _, d := range drafts {
		r := w.seal(d.Type, d.Payload, parents...)
		parents = []ledger.Hash{r.SHA()}
		records = append(records, r)
	}
	return records
}

// persist judges and publishes staged records.
func (w *world) persist(id string, records ...ledger.Record) Judgement {
	w.t.Helper()
	j, err := w.fold().Judge(w.clerk(id), w.policy, records)
	if err != nil {
		w.t.Fatal(err)
	}
	w.publish(records)
	w.publish(j.Records)
	return j
}

// must persists a request of which everything has to be accepted.
func (w *world) must(id string, q Request, err error) Request {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
	for _, v := range w.persist(id, w.stage(q.Records...)...).Verdicts {
		if !v.Accepted {
			w.t.Fatalf("refused: %v", v.Refusal())
		}
	}
	return q
}

func (w *world) ref(name string) Name {
	w.t.Helper()
	r, ok := w.fold().Ref("demo", name)
	if !ok {
		w.t.Fatalf("no ref %s", name)
	}
	return r.Head
}

// root starts the project.
func (w *world) root() Name {
	w.t.Helper()
	records, err := w.fold().Init(w.clerk(ben), "demo")
	if err != nil {
		w.t.Fatal(err)
	}
	w.publish(records)
	return w.ref(SharedMain)
}

var keyCount int

func nextKey() string {
	keyCount++
	return fmt.Sprintf("key-%d", keyCount)
}

// op makes an op from JSON.
func op(t OpType, target, result, payload string) Op {
	o, fault := NewOp(t, target, result, []byte(payload))
	if fault != nil {
		panic(fault)
	}
	return o
}

func fact(key, content string) Op {
	return op(AddMemory, "", "", fmt.Sprintf(`{"kind":"fact","fact_key":%q,"content":%q}`, key, content))
}

func decision(subject, content string) Op {
	return op(AddMemory, "", "", fmt.Sprintf(`{"kind":"decision","subject":%q,"content":%q}`, subject, content))
}

// session is the ref of an actor's session.
func session(actor, name string) string { return "refs/sessions/" + actor + "/" + name }

// commit commits ops to a session ref, which it creates at main where it is not there.
func (w *world) commit(id, ref string, ops ...Op) Name {
	w.t.Helper()
	s := w.fold()
	q := Commit{Project: "demo", Ref: ref, Message: "work", Key: nextKey(), Ops: ops}
	if r, ok := s.Ref("demo", ref); ok {
		q.Expected = r.Head
	} else {
		q.Create, q.Parents = true, []Name{w.ref(SharedMain)}
	}
	request, err := s.Commit(w.agent(id), q)
	return w.must(id, request, err).Name
}

// propose proposes a head for main.
func (w *world) propose(id string, head Name, selected ...Selection) string {
	w.t.Helper()
	q := Proposal{Project: "demo", Head: head, Message: "please", Key: nextKey(), Selected: selected}
	if len(selected) > 0 {
		q.Kind = ChangesetProposal
	}
	request, err := w.fold().Propose(w.agent(id), q)
	return w.must(id, request, err).ID
}

func (w *world) show(id, proposal string) *Presentation {
	w.t.Helper()
	records, v, err := w.fold().Show(w.clerk(id), "demo", proposal, true)
	if err != nil {
		w.t.Fatal(err)
	}
	w.publish(records)
	return v
}

var testBinding = Binding{"github.com", "4242", "memory", "ledgers/memory"}

func testRing(t testing.TB) *KeyRing {
	ring, err := ParseKeyRing("new=" + strings.Repeat("a1", 32) + ",old=" + strings.Repeat("b2", 32))
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

func (w *world) uuid7() string {
	id, err := NewUUIDv7(w.now, w.random)
	if err != nil {
		w.t.Fatal(err)
	}
	return id
}

func (w *world) nonce() []byte {
	b := make([]byte, nonceBytes)
	for i := 0; i < len(b); i += 8 {
		binary.BigEndian.PutUint64(b[i:], w.random.Uint64())
	}
	return b
}

func (w *world) approval(id string, v *Presentation) ApproveRequest {
	return ApproveRequest{Project: "demo", Proposal: v.Proposal.ID, ReviewID: w.uuid7(), StateDigest: v.StateDigest, Life: 10 * time.Minute, Nonce: w.nonce(),
		Run: RunFacts{Attempt: 1, Actor: id, TriggeringActor: id, WorkflowOnDefaultBranch: true}, Keys: testRing(w.t), Binding: testBinding}
}

// acknowledge names all conflicts that ask for it.
func acknowledge(q ApproveRequest, v *Presentation) ApproveRequest {
	for _, c := range v.Conflicts {
		if c.Severity == Asks {
			q.Acknowledged = append(q.Acknowledged, c.ID)
		}
	}
	return q
}

func (w *world) approve(id, proposal string) *Token {
	w.t.Helper()
	v := w.show(id, proposal)
	records, token, err := w.fold().Approve(w.clerk(id), acknowledge(w.approval(id, v), v))
	if err != nil {
		w.t.Fatal(err)
	}
	w.publish(records)
	return token
}

func (w *world) recordID() string {
	id, _ := ledger.NewUUID(w.random)
	return "ldg-" + id
}

func (w *world) tryMerge(id string, token *Token) error {
	records, err := w.fold().Merge(w.clerk(id), MergeRequest{Token: token, Keys: testRing(w.t), Binding: testBinding, RecordID: w.recordID()})
	w.publish(records)
	return err
}

// land takes a proposal through review and merge by ada.
func (w *world) land(proposal string) {
	w.t.Helper()
	if err := w.tryMerge(ada, w.approve(ada, proposal)); err != nil {
		w.t.Fatal(err)
	}
}

// clean fails on a chain that is broken or that the fold does not bear out.
func (w *world) clean() *State {
	w.t.Helper()
	s := w.fold()
	if err := s.Authorizes(); err != nil {
		w.t.Fatal(err)
	}
	for _, d := range s.Diagnostics() {
		if d.Kind == Contradicted || d.Kind == NoLink {
			w.t.Fatalf("%+v", d)
		}
	}
	if f := s.Reconcile(testRing(w.t), testBinding); len(f) > 0 {
		w.t.Fatalf("reconcile: %+v", f)
	}
	return s
}

func reasonOf(err error) Reason {
	var r *Refusal
	if errors.As(err, &r) {
		return r.Reason
	}
	return ""
}

func wantReason(t testing.TB, err error, want Reason) {
	t.Helper()
	if got := reasonOf(err); got != want {
		t.Helper()
		t.Errorf("got %v, want the reason %s", err, want)
	}
}

func ids(list []Memory) string {
	var s []string
	for _, m := range list {
		s = append(s, m.Content)
	}
	return strings.Join(s, " | ")
}
