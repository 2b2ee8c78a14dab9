package memory

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// TestTwoAgentsAndTwoPeopleShareReviewedMemory is the acceptance story of the
// specification, without git.
func TestTwoAgentsAndTwoPeopleShareReviewedMemory(t *testing.T) {
	w := newWorld(t)
	plain := w.seal("note", []byte(`{"content":"from before"}`))
	w.publish(w.stage(RecordDraft{"note", plain.Payload()}))
	root := w.root()

	// Two sessions from one head, attributed to their authors.
	first := w.commit(one, session("one", "a"), fact("db.port", "The port is 5432."), decision("cache", "We use no cache."))
	second := w.commit(two, session("two", "b"), fact("lang", "The service is in Go."))
	s := w.clean()
	if c, _ := s.Changeset("demo", first); c.Author.Principal != one || c.Parents[0] != root {
		t.Errorf("the first changeset is by %s on %s", c.Author.Principal, c.Parents[0])
	}
	if c, _ := s.Changeset("demo", second); c.Author.Principal != two || c.Parents[0] != root {
		t.Errorf("the second changeset is by %s on %s", c.Author.Principal, c.Parents[0])
	}

	// Diffs do not depend on when they are made.
	d, err := s.Diff("demo", root, first)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := w.fold().Diff("demo", root, first)
	if !bytes.Equal(d.JSON(), again.JSON()) || len(d.Added) != 2 || len(d.Decisions) != 1 {
		t.Errorf("diff: %s", d.JSON())
	}

	// One merges fast-forward; the other is stale and becomes a merge commit.
	p1, p2 := w.propose(one, first), w.propose(two, second)
	w.land(p1)
	before, pinned, err := w.fold().ContextAt(ContextQuery{Project: "demo", Ref: SharedMain, Query: "port"})
	if err != nil {
		t.Fatal(err)
	}
	v := w.show(ada, p2)
	if v.Strategy != MergeCommit || !slices.ContainsFunc(v.Conflicts, func(c Conflict) bool { return c.Type == StaleBase }) {
		t.Errorf("the stale proposal: %s, %v", v.Strategy, v.Conflicts)
	}
	w.land(p2)
	merged, _ := w.fold().Changeset("demo", w.ref(SharedMain))
	if len(merged.Parents) != 2 || merged.Parents[0] != first || merged.Parents[1] != second {
		t.Errorf("the merge has the parents %v", merged.Parents)
	}

	// Two conflicting decisions block; one op of the changeset is picked, the rest
	// rejected and still there.
	mixed := w.commit(one, session("one", "c"), decision("cache", "We use Redis."), fact("team", "The team is five."))
	p3 := w.propose(one, mixed)
	v = w.show(ada, p3)
	_, _, err = w.fold().Approve(w.clerk(ada), w.approval(ada, v))
	wantReason(t, err, ReasonConflicts)
	p4 := w.propose(one, mixed, Selection{mixed, 1})
	w.land(p4)
	records, err := w.fold().Review(w.clerk(ben), ReviewRequest{Project: "demo", Proposal: p3, ID: w.uuid7(), Operation: Reject, Findings: []string{"no cache"}})
	if err != nil {
		t.Fatal(err)
	}
	w.publish(records)
	s = w.clean()
	info, _ := s.Proposal("demo", p3)
	if info.Status != ProposalRejected || info.Reviews[0].Findings[0] != "no cache" {
		t.Errorf("the rejected proposal: %+v", info)
	}
	for _, c := range info.Conflicts {
		if c.Status != ConflictRejected && c.Status != ConflictSuperseded {
			t.Errorf("conflict %s of a rejected proposal is %s", c.Type, c.Status)
		}
	}
	if c, ok := s.Changeset("demo", mixed); !ok || c.Ops[0].Text("content") != "We use Redis." {
		t.Error("the rejected work is gone")
	}
	memory := ids(s.MemoryAt("demo", w.ref(SharedMain)))
	if !strings.Contains(memory, "team is five") || strings.Contains(memory, "Redis") {
		t.Errorf("accepted: %s", memory)
	}

	// An accepted change is reverted by a new changeset, proposed like any.
	ops, err := s.RevertOps("demo", w.ref(SharedMain), second)
	if err != nil {
		t.Fatal(err)
	}
	undone := w.commit(one, session("one", "d"), ops...)
	w.land(w.propose(one, undone))
	if memory := ids(w.clean().MemoryAt("demo", w.ref(SharedMain))); strings.Contains(memory, "in Go") {
		t.Errorf("after the revert: %s", memory)
	}

	// The context of before is the same.
	c, err := w.fold().ContextOf(pinned)
	if err != nil || !bytes.Equal(c.Text(), before.Text()) {
		t.Errorf("the pinned context changed: %v\n%s\n%s", err, before.Text(), c.Text())
	}
}
