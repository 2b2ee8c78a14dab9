package memory

import "testing"

func TestTheDigestOfAStateIsThatOfItsRecordsAndOfNothingElse(t *testing.T) {
	w := newWorld(t)
	w.root()
	before := w.fold().Digest()
	if again := w.fold().Digest(); again != before {
		t.Errorf("two folds have the digests %v and %v", before, again)
	}
	head := w.commit(one, session("one", "a"), fact("port", "80"))
	committed := w.fold().Digest()
	w.propose(one, head)
	if proposed := w.fold().Digest(); committed == before || proposed == committed {
		t.Error("a change does not show in the digest")
	}
	s := w.fold()
	s.Advance()
	if s.Digest() != w.fold().Digest() {
		t.Error("an advanced state has another digest than a fresh one")
	}
	// A forgery changes diagnostics alone, and the digest says so.
	clean := w.fold().Digest()
	w.publish(w.stage(RecordDraft{TypeMerge, []byte(`{}`)}))
	if w.fold().Digest() == clean {
		t.Error("a diagnostic does not show in the digest")
	}
}
