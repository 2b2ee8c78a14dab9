package ledger

import (
	"slices"
	"strings"
	"testing"
)

func TestALineOfInvalidUTF8IsNoRecordThoughItsDigestIsRight(t *testing.T) {
	before, after := seal(t, 1, `"before"`), seal(t, 3, `"after"`)
	for name, bad := range map[string]string{"a stray byte": "\xff", "a cut character": "\xf0\x9f", "a surrogate": "\xed\xa0\x80", "an overlong slash": "\xc0\xaf"} {
		spoiled := reseal([]byte(strings.Replace(string(seal(t, 2, `"here"`).Line()), "here", bad, 1)))
		if r, fault := ParseLine(spoiled); fault != InvalidEnvelope || r.Line() != nil {
			t.Errorf("%s: %q, %v", name, fault, r)
		}
		content := lines(before) + string(spoiled) + "\n" + lines(after)
		l := OpenSnapshot(oneShard(content), DefaultLimits())
		want := []Diagnostic{{Code: InvalidEnvelope, File: fileName(1), Line: 2}}
		if l.Len() != 2 || !l.Has(before.SHA()) || !l.Has(after.SHA()) || !slices.Equal(l.Diagnostics(), want) {
			t.Errorf("%s: %d records, %v", name, l.Len(), l.Diagnostics())
		}
		if records, err := ReadSegment([]byte(content)); err == nil || records != nil {
			t.Errorf("%s: a segment of %d records", name, len(records))
		}
	}
}

func TestALineLongerThanAnyShardIsNoRecord(t *testing.T) {
	short := seal(t, 1, `"x"`)
	long := reseal([]byte(strings.Replace(string(short.Line()), `"x"`, `"`+strings.Repeat("x", maxSegmentBytes)+`"`, 1)))
	if r, fault := ParseLine(long); fault == "" || r.Line() != nil {
		t.Errorf("fault %q", fault)
	}
	if r, err := Seal(Draft{ID: testID(1), Payload: []byte(fill(maxSegmentBytes)), Timestamp: FormatTime(noon), Type: "note"}); err == nil {
		t.Errorf("sealed %d bytes", len(r.Line()))
	}
}
