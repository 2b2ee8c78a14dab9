package memory

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/ledger"
)

// FuzzToken: what parses writes itself as the bytes that it was read from, and no
// bytes but those of a key's owner verify.
func FuzzToken(f *testing.F) {
	_, token := approved(f)
	good := token.Text()
	f.Add(good)
	f.Add(bytes.Replace(good, []byte(`"merger":"11"`), []byte(`"merger":"12"`), 1))
	f.Add(bytes.Replace(good, []byte(`fast_forward`), []byte(`merge_commit`), 1))
	f.Add([]byte("{}\n"))
	f.Add([]byte(`{"bound_to":{},"envelope":{},"mac":""}` + "\n"))
	ring := testRing(f)
	now, _ := ledger.ParseTime(token.Envelope.IssuedAt)
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := ParseToken(text)
		if err != nil {
			if got != nil || !errors.Is(err, ErrTokenForm) {
				t.Fatalf("%v", err)
			}
			return
		}
		if !bytes.Equal(got.Text(), text) {
			t.Fatal("a second spelling")
		}
		if got.Verify(ring, testBinding, now) == nil && !bytes.Equal(text, good) {
			t.Fatal("a token that nobody signed")
		}
		_ = got.Verify(ring, testBinding, time.Unix(1<<40, 0))
	})
}

// FuzzOperation: an op that validates leaves a memory within the bounds, and one
// that does not changes nothing.
func FuzzOperation(f *testing.F) {
	for _, s := range []string{`{"content":"x","kind":"fact","tags":["a"],"confidence":0.5}`, `{"content":" "}`, `{}`, `[]`, `{"duplicate_id":"m","duplicate_of":"n"}`,
		`{"kind":"k","from_memory_id":"m","to_memory_id":"n"}`, `{"reason":"r"}`, `{"summary":"s","reviewer":"r"}`, `{"content":"x","valid_from":"2026-01-01T00:00:00Z"}`} {
		for i := range OpTypes() {
			f.Add(uint8(i), "m", "", []byte(s))
		}
		f.Add(uint8(0), "", "p", []byte(s))
		f.Add(uint8(2), "m", "mem:x:0", []byte(s))
	}
	f.Fuzz(func(t *testing.T, typ uint8, target, result string, payload []byte) {
		o, fault := NewOp(append(OpTypes(), "other")[int(typ)%9], target, result, payload)
		if fault != nil {
			return
		}
		p := &project{id: "demo", memoryIndex: map[string]int32{}, byID: map[string]int32{}}
		s := &set{Changeset: &Changeset{ID: "c", Ops: []Op{named("m", `{"content":"m"}`), named("n", `{"content":"n"}`), o}}}
		for i := range s.Ops {
			before := s.view
			if fault := s.view.validateOp(p, s, i); fault != nil {
				if strings.Contains(fault.Detail, "\n") || i < 2 || !reflect.DeepEqual(before, s.view) {
					t.Fatalf("op %d: %v", i, fault)
				}
				return
			}
			s.view.apply(p, s, i)
		}
		s.view.mem.each(func(_ int32, m *Memory) {
			if m != nil && (len(m.Content) > MaxContentBytes || strings.TrimSpace(m.Content) == "" || len(m.ID) > MaxFieldBytes && m.ID == result || len(m.Tags) > MaxTags) {
				t.Fatalf("%+v", m)
			}
		})
	})
}

// FuzzFold: whatever payload stands under whatever type, listed or not, the fold
// ends and the same records give the same state.
func FuzzFold(f *testing.F) {
	w := busy(f)
	for r := range w.ledger().Records() {
		f.Add(r.Type(), r.Payload(), true)
	}
	f.Add(TypeAdmission, []byte(`{"seq":1}`), false)
	base, tip := w.lines, w.fold().tip
	want := dump(w.fold())
	f.Fuzz(func(t *testing.T, typ string, payload []byte, listed bool) {
		text, err := canonical.Transform(payload)
		if err != nil {
			return
		}
		r, err := ledger.Seal(ledger.Draft{ID: "ldg-00000000-0000-4000-8000-00000000f022", Payload: text, Timestamp: "2026-11-30T09:00:00.000Z", Type: typ})
		if err != nil {
			return
		}
		w := &world{lines: bytes.Clone(base), limits: ledger.DefaultLimits()}
		w.publish([]ledger.Record{r})
		if listed {
			a := &Admission{Seq: tip.Seq + 1, Previous: tip.sha, Principal: tip.Principal, Workflow: "w", Run: "r", Verdicts: []Verdict{{SHA: r.SHA(), Accepted: true}}}
			link, err := ledger.Seal(ledger.Draft{ID: "ldg-00000000-0000-4000-8000-00000000f023", Payload: a.Seal(), Timestamp: "2026-11-30T09:00:00.000Z", Type: TypeAdmission})
			if err != nil {
				t.Fatal(err)
			}
			w.publish([]ledger.Record{link})
		}
		s := w.fold()
		got := dump(s)
		if !listed && typ != TypeAdmission && got != want {
			t.Fatal("an unlisted record changed the state")
		}
		if again := w.fold(); dump(again) != got || !bytes.Equal(canonicalJSON(again.Diagnostics()), canonicalJSON(s.Diagnostics())) {
			t.Fatal("two folds differ")
		}
		for _, r := range s.Refs("demo") {
			if IsProtected(r.Name) && len(r.Log) > 2 {
				t.Fatal("a protected ref moved")
			}
		}
	})
}

// FuzzText: the quick reader reads canonical text as the strict one does.
func FuzzText(f *testing.F) {
	for _, s := range []string{`{"a":[1,"x",{"b":null}],"c":true}`, `"\u0001\"\\\\"`, `"\\"`, `[]`, `{}`, `1e+21`, `-1.5`, `"\ud800"`, `[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]`, `9007199254740993`, `{"a\"":"\\\"","b":"é"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := parseText(text)
		want, wantErr := canonical.ParseStrict(text, maxParseDepth)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%v, want %v", err, wantErr)
		}
		if err != nil {
			return
		}
		a, errA := got.Text()
		b, errB := want.Text()
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Fatalf("%s, want %s", a, b)
		}
	})
}

// FuzzFormats: every format that parses writes itself as it was read.
func FuzzFormats(f *testing.F) {
	w := busy(f)
	for r := range w.ledger().Records() {
		f.Add(r.Payload())
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		text, err := canonical.Transform(payload)
		if err != nil {
			return
		}
		check := func(again []byte, fault *Refusal) {
			if fault == nil && !bytes.Equal(again, text) {
				t.Fatalf("%s\nwas\n%s", again, text)
			}
		}
		if c, fault := ParseChangeset(text); fault == nil {
			check(c.Seal(), fault)
		}
		if m, fault := ParseMovement(text); fault == nil {
			check(m.Seal(), fault)
		}
		if p, fault := ParseProposal(text); fault == nil {
			check(p.Seal(), fault)
		}
		if r, fault := ParseReview(text); fault == nil {
			check(r.Seal(), fault)
		}
		if c, fault := ParseConflict(text); fault == nil {
			check(c.Seal(), fault)
		}
		if m, fault := ParseMerge(text); fault == nil {
			check(m.Seal(), fault)
		}
		if m, fault := ParseManifest(text); fault == nil {
			check(m.Seal(), fault)
		}
		if a, fault := ParseAdmission(text); fault == nil {
			check(a.Seal(), fault)
		}
	})
}
