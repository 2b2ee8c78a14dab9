package memory

import (
	"fmt"
	"testing"
)

// A manifest is short, what it pins is not, and every fold makes it again.
func TestWhatManifestsCostAFoldIsBounded(t *testing.T) {
	w := newWorld(t)
	w.limits.MaxRecordBytes = 1 << 20
	w.root()
	const size, count = 16_000, 20
	var all []Op
	for i := range count {
		all = append(all, named(fmt.Sprintf("m%02d", i), fmt.Sprintf(`{"content":%q}`, fmt.Sprint(i)+long(size))))
	}
	ref := session("one", "a")
	w.commit(one, ref, all...)
	s := w.fold()
	c, m, err := s.ContextAt(ContextQuery{Project: "demo", Ref: ref, MaxTokens: MaxContextTokens})
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Memories) == count {
		t.Fatal("all of it fits")
	}
	// Pins of more than any context holds.
	over := *m
	over.Memories = nil
	for i := range count {
		over.Memories = append(over.Memories, Pin{fmt.Sprintf("m%02d", i), "recent"})
	}
	_, err = s.ContextOf(&over)
	wantReason(t, err, ReasonPins)
	if err == nil || err.Error() != "pins: the manifest pins more than 64000 tokens" {
		t.Error(err)
	}
	// As many as one run may pin, and one more.
	fit := MaxLinkContextBytes / len(c.Text())
	var drafts []RecordDraft
	for range fit + 1 {
		again := *m
		q, err := s.Pin(w.agent(one), &again)
		if err != nil {
			t.Fatal(err)
		}
		drafts = append(drafts, q.Records...)
	}
	verdicts := w.persist(one, w.stage(drafts...)...).Verdicts
	for i, v := range verdicts {
		if v.Accepted != (i < fit) || !v.Accepted && v.Reason != ReasonBound {
			t.Errorf("manifest %d of %d: %+v", i+1, fit, v)
		}
	}
	w.clean()
}
