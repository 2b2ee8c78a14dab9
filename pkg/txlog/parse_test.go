package txlog

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/ledger"
)

const (
	base = `{"type":"ledger_mutation","operation":"append","timestamp":"2026-01-01T00:00:00.000Z","record":{"id":"ldg-11111111-2222-4333-8444-555555555555","type":"note","timestamp":"2026-01-01T00:00:00.000Z","parents":[],"sha":"sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","payload_sha":"sha256:bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"}}`
	id   = "ldg-11111111-2222-4333-8444-555555555555"
	when = "2026-01-01T00:00:00.000Z"
)

func sha(i int) string { return fmt.Sprintf("sha256:%064x", i) }

// with replaces the first occurrence of old in the base event.
func with(old, new string) string {
	if !strings.Contains(base, old) {
		panic(old)
	}
	return strings.Replace(base, old, new, 1)
}

func quotedList(items ...string) string {
	return `"parents":["` + strings.Join(items, `","`) + `"]`
}

func manyParents(n int) []string {
	var list []string
	for i := range n {
		list = append(list, sha(i))
	}
	return list
}

func TestALineThatIsNoEventIsDroppedWithAReasonThatShowsNothingOfIt(t *testing.T) {
	parents := `"parents":[]`
	for _, test := range []struct{ name, line, reason string }{
		{"a second spelling of a name", with(`"record":`, `"Record":{},"record":`), "a member name that can be taken"},
		{"a name with the Kelvin sign or a long s", with(`"sha":`, `"`+"\u017f"+`ha":1,"sha":`), "a member name that can be taken"},
		{"a name and a NUL", with(`"id":`, `"id\u0000":1,"id":`), "a member name that can be taken"},
		{"a name and a zero width space", with(`"operation":`, `"operation`+"\u200b"+`":1,"operation":`), "a member name that can be taken"},
		{"only the wrong spelling", with(`"operation":`, `"Operation":`), "operation is not append"},
		{"a repeated name", with(`"type":`, `"type":"x","type":`), string(canonical.Duplicate)},
		{"a repeated name in the record", with(`"id":`, `"id":"x","id":`), string(canonical.Duplicate)},
		{"a repeated foreign name, deep", with(`"type":`, `"x":[{"y":{},"y":{}}],"type":`), string(canonical.Duplicate)},
		{"two values on one line", base + base, string(canonical.Syntax)},
		{"a torn line", base[:100], string(canonical.Syntax)},
		{"zero bytes", strings.Repeat("\x00", 300), string(canonical.Syntax)},
		{"an event and zero bytes", base + "\x00\x00\x00", string(canonical.Syntax)},
		{"conflict marker", "<<<<<<< HEAD", string(canonical.Syntax)}, {"a comment", "# note", string(canonical.Syntax)},
		{"a list", "[]", string(canonical.Mismatch)}, {"a string", `"str"`, string(canonical.Mismatch)},
		{"null", "null", string(canonical.Mismatch)}, {"a number", "1", string(canonical.Mismatch)}, {"an empty object", "{}", "type is not"},
		{"a foreign type", `{"type":"create_issue"}`, "type is not"},
		{"invalid UTF-8", with("note", "no\xff"), string(canonical.UTF8)},
		{"an unpaired surrogate", with("note", `no\ud800`), string(canonical.Surrogate)},
		{"nesting", with(`"type":`, `"x":`+strings.Repeat("[", 40)+strings.Repeat("]", 40)+`,"type":`), string(canonical.Depth)},
		{"null for a text", with(`"`+id+`"`, "null"), string(canonical.Mismatch)},
		{"null for the parents", with(parents, `"parents":null`), "parents are missing"},
		{"no parents", with(parents, `"x":1`), "parents are missing"},
		{"null in the parents", with(parents, `"parents":[null]`), string(canonical.Mismatch)},
		{"parents out of order", with(parents, quotedList(sha(2), sha(1))), "not strictly ascending"},
		{"a parent twice", with(parents, quotedList(sha(1), sha(1))), "not strictly ascending"},
		{"65 parents", with(parents, quotedList(manyParents(65)...)), "more than 64 parents"},
		{"a bare UUID", with(id, id[4:]), "record id"}, {"a UUID of version 1", with("-4333-", "-1333-"), "record id"},
		{"an id with more behind it", with(id, id+" "), "record id"}, {"no id", with(`"id":`, `"x":`), "record id"},
		{"an empty type", with(`"note"`, `""`), "record type"}, {"a C1 control in the type", with("note", "no\u0085"), "record type"},
		{"DEL in the type", with("note", "no\x7f"), "record type"},
		{"a time with a comma", with("00.000Z", "00,000Z"), "timestamp"}, {"no time zone", with("00.000Z", "00.000"), "timestamp"},
		{"the 30th of February", with("2026-01-01", "2026-02-30"), "timestamp"},
		{"a record time that is text", strings.Replace(base, `"timestamp":"`+when+`","parents"`, `"timestamp":"ignore all rules","parents"`, 1), "record timestamp"},
		{"a digest in upper case", with("aaaa", "AAAA"), "record sha"}, {"a short digest", with("aaaa", "aaa"), "record sha"},
		{"no payload digest", with(`"payload_sha":`, `"payload":`), "record payload_sha"},
		{"over the line bound", with(`"type":`, `"x":"`+strings.Repeat("y", maxLineBytes)+`","type":`), "longer than any event"},
	} {
		e, err := parseEvent([]byte(test.line))
		if err == nil || !strings.Contains(err.Error(), test.reason) {
			t.Errorf("%s: %v, want %q", test.name, err, test.reason)
		}
		if !reflect.DeepEqual(e, Event{}) {
			t.Errorf("%s: an event beside the error", test.name)
		}
	}
}

func TestEventsAtTheirBoundsAreKeptAndForeignMembersDropped(t *testing.T) {
	parents := `"parents":[]`
	for name, test := range map[string]struct{ line, want string }{
		"64 parents":            {with(parents, quotedList(manyParents(64)...)), with(parents, quotedList(manyParents(64)...))},
		"128 units of type":     {with("note", strings.Repeat("😀", 64)), with("note", strings.Repeat("😀", 64))},
		"quotes in the type":    {with("note", `a\"b\\c`), with("note", `a\"b\\c`)},
		"escapes in the type":   {with("note", `\u00e9\u202e`), with("note", "é\u202e")},
		"members of the future": {with(`"record":{`, `"x_future":{"k":[1,2.50,9007199254740993]},"record":{"payload":{"secret":1},"labels":["b"],`), base},
		"__proto__":             {with(`"record":{`, `"__proto__":{"type":"x"},"record":{"__proto__":1,`), base},
	} {
		e, err := parseEvent([]byte(test.line))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := string(e.Entry()); got != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, test.want)
		}
		text, err := canonical.Transform([]byte(test.want))
		if err != nil || string(e.Line()) != string(text) {
			t.Errorf("%s: line\n%s\nis not the canonical text of the entry\n%s %v", name, e.Line(), text, err)
		}
	}
}

func TestNothingOfOneLineLeaksIntoTheNext(t *testing.T) {
	g := newGatherer()
	g.add(1, []byte(with(`"parents":[]`, quotedList(sha(1)))))
	g.add(2, []byte(strings.Replace(with("aaaa", "cccc"), `"parents":[],`, "", 1)))
	g.add(3, []byte(with("aaaa", "dddd")))
	if len(g.events) != 2 || g.events[1].Parents != nil || g.faults[0] != (Fault{2, "record parents are missing"}) {
		t.Errorf("%+v", g)
	}
}

func TestAnEventOfARecordDescribesItAndHoldsNoPayload(t *testing.T) {
	r, err := ledger.Seal(ledger.Draft{ID: id, Payload: []byte(`{"secret":"hunter2"}`), Timestamp: when, Type: "note"})
	must(t, err)
	at, _ := ledger.ParseTime(when)
	e := EventOf(r, at)
	if !e.describes(r) || strings.Contains(string(e.Line())+string(e.Entry()), "hunter2") {
		t.Errorf("%s", e.Line())
	}
	if e.PayloadSHA.String() != canonical.Sum([]byte(`{"secret":"hunter2"}`)) {
		t.Error("payload digest")
	}
	if back, err := parseEvent(e.Line()); err != nil || !reflect.DeepEqual(back.Entry(), e.Entry()) {
		t.Errorf("%v", err)
	}
}
