package memory

import (
	"fmt"
	"testing"
	"time"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// history is a branch with so many changesets on one session ref, admitted 50 at
// a time, and the state that made it.
func history(t testing.TB, changesets int) *world {
	w := newWorld(t)
	s := Fold(nil)
	p := w.principal(one)
	var heads []ledger.Hash
	var admitted []ledger.Record
	flush := func() {
		j, err := s.Judge(w.clerk(one), w.policy, admitted)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range j.Verdicts {
			if !v.Accepted {
				t.Fatal(v.Refusal())
			}
		}
		w.publish(admitted)
		w.publish(j.Records)
		heads, admitted = []ledger.Hash{j.Records[len(j.Records)-1].SHA()}, nil
	}
	d, err := s.open(w.clerk(one), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.root("demo"); err != nil {
		t.Fatal(err)
	}
	records, err := d.finish()
	if err != nil {
		t.Fatal(err)
	}
	w.publish(records)
	heads = []ledger.Hash{records[len(records)-1].SHA()}
	head := s.projects["demo"].sets[0].Name()
	for i := range changesets {
		c := &Changeset{Project: "demo", Ref: session("one", "a"), Parents: []Name{head}, Author: p.author(), Message: "work in the session",
			CreatedAt: ledger.FormatTime(w.now), Key: fmt.Sprintf("key-%d", i), Create: i == 0, Session: "session-1",
			Ops: []Op{fact(fmt.Sprintf("key.%d", i), fmt.Sprintf("The value of key number %d is what it was set to in the configuration.", i))}}
		if i > 0 {
			c.Expected = head
		}
		c.ID = w.uuid7()
		payload := c.Seal()
		m := &Movement{Project: "demo", Ref: c.Ref, Author: c.Author, Expected: c.Expected, Head: c.Name(), Create: c.Create, Key: c.Key, CreatedAt: c.CreatedAt}
		head = c.Name()
		for _, draft := range []RecordDraft{{TypeChangeset, payload}, {TypeRef, m.Seal()}} {
			r := w.seal(draft.Type, draft.Payload, heads...)
			heads = []ledger.Hash{r.SHA()}
			admitted = append(admitted, r)
		}
		if i%50 == 49 || i == changesets-1 {
			flush()
		}
	}
	return w
}

// timed is the fastest of three runs.
func timed(run func()) time.Duration {
	best := time.Duration(1 << 62)
	for range 3 {
		start := time.Now()
		run()
		best = min(best, time.Since(start))
	}
	return best
}

func BenchmarkFold(b *testing.B) {
	w, half := history(b, 20_000), history(b, 10_000)
	measure := func(w *world) (open, fold time.Duration) {
		var l *ledger.Ledger
		open = timed(func() { l = w.ledger() })
		fold = timed(func() {
			s := Fold(l)
			if _, _, err := s.ContextAt(ContextQuery{Project: "demo", Ref: session("one", "a"), Query: "key number 77"}); err != nil {
				b.Fatal(err)
			}
		})
		return open, fold
	}
	for b.Loop() {
		_, small := measure(half)
		open, fold := measure(w)
		b.ReportMetric(open.Seconds()*1e3, "open-ms")
		b.ReportMetric(fold.Seconds()*1e3, "fold-ms")
		b.ReportMetric(float64(fold)/float64(open), "fold/open")
		b.ReportMetric(float64(fold)/float64(small), "double")
	}
}

// branches is a project with two branches of n changed memories each, spread over
// keys or all on one.
func branches(t testing.TB, n int, oneKey bool) (*project, *proposalState) {
	p := &project{id: "demo", refs: map[string]*refState{}, byDigest: map[ledger.Hash]int32{}, byID: map[string]int32{}, memoryIndex: map[string]int32{},
		proposals: map[string]*proposalState{}, conflicts: map[conflictKey]*conflictState{}}
	root := &set{Changeset: &Changeset{ID: RootID, Project: "demo"}, landed: true}
	root.view.mark(0)
	p.add(root)
	side := func(name string) *set {
		last := root
		for i := 0; i < n; i += 100 {
			c := &Changeset{ID: fmt.Sprintf("00000000-0000-7000-8000-%s%08d", name, i), Project: "demo", Ref: session("one", name),
				Parents: []Name{last.Name()}, Author: Author{one, "", "one"}, Message: "m", CreatedAt: "2026-11-30T08:00:00.000Z", Key: "k"}
			for j := i; j < i+100; j++ {
				key := fmt.Sprintf("key.%d", j)
				if oneKey {
					key = "key"
				}
				c.Ops = append(c.Ops, fact(key, fmt.Sprintf("%s says %d", name, j)))
			}
			c.Seal()
			next, fault := p.build(reader, c, nil)
			if fault != nil {
				t.Fatal(fault)
			}
			p.add(next)
			last = next
		}
		return last
	}
	left, right := side("aaaa"), side("bbbb")
	for _, s := range p.sets[:left.index+1] {
		s.landed = true
	}
	p.refs[SharedMain] = &refState{name: SharedMain, head: left}
	return p, &proposalState{Proposal: &Proposal{ID: "p", TargetRef: SharedMain}, head: right, base: root, status: ProposalOpen}
}

func BenchmarkDetect(b *testing.B) {
	for name, oneKey := range map[string]bool{"spread": false, "one-key": true} {
		b.Run(name, func(b *testing.B) {
			p, t := branches(b, 10_000, oneKey)
			ph, th := branches(b, 5_000, oneKey)
			for b.Loop() {
				half := timed(func() { ph.detect(th) })
				whole := timed(func() {
					if list := p.detect(t); list[len(list)-1].Type != TooManyConflicts {
						b.Fatal("no conflicts")
					}
				})
				b.ReportMetric(whole.Seconds()*1e3, "ms")
				b.ReportMetric(float64(whole)/float64(half), "double")
			}
		})
	}
}
