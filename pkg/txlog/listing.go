package txlog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/regular"
)

// Listing is what a file says about appends: claims, for people to read
// (specification, sections 3 and 9). Types and ids in it were chosen by a
// stranger and reach a log only through the printer.
type Listing struct {
	// Events has each digest once, at most [MaxEntries], in the file's order.
	Events []Event
	// Other counts entries that are no ledger_mutation and none of our business.
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

// Read lists the events of a transaction log, a safe-output file (one JSON value
// a line) or an agent output (one JSON document {"items": [...]}). The file is
// opened as in [Merge] and has at most 64 MiB. A file that does not exist is an
// error that wraps fs.ErrNotExist; errors name no path.
func Read(path string) (Listing, error) {
	data, err := regular.ReadFile(path, maxOutputBytes)
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
			Type string `json:"type"`
		}
		if len(text) > maxLineBytes && !bytes.Contains(text, []byte(mutation)) {
			l.Other++
			return
		}
		if err := canonical.Decode(text, &head, canonical.AllowUnknown); err != nil {
			g.drop(number, ruleOf(err).Error())
			return
		}
		switch head.Type {
		case mutation:
			g.add(number, text)
		case "":
			g.drop(number, "type is missing")
		default:
			l.Other++
		}
	}
	if items, ok := splitItems(data); ok {
		for i, item := range items {
			add(i+1, item)
		}
	} else {
		number := 0
		for line := range bytes.Lines(data) {
			number++
			if line = bytes.TrimFunc(line, isBlank); len(line) > 0 {
				add(number, line)
			}
		}
	}
	l.Events, l.Duplicate, l.Dropped, l.Faults, l.Conflicts = g.events, g.duplicate, g.dropped, g.faults, g.conflicts
	return l
}

// splitItems returns the texts of the items of a document {"items": [...]}. ok
// is false for anything else: a file of lines, a document with a type, or one
// with two lists of items. The items are not judged here, so that one bad item
// does not hide the others.
func splitItems(data []byte) (items [][]byte, ok bool) {
	in := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if open, err := in.ReadToken(); err != nil || open.Kind() != '{' {
		return nil, false
	}
	for in.PeekKind() == '"' {
		name, err := in.ReadToken()
		if err != nil {
			return nil, false
		}
		switch key := name.String(); {
		case strings.EqualFold(key, "type"):
			return nil, false
		case key != "items":
			if in.SkipValue() != nil {
				return nil, false
			}
		case ok:
			return nil, false
		default:
			if items, err = readItems(in); err != nil {
				return nil, false
			}
			ok = true
		}
	}
	if _, err := in.ReadToken(); err != nil {
		return nil, false
	}
	_, err := in.ReadToken()
	return items, ok && err == io.EOF
}

func readItems(in *jsontext.Decoder) ([][]byte, error) {
	if open, err := in.ReadToken(); err != nil || open.Kind() != '[' {
		return nil, errors.New("no list")
	}
	var items [][]byte
	for in.PeekKind() != ']' {
		value, err := in.ReadValue()
		if err != nil {
			return nil, err
		}
		items = append(items, bytes.Clone(value))
	}
	_, err := in.ReadToken()
	return items, err
}
