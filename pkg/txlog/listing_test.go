package txlog

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/ledger"
)

func TestTheSameEventsAreListedFromEveryFormOfFile(t *testing.T) {
	second := with("aaaa", "cccc")
	e, err := parseEvent([]byte(base))
	must(t, err)
	for name, text := range map[string]string{
		"transaction log":       string(e.Line()) + "\n" + second + "\n",
		"safe-output file":      `{"type":"create_issue","body":"x"}` + "\n" + base + "\n" + second,
		"agent output":          `{"errors":[],"items":[` + base + `,{"type":"noop"},` + second + `]}`,
		"agent output, printed": "{\n  \"items\": [\n    " + base + ",\n    " + second + "\n  ]\n}\n",
		"agent output beside hostile members": `{"errors":["` + "\xff" + `",{"a":1,"a":2},` + strings.Repeat("[", 500) + strings.Repeat("]", 500) +
			`],"items":[` + base + `,` + second + `]}`,
	} {
		l := Parse([]byte(text))
		if len(l.Events) != 2 || l.Dropped != 0 || string(l.Events[0].Entry()) != base || string(l.Events[1].Entry()) != second {
			t.Errorf("%s: %+v", name, l)
		}
	}
}

func TestOneBadItemHidesNoOther(t *testing.T) {
	for _, bad := range []string{
		`1`, `null`, `{}`, `{"type":5}`, `{"type":"ledger_mutation","record":null}`, `{"type":"ledger_mutation","operation":"append"}`, `{"type":"ledger_mutation","type":"x"}`, `{"type":"x` + "\xff" + `"}`,
		`{"type":"ledger_mutation","x":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`, `{"type":"\ud800"}`,
		`{"type":"ledger_mutation","record":"` + strings.Repeat("y", maxLineBytes) + `"}`,
	} {
		for form, text := range map[string]string{"items": `{"items":[` + bad + `,` + base + `]}`, "lines": bad + "\n" + base} {
			l := Parse([]byte(text))
			if len(l.Events) != 1 || l.Dropped != 1 || l.Faults[0].Line != 1 || l.Other != 0 {
				t.Errorf("%s %.60q: %+v", form, bad, l)
			}
		}
	}
}

// TestACallThatNamesNoRecordIsNoClaim: a platform that offers the entry to its
// agent as a tool writes one for each call.
func TestACallThatNamesNoRecordIsNoClaim(t *testing.T) {
	for _, text := range []string{`{"type":"ledger_mutation"}`, `{"type":"ledger_mutation","summary":"appended two notes"}`} {
		l := Parse([]byte(text + "\n" + base))
		if len(l.Events) != 1 || l.Dropped != 0 || l.Other != 1 {
			t.Errorf("%s: %+v", text, l)
		}
	}
}

func TestADocumentThatIsNotOneListOfItemsIsReadAsLines(t *testing.T) {
	for _, text := range []string{
		`{"items":[` + base + `],"items":[]}`, `{"items":` + base + `}`, `{"items":[` + base + `]} x`, `{"items":[` + base + `,]}`, `[` + base + `]`,
		`{"items":[` + base + `]`, `{"Items":[` + base + `]}`,
	} {
		l := Parse([]byte(text))
		if len(l.Events) != 0 || l.Dropped != 1 {
			t.Errorf("%s: %+v", text[:20], l)
		}
	}
	if l := Parse([]byte(`{"items":[` + base + "]}\n" + `{"items":[]}`)); len(l.Events) != 0 || l.Dropped != 2 {
		t.Errorf("%+v", l)
	}
	if l := Parse([]byte(`{"type":"x","items":[` + base + `]}`)); len(l.Events) != 0 || l.Other != 1 {
		t.Errorf("%+v", l)
	}
	if l := Parse(nil); !reflect.DeepEqual(l, Listing{}) {
		t.Errorf("%+v", l)
	}
}

func TestAListingIsBoundedAndCountsTypes(t *testing.T) {
	var b strings.Builder
	for i := range MaxEntries + 5 {
		b.WriteString(strings.Replace(numbered(base, i), "note", fmt.Sprintf("t%d", i%3), 1))
	}
	b.WriteString(`{"type":"create_issue","body":"` + strings.Repeat("x", 200_000) + "\"}\n")
	l := Parse([]byte(b.String()))
	if len(l.Events) != MaxEntries || l.Dropped != 5 || l.Other != 1 {
		t.Errorf("%d events, %d dropped, %d other", len(l.Events), l.Dropped, l.Other)
	}
	if got := fmt.Sprint(l.Types()); got != "[{t0 334} {t1 333} {t2 333}]" {
		t.Error(got)
	}
}

func TestAFileThatIsNotThereIsAnErrorOfItsOwn(t *testing.T) {
	dir := t.TempDir()
	_, err := Read(filepath.Join(dir, "log"))
	if !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), dir) {
		t.Errorf("%v", err)
	}
}

func TestCompareFindsRecordsWithoutEventAndEventsWithoutRecord(t *testing.T) {
	at, _ := ledger.ParseTime(when)
	var records []ledger.Record
	for i := range 4 {
		r, err := ledger.Seal(ledger.Draft{ID: fmt.Sprintf("ldg-11111111-2222-4333-8444-%012d", i), Payload: []byte("1"), Timestamp: when, Type: "note"})
		must(t, err)
		records = append(records, r)
	}
	forged := EventOf(records[1], at)
	forged.Type = "tombstone"
	later := EventOf(records[0], at.Add(5e9))
	g := Compare(records, []Event{later, forged, event(9), event(9), event(7)})
	want := Gaps{Differing: []ledger.Hash{records[1].SHA()}, Unrecorded: []ledger.Hash{event(7).SHA, event(9).SHA}}
	want.Unlogged = []ledger.Hash{records[2].SHA(), records[3].SHA()}
	if want.Unlogged[0].Compare(want.Unlogged[1]) > 0 {
		want.Unlogged[0], want.Unlogged[1] = want.Unlogged[1], want.Unlogged[0]
	}
	if !reflect.DeepEqual(g, want) || g.None() {
		t.Errorf("%+v, want %+v", g, want)
	}
	if g := Compare(records[:1], []Event{later}); !g.None() {
		t.Errorf("%+v", g)
	}
	if g := Compare(nil, nil); !g.None() {
		t.Errorf("%+v", g)
	}
}
