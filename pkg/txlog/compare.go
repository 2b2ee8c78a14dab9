package txlog

import (
	"slices"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// Gaps says where records and events disagree. It is a notice and never a
// reason to admit or refuse: events are claims, and a failed audit write leaves
// a gap by design (specification, section 5.2). All lists ascend, each digest
// once.
type Gaps struct {
	// Unlogged records have no event.
	Unlogged []ledger.Hash
	// Unrecorded events have no record.
	Unrecorded []ledger.Hash
	// Differing records have an event with their digest that describes them
	// otherwise than they are; no honest writer makes one.
	Differing []ledger.Hash
}

// None reports whether records and events agree.
func (g Gaps) None() bool {
	return len(g.Unlogged) == 0 && len(g.Unrecorded) == 0 && len(g.Differing) == 0
}

// Compare compares the records that a run staged with the events that it logged.
func Compare(records []ledger.Record, events []Event) Gaps {
	var g Gaps
	staged := make(map[ledger.Hash]ledger.Record, len(records))
	for _, r := range records {
		staged[r.SHA()] = r
	}
	logged := make(map[ledger.Hash]bool, len(events))
	for _, e := range events {
		logged[e.SHA] = true
		r, ok := staged[e.SHA]
		if !ok {
			g.Unrecorded = append(g.Unrecorded, e.SHA)
		} else if !e.describes(r) {
			g.Differing = append(g.Differing, e.SHA)
		}
	}
	for sha := range staged {
		if !logged[sha] {
			g.Unlogged = append(g.Unlogged, sha)
		}
	}
	for _, list := range []*[]ledger.Hash{&g.Unlogged, &g.Unrecorded, &g.Differing} {
		slices.SortFunc(*list, ledger.Hash.Compare)
		*list = slices.Compact(*list)
	}
	return g
}

// describes reports whether the event says what its record is.
func (e Event) describes(r ledger.Record) bool {
	t, ok := ledger.ParseTime(e.At)
	return ok && string(EventOf(r, t).Line()) == string(e.Line())
}
