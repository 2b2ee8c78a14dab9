package txlog

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/safeoutput"
)

// Listing is what a file says about appends: claims, for people to read
// (specification, sections 3 and 9). Types and ids in it were chosen by a
// stranger and reach a log only through the printer.
type Listing struct {
	// Events has each digest once, at most [MaxEntries], in the file's order.
	Events []Event
	// Other counts entries that are no ledger_mutation and none of our business, and
	// those that are one but name neither an operation nor a record: an agent whose
	// platform knows the entry as a tool may call it to say that it appended.
	Other int
	// Duplicate, Dropped, Faults and Conflicts are as in [Report]; the line of a
	// fault in a document of items is the item's number.
	Duplicate, Dropped int
	Faults             []Fault
	Conflicts          int
}

// TypeCount is how often a record type occurs.
type TypeCount struct {
	Type string
	N    int
}

// Types counts the events by record type, the most frequent first.
func (l Listing) Types() []TypeCount {
	counts := map[string]int{}
	for _, e := range l.Events {
		counts[e.Type]++
	}
	var types []TypeCount
	for _, typ := range slices.Sorted(maps.Keys(counts)) {
		types = append(types, TypeCount{typ, counts[typ]})
	}
	slices.SortStableFunc(types, func(a, b TypeCount) int { return b.N - a.N })
	return types
}

// Read lists the events of a transaction log, a safe-output file or an agent output
// (package safeoutput). The file is opened as in [Merge] and has at most 64 MiB. A file that does not exist is an
// error that wraps fs.ErrNotExist; errors name no path.
func Read(path string) (Listing, error) {
	data, err := safeoutput.Read(path)
	if err != nil {
		return Listing{}, fmt.Errorf("audit entries cannot be read: %w", err)
	}
	return Parse(data), nil
}

// Parse is [Read] for bytes. What cannot be read is dropped and counted.
func Parse(data []byte) Listing {
	var l Listing
	g := newGatherer()
	add := func(number int, text []byte) {
		if number > maxLines {
			g.drop(number, "more entries than are read")
			return
		}
		var head struct {
			Type      string         `json:"type"`
			Operation jsontext.Value `json:"operation"`
			Record    jsontext.Value `json:"record"`
		}
		if len(text) > maxLineBytes && !bytes.Contains(text, []byte(mutation)) {
			l.Other++
			return
		}
		if err := canonical.Decode(text, &head, canonical.AllowUnknown); err != nil {
			g.drop(number, safeoutput.Rule(err))
			return
		}
		switch {
		case head.Type == mutation && (head.Operation != nil || head.Record != nil):
			g.add(number, text)
		case head.Type == "":
			g.drop(number, "type is missing")
		default:
			l.Other++
		}
	}
	for number, text := range safeoutput.Entries(data) {
		add(number, text)
	}
	l.Events, l.Duplicate, l.Dropped, l.Faults, l.Conflicts = g.events, g.duplicate, g.dropped, g.faults, g.conflicts
	return l
}
