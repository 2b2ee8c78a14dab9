package memory

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/ledger"
)

func contents(c *Context) string {
	var list []string
	for _, m := range c.Memories {
		list = append(list, m.Content)
	}
	return strings.Join(list, " | ")
}

func (w *world) context(q ContextQuery) (*Context, *Manifest) {
	w.t.Helper()
	q.Project = "demo"
	if q.Ref == "" {
		q.Ref = SharedMain
	}
	c, m, err := w.fold().ContextAt(q)
	if err != nil {
		w.t.Fatal(err)
	}
	return c, m
}

func TestAContextIsRankedByWordsThenRecencyThenID(t *testing.T) {
	w := newWorld(t)
	w.root()
	first := w.commit(one, session("one", "a"), named("b", `{"content":"The database port"}`), named("a", `{"content":"the PORT of the cache"}`), named("c", `{"content":"old"}`))
	w.land(w.propose(one, first))
	w.land(w.propose(one, w.commit(one, session("one", "a"), named("d", `{"content":"new"}`), named("e", `{"content":"of tags","tags":["database"]}`))))
	c, m := w.context(ContextQuery{Query: "Database PORT?"})
	if got := contents(c); got != "The database port | of tags | the PORT of the cache | new | old" {
		t.Error(got)
	}
	if c.Memories[0].Reason != "shares 2 words with the query" || c.Memories[4].Reason != "recent" || m.Memories[0].ID != "b" {
		t.Errorf("reasons %q, %q", c.Memories[0].Reason, c.Memories[4].Reason)
	}
	c, _ = w.context(ContextQuery{MaxMemories: 2})
	if got := contents(c); got != "of tags | new" {
		t.Error(got)
	}
	if len(c.Excluded) != 1 || c.Excluded[0].Reason != ExcludedCount || c.Excluded[0].Count != 3 || !slices.Equal(c.Excluded[0].IDs, []string{"a", "b", "c"}) {
		t.Errorf("excluded %+v", c.Excluded)
	}
	c, _ = w.context(ContextQuery{MaxTokens: 200})
	if len(c.Memories) != 2 || c.Excluded[0].Reason != ExcludedTokens || c.Excluded[0].Count != 3 {
		t.Errorf("tokens: %s, %+v", contents(c), c.Excluded)
	}
	// An older head is what it was; one that the ref does not reach is refused.
	c, _ = w.context(ContextQuery{Head: first})
	if len(c.Memories) != 3 {
		t.Error(contents(c))
	}
	unmerged := w.commit(one, session("one", "a"), fact("x", "y"))
	_, _, err := w.fold().ContextAt(ContextQuery{Project: "demo", Ref: SharedMain, Head: unmerged})
	wantReason(t, err, ReasonAncestry)
	for _, q := range []ContextQuery{{MaxMemories: 101}, {MaxMemories: -1}, {MaxTokens: MaxContextTokens + 1}, {MaxTokens: -1}, {Query: long(MaxNoteBytes + 1)}} {
		q.Project, q.Ref = "demo", SharedMain
		_, _, err := w.fold().ContextAt(q)
		wantReason(t, err, ReasonBound)
	}
}

func TestAProposalHidesNoAcceptedMemory(t *testing.T) {
	w := newWorld(t)
	w.root()
	w.land(w.propose(one, w.commit(one, session("one", "a"), fact("port", "accepted"))))
	w.propose(two, w.commit(two, session("two", "b"), fact("port", "proposed")))
	c, m := w.context(ContextQuery{})
	if contents(c) != "accepted" || len(c.Conflicts) != 1 || c.Conflicts[0].Type != IncompatibleFact || c.Count != 1 || m.ConflictCount != 1 {
		t.Errorf("main: %s, %+v", contents(c), c.Conflicts)
	}
	// The branch of the proposal holds both sides.
	c, _ = w.context(ContextQuery{Ref: session("two", "b")})
	if contents(c) != "" || len(c.Conflicts) != 1 || c.Excluded[0].Count != 2 {
		t.Errorf("the branch: %s, %+v", contents(c), c.Excluded)
	}
}

func TestAProposalOfWhatWasMergedMeanwhileHidesNothing(t *testing.T) {
	w := newWorld(t)
	w.root()
	w.land(w.propose(one, w.commit(one, session("one", "a"), fact("port", "accepted"))))
	head := w.commit(two, session("two", "b"), fact("port", "also"))
	again := w.propose(two, head)
	w.land(w.propose(one, w.commit(one, session("one", "c"), fact("host", "h"))))
	v := w.show(ada, w.propose(two, head))
	w.settle(v)
	w.land(v.Proposal.ID)
	c, _ := w.context(ContextQuery{})
	if len(c.Memories) != 3 || len(c.Conflicts) != 0 {
		t.Errorf("%s, %+v", contents(c), c.Conflicts)
	}
	p, _ := w.fold().Proposal("demo", again)
	for _, found := range p.Conflicts {
		if found.Status != ConflictSuperseded {
			t.Errorf("%+v", found)
		}
	}
	w.clean()
}

func TestABranchThatHoldsBothSidesWithholdsBoth(t *testing.T) {
	w := newWorld(t)
	root := w.root()
	d, right := w.changeset(authorTwo, session("two", "b"), []Name{root}, fact("port", "proposed"))
	if got := w.reasons(two, d, w.move(authorTwo, session("two", "b"), Name{}, right)); got != "," {
		t.Fatal(got)
	}
	w.land(w.propose(one, w.commit(one, session("one", "a"), fact("port", "accepted"))))
	w.propose(two, right)
	c, _ := w.context(ContextQuery{Ref: session("two", "b")})
	if contents(c) != "proposed" || len(c.Conflicts) != 2 { // the base is stale, too
		t.Errorf("the branch with one side: %s, %+v", contents(c), c.Conflicts)
	}
	merge, both := w.changeset(authorTwo, session("two", "b"), []Name{right, w.ref(SharedMain)})
	if got := w.reasons(two, merge, w.move(authorTwo, session("two", "b"), right, both)); got != "," {
		t.Fatal(got)
	}
	c, m := w.context(ContextQuery{Ref: session("two", "b")})
	if contents(c) != "" || len(c.Excluded) != 1 || c.Excluded[0].Reason != ExcludedConflict || c.Excluded[0].Count != 2 {
		t.Errorf("the branch with both: %s, %+v", contents(c), c.Excluded)
	}
	if c, _ := w.context(ContextQuery{}); contents(c) != "accepted" {
		t.Errorf("main: %s", contents(c))
	}
	// The conflict ends; the pinned context stays as it was.
	text := c.Text()
	w.review(ada, w.fold().Proposals("demo")[1].ID, Reject)
	if c, _ := w.context(ContextQuery{Ref: session("two", "b")}); len(c.Memories) != 2 {
		t.Errorf("after: %s", contents(c))
	}
	again, err := w.fold().ContextOf(m)
	if err != nil || !bytes.Equal(again.Text(), text) {
		t.Errorf("the pinned context: %v", err)
	}
}

func TestBaselineIsReadableUnreviewedAndInAContextOnlyOnDemand(t *testing.T) {
	w := newWorld(t)
	old := w.seal("note", []byte(`{"content":"from before","valid":1}`))
	other := w.seal("note", []byte(`{"content":"of another","project_id":"other"}`), old.SHA())
	none := w.seal("note", []byte(`{"text":"no content"}`), old.SHA())
	missing := w.seal("note", []byte(`{"content":"lost before"}`))
	orphan := w.seal("note", []byte(`{"content":"an orphan"}`), missing.SHA())
	w.publish([]ledger.Record{old, other, none, orphan})
	w.root()
	want := dump(w.fold())
	// What comes later is no memory, be it the lost parent itself or a child of the baseline.
	w.publish([]ledger.Record{missing, w.seal("note", []byte(`{"content":"from after"}`), old.SHA()), w.seal("note", []byte(`{"content":"alone"}`))})
	if got := dump(w.fold()); got != want {
		t.Errorf("a later record changed the baseline:\n%s\nwant\n%s", got, want)
	}
	if got := ids(w.fold().Baseline("demo")); got != "from before | an orphan" && got != "an orphan | from before" {
		t.Error(got)
	}
	c, _ := w.context(ContextQuery{})
	if contents(c) != "" || c.Excluded[0].Reason != ExcludedUnreviewed || c.Excluded[0].Count != 2 {
		t.Errorf("without: %s %+v", contents(c), c.Excluded)
	}
	c, m := w.context(ContextQuery{Baseline: true})
	if len(c.Memories) != 2 || !c.Memories[0].Unreviewed || !m.Baseline || c.Memories[0].Author != "unknown" {
		t.Errorf("with: %+v", c.Memories)
	}
	// It can be corrected like any memory, and then is reviewed memory.
	w.land(w.propose(one, w.commit(one, session("one", "a"), op(SupersedeMemory, old.SHA().String(), "", `{"content":"now reviewed"}`))))
	c, _ = w.context(ContextQuery{})
	if contents(c) != "now reviewed" || c.Memories[0].Unreviewed {
		t.Errorf("after: %s", contents(c))
	}
	if c, _ := w.context(ContextQuery{Baseline: true}); len(c.Memories) != 2 {
		t.Errorf("after, with: %s", contents(c))
	}
	if again, err := w.fold().ContextOf(m); err != nil || len(again.Memories) != 2 {
		t.Errorf("the pinned one: %v", err)
	}
}

func TestAContextComesBackFromItsManifestAfterCompaction(t *testing.T) {
	w := busy(t)
	c, m, err := w.fold().ContextAt(ContextQuery{Project: "demo", Ref: SharedMain, Query: "port", Baseline: true})
	if err != nil {
		t.Fatal(err)
	}
	q, err := w.fold().Pin(w.agent(one), m)
	w.must(one, q, err)
	w.land(w.propose(one, w.commit(one, session("one", "later"), fact("later", "more"))))
	stored, ok := w.clean().Manifest("demo", q.ID)
	if !ok {
		t.Fatal("the manifest is not kept")
	}
	// Compaction writes the same records in other segments, sorted by digest.
	segment, err := ledger.BuildSegment(slices.Collect(w.ledger().Records()), "{}", 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	before := dump(w.fold())
	w.lines = segment.Content
	again, err := w.fold().ContextOf(stored)
	if err != nil || !bytes.Equal(again.Text(), c.Text()) {
		t.Errorf("after compaction: %v", err)
	}
	if dump(w.fold()) != before {
		t.Error("compaction changed the state")
	}
}

func TestManifestsAreRefused(t *testing.T) {
	w := busy(t)
	_, good, err := w.fold().ContextAt(ContextQuery{Project: "demo", Ref: SharedMain})
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		change func(*Manifest)
		want   Reason
	}{
		"a good one":              {func(*Manifest) {}, ""},
		"another digest":          {func(m *Manifest) { m.ContentDigest = ledger.Hash{}.String() }, ReasonPins},
		"a memory left out":       {func(m *Manifest) { m.Memories = m.Memories[1:] }, ReasonPins},
		"another reason":          {func(m *Manifest) { m.Memories = slices.Clone(m.Memories); m.Memories[0].Reason = "because" }, ReasonPins},
		"a memory twice":          {func(m *Manifest) { m.Memories = append(slices.Clone(m.Memories), m.Memories[0]) }, ReasonPins},
		"a memory not there":      {func(m *Manifest) { m.Memories = append(slices.Clone(m.Memories), Pin{"none", "recent"}) }, ReasonPins},
		"a conflict not there":    {func(m *Manifest) { m.Conflicts = []string{ledger.Hash{}.String()} }, ReasonPins},
		"a ref of somebody else":  {func(m *Manifest) { m.Ref, m.Head = session("two", "b"), w.ref(session("two", "b")) }, ReasonPins},
		"a ref that there is not": {func(m *Manifest) { m.Ref = session("one", "none") }, ReasonUnknown},
	} {
		m := *good
		test.change(&m)
		q, err := w.fold().Pin(w.agent(one), &m)
		if err != nil {
			t.Fatal(err)
		}
		if got := w.reasons(one, q.Records...); got != string(test.want) {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
	_, theirs, err := w.fold().ContextAt(ContextQuery{Project: "demo", Ref: session("two", "b")})
	if err != nil {
		t.Fatal(err)
	}
	q, _ := w.fold().Pin(w.agent(one), theirs)
	if got := w.reasons(one, q.Records...); got != string(ReasonOwner) {
		t.Errorf("a context of somebody else: %s", got)
	}
	s := w.fold()
	if !s.MayRead(w.principal(one), "demo", SharedMain) || s.MayRead(w.principal(one), "demo", session("two", "b")) || s.MayRead(w.principal(two), "other", SharedMain) {
		t.Error("reading is not as the policy says")
	}
}

func TestAManifestFitsARecordHoweverLongItsIDs(t *testing.T) {
	w := newWorld(t)
	w.limits.MaxRecordBytes = 1 << 20
	w.root()
	for i := range 4 {
		var list []Op
		for j := range 60 {
			list = append(list, named(fmt.Sprintf("%d-%d-%s", i, j, long(900)), `{"content":"c"}`))
		}
		w.commit(one, session("one", "a"), list...)
	}
	w.limits = ledger.DefaultLimits()
	c, m := w.context(ContextQuery{Ref: session("one", "a"), MaxTokens: MaxContextTokens})
	if _, err := w.fold().Pin(w.agent(one), m); err != nil {
		t.Error(err)
	}
	total := len(c.Memories)
	for _, e := range c.Excluded {
		total += e.Count
	}
	if total != 240 || c.Excluded[0].Reason != ExcludedPins {
		t.Errorf("%d memories accounted for, %+v", total, c.Excluded)
	}
}

func TestARunThatAdmittedMemoryLeavesOneOutputManifest(t *testing.T) {
	w := newWorld(t)
	root := w.root()
	d, name := w.changeset(authorOne, session("one", "a"), []Name{root}, fact("a", "1"), fact("a", "2"))
	p := &Proposal{ID: w.uuid7(), Project: "demo", Kind: BranchProposal, TargetRef: SharedMain, Base: root, Head: name, Message: "m", Author: authorOne, CreatedAt: ledger.FormatTime(w.now), Key: "p"}
	j := w.persist(one, w.stage(d, w.move(authorOne, session("one", "a"), Name{}, name), RecordDraft{TypeProposal, p.Seal()})...)
	var outputs []*Manifest
	for _, r := range j.Records {
		if r.Type() == TypeManifest {
			m, fault := ParseManifest(r.Payload())
			if fault != nil {
				t.Fatal(fault)
			}
			outputs = append(outputs, m)
		}
	}
	if len(outputs) != 1 || outputs[0].Base != root || outputs[0].Result != name || outputs[0].Proposal != p.ID || outputs[0].TargetRef != SharedMain || outputs[0].ConflictCount != 1 || len(outputs[0].Conflicts) != 1 {
		t.Errorf("outputs %+v", outputs)
	}
	// None when all was refused.
	j = w.persist(one, w.stage(w.move(authorOne, SharedMain, root, name))...)
	if len(j.Records) != 1 || j.Records[0].Type() != TypeAdmission {
		t.Errorf("%d records for a refusal", len(j.Records))
	}
}
