package memory

import (
	"bytes"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// forge publishes an admission that no trusted job wrote.
func (w *world) forge(change func(*Admission)) {
	s := w.fold()
	a := &Admission{Seq: s.tip.Seq + 1, Previous: s.tip.sha, Principal: w.principal(one), Workflow: "w", Run: "r"}
	change(a)
	w.publish([]ledger.Record{w.seal(TypeAdmission, a.Seal())})
}

func TestAForkStopsEverythingThatAuthorizes(t *testing.T) {
	w := busy(t)
	before := w.fold().Refs("demo")
	seq, _ := w.fold().Seq()
	dir := t.TempDir()
	writeShard(t, dir, w.lines)
	l, err := ledger.Open(dir, w.ledger().Limits())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	inSteps := Fold(l)
	w.forge(func(a *Admission) { a.Seq, a.Previous = a.Seq-1, w.fold().tip.Previous })
	s := w.fold()
	wantReason(t, s.Authorizes(), ReasonChain)
	if len(s.Refs("demo")) != len(before) {
		t.Error("reading stopped")
	}
	// Neither of the two links counts, also where one was read before the other.
	if now, _ := s.Seq(); now != seq-1 {
		t.Errorf("the fold went to link %d of %d", now, seq)
	}
	writeShard(t, dir, w.lines)
	if err := l.Refresh(); err != nil {
		t.Fatal(err)
	}
	inSteps.Advance()
	if dump(inSteps) != dump(s) || inSteps.Authorizes() == nil {
		t.Error("a fold in steps goes on after the fork")
	}
	_, err = s.Judge(w.clerk(one), w.policy, nil)
	wantReason(t, err, ReasonChain)
	_, err = s.Review(w.clerk(ada), ReviewRequest{Project: "demo", Proposal: s.Proposals("demo")[1].ID, ID: w.uuid7(), Operation: Reject})
	wantReason(t, err, ReasonChain)
	if f := s.Reconcile(nil, testBinding); len(f) == 0 {
		t.Error("reconcile finds nothing")
	}
}

func TestAGapStopsEverythingThatAuthorizes(t *testing.T) {
	for name, change := range map[string]func(*Admission){
		"an unknown link before it": func(a *Admission) { a.Previous[3]++ },
		"a number left out":         func(a *Admission) { a.Seq++ },
		"a record that is not here": func(a *Admission) { a.Verdicts = []Verdict{{SHA: ledger.Hash{1}, Accepted: true}} },
		"a second beginning":        func(a *Admission) { a.Seq = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.root()
			want := w.ref(SharedMain)
			w.forge(change)
			s := w.fold()
			wantReason(t, s.Authorizes(), ReasonChain)
			if r, ok := s.Ref("demo", SharedMain); name != "a second beginning" && (!ok || r.Head != want) {
				t.Error("reading stopped")
			}
		})
	}
}

func TestALinkIsMissingUntilItsRecordsAreThere(t *testing.T) {
	w := newWorld(t)
	w.root()
	w.commit(one, session("one", "a"), fact("a", "b"))
	lines := bytes.SplitAfter(w.lines, []byte("\n"))
	whole := dump(w.fold())
	for i, line := range lines {
		if !bytes.Contains(line, []byte(`"type":"memory.changeset"`)) {
			continue
		}
		w.lines = bytes.Join(append(append([][]byte{}, lines[:i]...), lines[i+1:]...), nil)
		s := w.fold()
		wantReason(t, s.Authorizes(), ReasonChain)
		w.lines = append(w.lines, line...)
		if s := w.fold(); s.Authorizes() != nil || dump(s) != whole {
			t.Error("a record that came back does not heal the chain")
		}
	}
}

func TestALedgerThatWasNotReadWholeAuthorizesNothing(t *testing.T) {
	w := busy(t)
	limits := ledger.DefaultLimits()
	for name, l := range map[string]*ledger.Ledger{
		"a shard over the bound": ledger.OpenSnapshot(ledger.Snapshot{Files: map[string][]byte{shardName: bytes.Repeat(w.lines, 1+limits.MaxSegmentBytes/len(w.lines))}}, limits),
		"a torn line":            ledger.OpenSnapshot(ledger.Snapshot{Files: map[string][]byte{shardName: w.lines[:len(w.lines)-9]}}, ledger.Limits{MaxShards: 1, MaxSegmentBytes: 1 << 30, MaxRecordBytes: 1 << 20}),
		"too many shards": ledger.OpenSnapshot(ledger.Snapshot{Files: map[string][]byte{shardName: w.lines, strings.Replace(shardName, "1.jsonl", "2.jsonl", 1): nil}},
			ledger.Limits{MaxShards: 1, MaxSegmentBytes: 1 << 30, MaxRecordBytes: 1 << 20}),
	} {
		wantReason(t, Fold(l).Authorizes(), ReasonChain)
		if Fold(l).Authorizes() == nil {
			t.Error(name)
		}
	}
}

func TestWhatALinkListsIsJudgedAgain(t *testing.T) {
	for name, record := range map[string]func(w *world) ledger.Record{
		"a forged author": func(w *world) ledger.Record {
			c := &Changeset{ID: w.uuid7(), Project: "demo", Ref: session("two", "b"), Parents: []Name{w.ref(SharedMain)}, Author: Author{two, "", "two"}, Message: "m",
				CreatedAt: ledger.FormatTime(w.now), Key: "k", Ops: []Op{fact("a", "b")}}
			return w.seal(TypeChangeset, c.Seal())
		},
		"a protected ref": func(w *world) ledger.Record {
			m := &Movement{Project: "demo", Ref: SharedMain, Author: Author{one, "", "one"}, Expected: w.ref(SharedMain), Head: w.ref(SharedMain), Key: "k", CreatedAt: ledger.FormatTime(w.now)}
			return w.seal(TypeRef, m.Seal())
		},
		"a review by an agent": func(w *world) ledger.Record {
			v := &Review{ID: w.uuid7(), Project: "demo", Proposal: w.fold().Proposals("demo")[0].ID, Operation: Reject, Reviewer: Author{one, "", "one"}, CreatedAt: ledger.FormatTime(w.now)}
			return w.seal(TypeReview, v.Seal())
		},
		"no record of ours": func(w *world) ledger.Record { return w.seal("memory.other", []byte(`{}`)) },
	} {
		t.Run(name, func(t *testing.T) {
			w := busy(t)
			want := w.fold()
			r := record(w)
			w.publish([]ledger.Record{r})
			w.forge(func(a *Admission) { a.Verdicts = []Verdict{{SHA: r.SHA(), Accepted: true}} })
			s := w.fold()
			found := false
			for _, d := range s.Diagnostics() {
				found = found || d.Kind == Contradicted && d.SHA == r.SHA()
			}
			if !found {
				t.Error("no diagnostic")
			}
			if string(canonicalJSON(s.Refs("demo"))) != string(canonicalJSON(want.Refs("demo"))) || len(s.Proposals("demo")) != len(want.Proposals("demo")) {
				t.Error("it had an effect")
			}
		})
	}
}

func TestTheChainSpreadsOverLinksWhereOneRecordIsTooSmall(t *testing.T) {
	w := newWorld(t)
	w.limits.MaxRecordBytes = 8 << 10
	w.root()
	s := w.fold()
	var drafts []RecordDraft
	head := w.ref(SharedMain)
	for i := range 60 {
		q := Commit{Project: "demo", Ref: session("one", "a"), Message: "m", Key: nextKey(), Ops: []Op{fact("a", "b")}, Expected: head}
		if i == 0 {
			q.Create, q.Parents, q.Expected = true, []Name{head}, Name{}
		}
		request, err := s.Commit(w.agent(one), q)
		if err != nil {
			t.Fatal(err)
		}
		head = request.Name
		for _, d := range request.Records {
			if err := s.Stage(w.principal(one), w.seal(d.Type, d.Payload)); err != nil {
				t.Fatal(err)
			}
		}
		drafts = append(drafts, request.Records...)
	}
	records := w.stage(drafts...)
	state := w.fold()
	j, err := state.Judge(w.clerk(one), w.policy, records)
	if err != nil {
		t.Fatal(err)
	}
	w.publish(records)
	w.publish(j.Records)
	links := 0
	for _, r := range j.Records {
		if r.Type() == TypeAdmission {
			links++
		}
		if len(r.Line())+1 > w.limits.MaxRecordBytes {
			t.Errorf("a %s takes %d bytes", r.Type(), len(r.Line()))
		}
	}
	if last := j.Records[len(j.Records)-1]; last.Type() != TypeAdmission || links < 2 {
		t.Errorf("%d links, and the commit ends with a %s", links, last.Type())
	}
	if got := w.ref(session("one", "a")); got != head {
		t.Errorf("head %s, want %s", got, head)
	}
	// The state that judged is that of the branch.
	if got, want := dump(state), dump(w.clean()); got != want {
		t.Errorf("the judging state differs:\n%s\nwant\n%s", got, want)
	}
}

func TestTheSameWorkOnABranchThatHoldsItGivesNothing(t *testing.T) {
	w := newWorld(t)
	w.root()
	q, err := w.fold().Commit(w.agent(one), Commit{Project: "demo", Ref: session("one", "a"), Create: true, Parents: []Name{w.ref(SharedMain)}, Message: "m", Key: "k", Ops: []Op{fact("a", "b")}})
	if err != nil {
		t.Fatal(err)
	}
	records := w.stage(q.Records...)
	w.persist(one, records...)
	j, err := w.fold().Judge(w.clerk(one), w.policy, records)
	if err != nil || len(j.Records) > 0 || len(j.Verdicts) > 0 {
		t.Errorf("again: %d records, %v", len(j.Records), err)
	}
	if records, err := w.fold().Init(w.clerk(ben), "demo"); len(records) > 0 || err != nil {
		t.Errorf("a second init: %d records, %v", len(records), err)
	}
}

func TestTimeNeverRunsBackwardsAlongTheChain(t *testing.T) {
	w := newWorld(t)
	w.root()
	w.commit(one, session("one", "a"), fact("a", "b"))
	_, before := w.fold().Seq()
	w.now = w.now.Add(-3600e9)
	w.commit(one, session("one", "a"), fact("c", "d"))
	if _, after := w.fold().Seq(); after < before {
		t.Errorf("from %s to %s", before, after)
	}
	s := w.clean()
	r, _ := s.Ref("demo", session("one", "a"))
	if head, ok := s.RefAt("demo", r.Name, r.Log[0].Time); !ok || len(r.Log) != 2 || head != r.Log[1].To && r.Log[0].Time == r.Log[1].Time {
		t.Errorf("at %s: %s", r.Log[0].Time, head)
	}
	if _, ok := s.RefAt("demo", r.Name, "2026-11-30T07:00:00.000Z"); ok {
		t.Error("there was a ref before there was one")
	}
}
