package memory

import (
	"bytes"
	"testing"
	"time"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// force writes a job's record without what the job checks before.
func (w *world) force(id, typ string, payload []byte) error {
	w.t.Helper()
	d, err := w.fold().open(w.clerk(id), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := d.write(typ, payload); err != nil {
		return err
	}
	records, err := d.finish()
	w.publish(records)
	return err
}

func TestANonceIsUsedOnceWhateverItAuthorizes(t *testing.T) {
	w := newWorld(t)
	w.root()
	nonce := w.nonce()
	merge := func(name string) error {
		v := w.show(ada, w.propose(one, w.commit(one, session("one", name), fact(name, "1"))))
		q := w.approval(ada, v)
		q.Nonce = nonce
		records, token, err := w.fold().Approve(w.clerk(ada), q)
		if err != nil {
			t.Fatal(err)
		}
		w.publish(records)
		return w.force(ada, TypeMerge, (&Merge{Token: *token, MergedAt: ledger.FormatTime(w.now)}).Seal())
	}
	if err := merge("a"); err != nil {
		t.Fatal(err)
	}
	wantReason(t, merge("b"), ReasonNonce)
}

func TestNobodyMergesTheirOwnWorkWhateverWasSigned(t *testing.T) {
	w := newWorld(t)
	w.root()
	v := w.show(ben, w.propose(ada, w.commit(ada, session("ada", "a"), fact("a", "1"))))
	e := Envelope{Project: "demo", Ref: SharedMain, Expected: v.Target, NewHead: v.NewHead, Proposal: v.Proposal.ID, StateDigest: v.StateDigest,
		Reviewer: ben, Merger: ada, Strategy: v.Strategy}
	token, err := testRing(t).Sign(e, testBinding, w.now, time.Minute, bytes.NewReader(w.nonce()))
	if err != nil {
		t.Fatal(err)
	}
	r := &Review{ID: w.uuid7(), Project: "demo", Proposal: v.Proposal.ID, Operation: Approve, Reviewer: w.principal(ben).author(), StateDigest: v.StateDigest,
		NewHead: v.NewHead, Strategy: v.Strategy, Nonce: token.Envelope.Nonce, CreatedAt: ledger.FormatTime(w.now)}
	if err := w.force(ben, TypeReview, r.Seal()); err != nil {
		t.Fatal(err)
	}
	wantReason(t, w.force(ada, TypeMerge, (&Merge{Token: *token, MergedAt: ledger.FormatTime(w.now)}).Seal()), ReasonReviewer)
	wantReason(t, w.tryMerge(ada, token), ReasonReviewer)
}

func TestAScopeFlowHasToBeAcknowledged(t *testing.T) {
	w := newWorld(t)
	w.root()
	v := w.show(ada, w.propose(one, w.commit(one, session("one", "a"), add(`{"content":"x","visibility":"private"}`))))
	_, _, err := w.fold().Approve(w.clerk(ada), w.approval(ada, v))
	wantReason(t, err, ReasonConflicts)
	if _, _, err = w.fold().Approve(w.clerk(ada), acknowledge(w.approval(ada, v), v)); err != nil {
		t.Error(err)
	}
}
