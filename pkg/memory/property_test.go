package memory

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/ledger"
)

// busy is a branch on which all kinds of accepted and refused things happened.
func busy(t testing.TB) *world {
	w := newWorld(t)
	w.publish(w.stage(RecordDraft{"note", []byte(`{"content":"before"}`)}))
	w.root()
	a := w.commit(one, session("one", "a"), fact("db.port", "5432"), decision("cache", "none"))
	b := w.commit(two, session("two", "b"), fact("db.port", "5433"))
	p := w.propose(one, a)
	w.land(p)
	w.propose(two, b) // conflicts, and stays open
	c := w.commit(one, session("one", "a"), op(AddMemory, "", "m1", `{"content":"one","visibility":"private"}`))
	w.propose(one, c)
	// A lost swap, a foreign ref, a forged author, a merge and an admission of an agent.
	s := w.fold()
	q, err := s.Commit(w.agent(two), Commit{Project: "demo", Ref: session("two", "b"), Expected: b, Message: "m", Key: nextKey(), Ops: []Op{fact("x", "y")}})
	if err != nil {
		t.Fatal(err)
	}
	w.commit(two, session("two", "b"), fact("z", "z"))
	w.persist(two, w.stage(q.Records...)...)
	w.persist(two, w.stage(w.hostile(rand.New(rand.NewPCG(1, 1)), 5)...)...)
	return w
}

// hostile makes records of all kinds that an agent could stage: copies and
// alterations of what stands, and forgeries of what only trusted jobs write.
func (w *world) hostile(r *rand.Rand, n int) []RecordDraft {
	s := w.fold()
	var payloads []RecordDraft
	for record := range w.ledger().Records() {
		if strings.HasPrefix(record.Type(), "memory.") && record.Type() != TypeAdmission {
			payloads = append(payloads, RecordDraft{record.Type(), record.Payload()})
		}
	}
	heads := s.Refs("demo")
	types := []string{TypeChangeset, TypeRef, TypeProposal, TypeReview, TypeConflict, TypeMerge, TypeManifest, "memory.other", "note"}
	var drafts []RecordDraft
	for range n {
		d := payloads[r.IntN(len(payloads))]
		head := heads[r.IntN(len(heads))].Head
		switch r.IntN(6) {
		case 0: // another type around the same payload
			d.Type = types[r.IntN(len(types))]
		case 1: // a byte changed
			d.Payload = slices.Clone(d.Payload)
			if i := r.IntN(len(d.Payload)); d.Payload[i] >= '0' && d.Payload[i] <= 'y' && d.Payload[i] != '\\' {
				d.Payload[i]++
			}
		case 2: // a protected ref moved
			m := &Movement{Project: "demo", Ref: SharedMain, Author: Author{one, "", "one"}, Expected: head, Head: heads[0].Head, Key: "k", CreatedAt: ledger.FormatTime(w.now)}
			d = RecordDraft{TypeRef, m.Seal()}
		case 3: // a new root
			c := &Changeset{ID: RootID, Project: "demo", Ref: SharedMain, Author: Author{one, "", "one"}, Message: "m", CreatedAt: ledger.FormatTime(w.now), Key: "k"}
			d = RecordDraft{TypeChangeset, c.Seal()}
		case 4: // somebody else's changeset
			c := &Changeset{ID: w.uuid7(), Project: "demo", Ref: session("two", "b"), Parents: []Name{head}, Author: Author{two, "", "two"}, Message: "m",
				CreatedAt: ledger.FormatTime(w.now), Key: "k", Ops: []Op{fact("db.port", "666")}}
			d = RecordDraft{TypeChangeset, c.Seal()}
		case 5: // an approval
			v := &Review{ID: w.uuid7(), Project: "demo", Proposal: w.uuid7(), Operation: Reject, Reviewer: Author{ada, "", "ada"}, CreatedAt: ledger.FormatTime(w.now)}
			if p := s.Proposals("demo"); len(p) > 0 {
				v.Proposal = p[r.IntN(len(p))].ID
			}
			d = RecordDraft{TypeReview, v.Seal()}
		}
		if canonical.Valid(d.Payload) {
			drafts = append(drafts, d)
		}
	}
	return drafts
}

// TestNothingThatIsStagedLaterChangesWhatWasAccepted adds 10,000 hostile records
// with parents anywhere, hundreds at a time and also one by one.
func TestNothingThatIsStagedLaterChangesWhatWasAccepted(t *testing.T) {
	w := busy(t)
	want := dump(w.fold())
	r := rand.New(rand.NewPCG(7, 7))
	var everything []ledger.Hash
	for record := range w.ledger().Records() {
		everything = append(everything, record.SHA())
	}
	clean := w.lines
	drafts := w.hostile(r, 10_500)
	added := 0
	for len(drafts) > 0 {
		n := min(len(drafts), 1+r.IntN(400))
		w.lines = slices.Clip(clean)
		for _, d := range drafts[:n] {
			parents := []ledger.Hash{}
			for range r.IntN(3) {
				parents = append(parents, everything[r.IntN(len(everything))])
			}
			slices.SortFunc(parents, ledger.Hash.Compare)
			id, _ := ledger.NewUUID(w.random)
			record, err := ledger.Seal(ledger.Draft{ID: "ldg-" + id, Parents: slices.Compact(parents), Payload: d.Payload, Timestamp: ledger.FormatTime(w.now), Type: d.Type})
			if err != nil {
				t.Fatal(err)
			}
			w.publish([]ledger.Record{record})
			added++
		}
		drafts = drafts[n:]
		s := w.fold()
		if got := dump(s); got != want {
			t.Fatalf("hostile records changed the state:\n%s\nwant\n%s", got, want)
		}
		if err := s.Authorizes(); err != nil {
			t.Fatal(err)
		}
	}
	if added < 10_000 {
		t.Errorf("only %d records were added", added)
	}
}

func TestHostileStagingsAreRefusedOneByOneAndChangeNothing(t *testing.T) {
	w := busy(t)
	before := w.fold()
	main, proposals := w.ref(SharedMain), len(before.Proposals("demo"))
	r := rand.New(rand.NewPCG(9, 9))
	allow := Allow(w.policy, one)
	for range 40 {
		var records []ledger.Record
		for _, record := range w.stage(w.hostile(r, 10)...) {
			if allow(record.Type()) {
				records = append(records, record)
			}
		}
		w.persist(one, records...)
	}
	s := w.clean()
	if head, _ := s.Ref("demo", SharedMain); head.Head != main {
		t.Error("an agent moved refs/shared/main")
	}
	for _, p := range s.Proposals("demo")[:proposals] {
		if p.Status == ProposalRejected {
			t.Error("an agent's review took effect")
		}
	}
}

// TestAFoldInStepsIsAFoldAtOnce folds a history of which a third is hostile in
// one go, as persist does, record by record, as an agent's server does, and in
// another order.
func TestAFoldInStepsIsAFoldAtOnce(t *testing.T) {
	w := busy(t)
	r := rand.New(rand.NewPCG(3, 3))
	clean := slices.Collect(w.ledger().Records())
	for _, d := range w.hostile(r, len(clean)/2) {
		id, _ := ledger.NewUUID(w.random)
		if record, err := ledger.Seal(ledger.Draft{ID: "ldg-" + id, Payload: d.Payload, Timestamp: ledger.FormatTime(w.now), Type: d.Type}); err == nil {
			w.publish([]ledger.Record{record})
		}
	}
	whole := w.fold()
	want := dump(whole) + string(canonicalJSON(whole.Diagnostics()))
	records := slices.Collect(w.ledger().Added(0))
	for range 3 {
		r.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
		dir := t.TempDir()
		writeShard(t, dir, nil)
		l, err := ledger.Open(dir, w.ledger().Limits())
		if err != nil {
			t.Fatal(err)
		}
		s := Fold(l)
		var lines []byte
		for _, record := range records {
			lines = append(append(lines, record.Line()...), '\n')
			if r.IntN(4) == 0 {
				writeShard(t, dir, lines)
				if err := l.Refresh(); err != nil {
					t.Fatal(err)
				}
				s.Advance()
			}
		}
		writeShard(t, dir, lines)
		if err := l.Refresh(); err != nil {
			t.Fatal(err)
		}
		s.Advance()
		_ = l.Close()
		if got := dump(s) + string(canonicalJSON(s.Diagnostics())); got != want {
			t.Fatalf("a fold in steps differs:\n%s\nwant\n%s", got, want)
		}
		if (s.Authorizes() == nil) != (whole.Authorizes() == nil) {
			t.Fatal("a fold in steps authorizes otherwise")
		}
	}
}
