package memory

import (
	"fmt"
	"testing"
)

func TestAContradictionIsFoundThoughTheProposalMarksWhatItContradicts(t *testing.T) {
	accepted := ops(named("f", `{"kind":"fact","fact_key":"a","content":"1"}`), named("g", `{"content":"other"}`))
	for name, mark := range map[string]Op{
		"evidence":     op(AttachEvidence, "f", "", `{"summary":"x"}`),
		"verification": op(AttachVerification, "f", "", `{"summary":"x"}`),
		"deprecation":  op(ProposeDeprecation, "f", "", `{"reason":"x"}`),
		"relationship": op(AddRelationship, "f", "g", `{"kind":"about"}`),
		"canonical":    op(MarkDuplicate, "g", "f", `{}`),
		"the same":     op(CorrectMemory, "f", "", `{"content":" 1 "}`),
	} {
		t.Run(name, func(t *testing.T) {
			_, list := conflictsOf(t, accepted, nil, ops(mark, fact("a", "2")))
			if got := summary(list); got != "incompatible_fact/blocks direct_contradiction" {
				t.Error(got)
			}
		})
	}
}

func TestADeclaredBaseHidesNoConflict(t *testing.T) {
	w := newWorld(t)
	root := w.root()
	w.land(w.propose(one, w.commit(one, session("one", "a"), named("f", `{"content":"1"}`))))
	old := w.ref(SharedMain)
	w.land(w.propose(one, w.commit(one, session("one", "b"), op(CorrectMemory, "f", "", `{"content":"2"}`))))
	seen := w.ref(SharedMain)
	// To the value that it has at the older base.
	head := w.commit(two, session("two", "r"), op(CorrectMemory, "f", "", `{"content":"1"}`))
	w.land(w.propose(one, w.commit(one, session("one", "c"), op(CorrectMemory, "f", "", `{"content":"3"}`))))
	for name, base := range map[string]Name{"the root": root, "an older one": old, "what it started from": seen, "none": {}} {
		q, err := w.fold().Propose(w.agent(two), Proposal{Project: "demo", Head: head, Base: base, Message: "please", Key: nextKey()})
		id := w.must(two, q, err).ID
		list, err := w.fold().Detect("demo", id)
		if got := summary(list); err != nil || got != "incompatible_fact/blocks temporal_update" {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}

func TestABranchThatTookInWhatTheTargetSaysMayChangeIt(t *testing.T) {
	w := newWorld(t)
	w.root()
	w.land(w.propose(one, w.commit(one, session("one", "a"), named("f", `{"content":"1"}`))))
	head := w.commit(two, session("two", "r"), op(CorrectMemory, "f", "", `{"content":"2"}`))
	w.land(w.propose(one, w.commit(one, session("one", "b"), op(CorrectMemory, "f", "", `{"content":"3"}`))))
	q, err := w.fold().Commit(w.agent(two), Commit{Project: "demo", Ref: session("two", "r"), Message: "rebase", Key: nextKey(), Expected: head,
		Parents: []Name{head, w.ref(SharedMain)}, Ops: ops(op(CorrectMemory, "f", "", `{"content":"4"}`))})
	merged := w.must(two, q, err).Name
	proposal := w.propose(two, merged)
	if list, err := w.fold().Detect("demo", proposal); err != nil || summary(list) != "" {
		t.Error(summary(list), err)
	}
}

func TestNothingPrivateReachesASharedRefWithoutAConflict(t *testing.T) {
	const flow = "scope_flow/acknowledge"
	private := named("p", `{"content":"the secret","visibility":"private"}`)
	copied := add(`{"content":"the  secret","visibility":"public"}`)
	detect := func(w *world, proposal string) string {
		list, err := w.fold().Detect("demo", proposal)
		if err != nil {
			t.Fatal(err)
		}
		return summary(list)
	}
	t.Run("picked without the private one that it copies", func(t *testing.T) {
		w := newWorld(t)
		w.root()
		head := w.commit(two, session("two", "r"), private, copied)
		if got := detect(w, w.propose(two, head, Selection{head, 1})); got != flow {
			t.Error(got)
		}
	})
	t.Run("copied from another branch of its author", func(t *testing.T) {
		w := newWorld(t)
		w.root()
		w.commit(two, session("two", "r"), private, op(CorrectMemory, "p", "", `{"content":"said no more"}`))
		if got := detect(w, w.propose(two, w.commit(two, session("two", "s"), copied))); got != flow {
			t.Error(got)
		}
	})
	t.Run("somebody else's private memory cannot be guessed", func(t *testing.T) {
		w := newWorld(t)
		w.root()
		w.commit(two, session("two", "r"), private)
		if got := detect(w, w.propose(one, w.commit(one, session("one", "s"), copied))); got != "" {
			t.Error(got)
		}
	})
	for name, change := range map[string][]Op{
		"new words in accepted private memory": ops(op(CorrectMemory, "p", "", `{"content":"another secret"}`)),
		"new tags in it":                       ops(op(CorrectMemory, "p", "", `{"tags":["another secret"]}`)),
		"words that were taken back":           ops(op(CorrectMemory, "p", "", `{"content":"another secret"}`), op(CorrectMemory, "p", "", `{"content":"the secret"}`)),
		"what replaces it":                     ops(op(SupersedeMemory, "p", "", `{"content":"another secret"}`)),
	} {
		t.Run(name, func(t *testing.T) {
			if _, list := conflictsOf(t, ops(private), nil, change); summary(list) != flow {
				t.Error(summary(list))
			}
		})
	}
}

func TestAnOpThatSaysItWasPickedFromAPersonsHasNoneOfTheirTrust(t *testing.T) {
	w := newWorld(t)
	w.root()
	theirs := w.commit(ada, session("ada", "a"), named("u", `{"content":"1","approval":"user_approved","topic_id":"x","actor_id":"ada"}`))
	v := w.show(ben, w.propose(ada, theirs))
	records, token, err := w.fold().Approve(w.clerk(ben), acknowledge(w.approval(ben, v), v))
	if err != nil {
		t.Fatal(err)
	}
	w.publish(records)
	if err := w.tryMerge(ben, token); err != nil {
		t.Fatal(err)
	}
	forged := op(SupersedeMemory, "u", "", fmt.Sprintf(`{"content":"2","cherrypicked_from":"%s#0"}`, theirs))
	head := w.commit(two, session("two", "b"), forged)
	const want = "boundary_violation/acknowledge, trust_downgrade/blocks temporal_update"
	for name, selected := range map[string][]Selection{"the branch": nil, "the op, picked": {{head, 0}}} {
		proposal := w.propose(two, head, selected...)
		list, err := w.fold().Detect("demo", proposal)
		if got := summary(list); err != nil || got != want {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}
