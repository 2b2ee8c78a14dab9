package ledger

import (
	"slices"
	"strings"
	"testing"
)

func TestAppendKeepsAPayloadExactlyOrRefusesIt(t *testing.T) {
	for _, c := range []struct{ name, payload, want, path string }{
		{"white space and order do not matter", ` { "b" : 1.50, "a" : "\u00e9" } `, `{"a":"é","b":1.5}`, ""},
		{"a payload nested 29 deep can be compacted", nested(29), nested(29), ""},
		{"30 deep is refused", nested(30), "", "..."},
		{"30 empty lists are 29 deep", strings.Repeat("[", 30) + strings.Repeat("]", 30), strings.Repeat("[", 30) + strings.Repeat("]", 30), ""},
		{"invalid UTF-8 is refused", "{\"zq7\":\"zq8\xff\"}", "", ""},
		{"an unpaired surrogate is refused", `{"a":["zq8","zq8\ud800"]}`, "", "payload.a[1]"},
		{"an unpaired surrogate in a name is refused", `{"a":{"zq9\udc00":"zq8"}}`, "", "*"},
		{"a number that overflows is refused", `{"a":[1,1e400]}`, "", "payload.a[1]"},
		{"one that underflows is zero", `[1e-400]`, `[0]`, ""},
		{"an integer that a double changes is refused", `{"n":9007199254740993}`, "", "payload.n"},
		{"the same with an exponent", `{"n":9007199254740993e0}`, "", "payload.n"},
		{"the same with a fraction of zeros", `{"n":9007199254740993.000}`, "", "payload.n"},
		{"an integer that its canonical text changes is refused", `[144115188075855872]`, "", "payload[0]"},
		{"2^53 is kept", `[9007199254740992,-9007199254740992]`, `[9007199254740992,-9007199254740992]`, ""},
		{"1e21 is a magnitude and kept", `[1e21]`, `[1e+21]`, ""},
		{"a duplicate name is refused", `{"a":{"zq9":"zq8","zq9":2}}`, "", "*"},
		{"the same name spelled with an escape is refused", `{"a":"zq8","\u0061":2}`, "", "*"},
		{"no text is refused", ``, "", "*"},
		{"two texts are refused", `"zq8" "zq8"`, "", "*"},
		{"a text that ends early is refused", `{"a":"zq8"`, "", "*"},
		{"a byte order mark is refused", "\ufeff1", "", "*"},
		{"null, true and a bare number are payloads", `null`, `null`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWriter(t, t.TempDir(), DefaultLimits(), 1)
			r, err := w.Append("note", []byte(c.payload))
			if c.want != "" {
				if err != nil || string(r.Payload()) != c.want {
					t.Errorf("%s, %v; want %s", r.Payload(), err, c.want)
				}
				return
			}
			refusal, ok := err.(*Refusal)
			if !ok || refusal.Rule != RulePayload || !strings.HasPrefix(refusal.Path, "payload") {
				t.Fatalf("%v, want a refusal of the payload", err)
			}
			if strings.HasPrefix(c.path, "payload") && refusal.Path != c.path {
				t.Errorf("path %q, want %q", refusal.Path, c.path)
			}
			for _, value := range []string{"zq8", "9007199254740993", "144115188075855872", "1e400"} {
				if strings.Contains(err.Error(), value) {
					t.Errorf("%q shows a value", err)
				}
			}
			if names := shardFiles(t, w.dir.path); len(names) != 0 || w.Len() != 0 {
				t.Errorf("a refusal left %v and %d records", names, w.Len())
			}
		})
	}
}

func TestAStagedPayloadIsJudgedLikeAnAppendedOne(t *testing.T) {
	for _, c := range []struct{ name, payload, path string }{
		{"nested 29 deep", nested(29), ""},
		{"nested 30 deep", nested(30), "payload" + strings.Repeat("[0]", 30)},
		{"an unpaired surrogate", `{"a":"zq8\ud83d"}`, "payload.a"},
		{"an integer that its canonical text changes", `{"a":144115188075855870}`, "payload.a"},
		{"integers that doubles hold", `[9007199254740992,1e+21,100000000000000000000]`, ""},
	} {
		verdict := judged(t, emptyLedger(), seal(t, 1, c.payload))[0]
		if c.path == "" {
			if verdict != nil {
				t.Errorf("%s: %v", c.name, verdict)
			}
			continue
		}
		mustRefuse(t, verdict, RulePayload, c.path, "zq8", "144115188075855870")
	}
	// Names are shown, but only in ASCII and cut.
	hostile := seal(t, 1, `{"\u001b[31m`+strings.Repeat("é", 200)+`":["\ud800"]}`)
	verdict := judged(t, emptyLedger(), hostile)[0]
	if verdict == nil || verdict.Rule != RulePayload || len(verdict.Error()) > 300 ||
		strings.ContainsFunc(verdict.Error(), func(r rune) bool { return r < 0x20 || r > 0x7e }) {
		t.Errorf("%q", verdict)
	}
}

// TestAJudgeOfPayloadsRefusesARecordAndItsDescendants leaves reserved types to
// the policy that admits them.
func TestAJudgeOfPayloadsRefusesARecordAndItsDescendants(t *testing.T) {
	bad := sealDraft(t, Draft{ID: testID(1), Payload: []byte(`"bad"`), Type: "note"})
	child := sealDraft(t, Draft{ID: testID(2), Parents: []Hash{bad.SHA()}, Payload: []byte(`"good"`), Type: "note"})
	other := sealDraft(t, Draft{ID: testID(3), Payload: []byte(`"good"`), Type: "note"})
	reserved := sealDraft(t, Draft{ID: testID(4), Payload: []byte(`"bad"`), Type: "thread.step"})
	a := Admission{Base: emptyLedger(), Now: noon, Allow: IsReserved, Payload: func(payload []byte) *Refusal {
		if string(payload) == `"bad"` {
			return &Refusal{"payload-schema", "payload", "is bad"}
		}
		return nil
	}}
	var rules []Rule
	for _, verdict := range a.Admit([]Record{bad, child, other, reserved}) {
		if verdict == nil {
			verdict = &Refusal{}
		}
		rules = append(rules, verdict.Rule)
	}
	if want := []Rule{"payload-schema", RuleParent, "", ""}; !slices.Equal(rules, want) {
		t.Errorf("the rules are %v, want %v", rules, want)
	}
}
