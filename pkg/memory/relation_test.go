package memory

import (
	"fmt"
	"testing"
)

func TestALongListOfMarksCostsWhatIsNew(t *testing.T) {
	w := newWorld(t)
	w.root()
	w.commit(one, session("one", "a"), named("m", `{"content":"m"}`), named("n", `{"content":"n"}`))
	for range 3 {
		w.commit(one, session("one", "a"), op(AddRelationship, "m", "n", `{"kind":"k"}`), op(AttachEvidence, "m", "", `{"summary":"x"}`))
	}
	s := w.fold()
	head := w.ref(session("one", "a"))
	var last Relations
	for _, m := range s.MemoryAt("demo", head) {
		if m.ID == "m" {
			last = m.Relations
		}
	}
	if last.Len() != 3 || fmt.Sprint(last.List()) != "[{k n} {k n} {k n}]" || last.String() != "[{k n} {k n} {k n}]" {
		t.Errorf("%v", last)
	}
	// Every changeset keeps its own version of the memory; they share the list.
	c, _ := s.Changeset("demo", head)
	before, _ := s.projects["demo"].known(c.Parents[0])
	if shared := before.view.find(s.projects["demo"], "m").Relations.last; last.last.before != shared {
		t.Error("the list was copied")
	}
	if got := testing.AllocsPerRun(10, func() { last.with(Relation{"k", "n"}) }); got > 1 {
		t.Errorf("%v allocations for one relation", got)
	}
}
