package txlog

import (
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/safeoutput"
)

// mutation is the type of every event.
const mutation = "ledger_mutation"

// wireEvent is an event as JSON. A member that is missing stays "" and breaks
// the rule of its field; null is refused by the decoder.
type wireEvent struct {
	Type      string                    `json:"type"`
	Operation string                    `json:"operation"`
	Timestamp string                    `json:"timestamp"`
	Record    wireRecord                `json:"record"`
	Others    map[string]jsontext.Value `json:",embed"`
}

type wireRecord struct {
	ID         string                    `json:"id"`
	Type       string                    `json:"type"`
	Timestamp  string                    `json:"timestamp"`
	Parents    *[]string                 `json:"parents"` // a pointer tells [] from no parents at all
	SHA        string                    `json:"sha"`
	PayloadSHA string                    `json:"payload_sha"`
	Others     map[string]jsontext.Value `json:",embed"`
}

// parseEvent reads one event from JSON text. The error is a fixed sentence or the
// rule of the decoder, and shows nothing of the text.
func parseEvent(text []byte) (Event, error) {
	if len(text) > maxLineBytes {
		return Event{}, errors.New("longer than any event")
	}
	var w wireEvent
	if err := canonical.Decode(text, &w, canonical.AllowUnknown); err != nil {
		return Event{}, errors.New(safeoutput.Rule(err))
	}
	switch {
	case w.Type != mutation:
		return Event{}, errors.New("type is not ledger_mutation")
	case w.Operation != "append":
		return Event{}, errors.New("operation is not append")
	case safeoutput.LookAlike(w.Others, "type", "operation", "timestamp", "record"),
		safeoutput.LookAlike(w.Record.Others, "id", "type", "timestamp", "parents", "sha", "payload_sha"):
		return Event{}, errors.New("a member name that can be taken for another one")
	case w.Record.Parents == nil:
		return Event{}, errors.New("record parents are missing")
	}
	e := Event{At: w.Timestamp, ID: w.Record.ID, Type: w.Record.Type, Timestamp: w.Record.Timestamp}
	ok := false
	if e.SHA, ok = ledger.ParseHash(w.Record.SHA); !ok {
		return Event{}, errors.New("record sha is not a digest")
	}
	if e.PayloadSHA, ok = ledger.ParseHash(w.Record.PayloadSHA); !ok {
		return Event{}, errors.New("record payload_sha is not a digest")
	}
	for _, parent := range *w.Record.Parents {
		hash, ok := ledger.ParseHash(parent)
		if !ok {
			return Event{}, errors.New("a record parent is not a digest")
		}
		e.Parents = append(e.Parents, hash)
	}
	if err := e.check(); err != nil {
		return Event{}, err
	}
	return e, nil
}

// Fault is a line that was dropped: its number, counted from 1, and why. The
// reason shows nothing of the line.
type Fault struct {
	Line   int
	Reason string
}

// gatherer collects events one text at a time: each digest once, bounded.
type gatherer struct {
	events    []Event
	duplicate int
	dropped   int
	faults    []Fault
	seen      map[ledger.Hash]bool
	ids       map[string]ledger.Hash
	conflicts int
}

func newGatherer() *gatherer {
	return &gatherer{seen: map[ledger.Hash]bool{}, ids: map[string]ledger.Hash{}}
}

func (g *gatherer) drop(line int, reason string) {
	g.dropped++
	if len(g.faults) < MaxFaults {
		g.faults = append(g.faults, Fault{line, reason})
	}
}

// add reads the text that stands on the given line.
func (g *gatherer) add(line int, text []byte) {
	e, err := parseEvent(text)
	switch {
	case err != nil:
		g.drop(line, err.Error())
		return
	case g.seen[e.SHA]:
		g.duplicate++
		return
	}
	g.seen[e.SHA] = true
	if len(g.events) >= MaxEntries {
		g.drop(line, "more events than are kept")
		return
	}
	if other, taken := g.ids[e.ID]; taken && other != e.SHA {
		g.conflicts++
	}
	g.ids[e.ID] = e.SHA
	g.events = append(g.events, e)
}
