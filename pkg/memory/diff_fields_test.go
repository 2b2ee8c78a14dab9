package memory

import (
	"reflect"
	"strings"
	"testing"
)

// What is approved goes into prompts: a reviewer has to see all of it.
func TestADiffShowsEveryFieldThatAnApprovalLetsIn(t *testing.T) {
	const fields = `"kind":"fact","event_type":"EVENT","scope":"SCOPE","visibility":"shared","tags":["TAG","TAG 2"],"confidence":0.25,"fact_key":"KEY",` +
		`"subject":"SUBJECT","valid_from":"2026-01-01T00:00:00Z","valid_to":"2027-01-01T00:00:00Z","protected":true,"approval":"user_approved","topic_id":"TOPIC","actor_id":"ACTOR"`
	shown := []string{"fact", "EVENT", "SCOPE", "shared", "TAG, TAG 2", "0.25", "KEY", "SUBJECT", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z", "protected ` true `", "user_approved", "TOPIC", "ACTOR"}
	for name, change := range map[string]Op{
		"added":      add(`{"content":"harmless",` + fields + `}`),
		"corrected":  op(CorrectMemory, "m", "", `{`+fields+`}`),
		"renamed":    op(CorrectMemory, "m", "n", `{`+fields+`}`),
		"superseded": op(SupersedeMemory, "m", "", `{"content":"harmless",`+fields+`}`),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.root()
			base := w.commit(one, session("one", "a"), named("m", `{"content":"m"}`))
			head := w.commit(one, session("one", "a"), change)
			d, err := w.fold().Diff("demo", base, head)
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range shown {
				if !strings.Contains(d.Markdown(), text) {
					t.Errorf("%q is not shown:\n%s", text, d.Markdown())
				}
			}
		})
	}
}

func TestADiffShowsWhatAFieldWas(t *testing.T) {
	w := newWorld(t)
	w.root()
	base := w.commit(one, session("one", "a"), named("m", `{"content":"m","kind":"fact","subject":"s","protected":true}`))
	head := w.commit(one, session("one", "a"), op(CorrectMemory, "m", "", `{"kind":"observation","protected":false,"subject":"t"}`),
		op(AttachEvidence, "m", "", `{"source":"SOURCE","status":"STATUS","summary":"x"}`))
	d, err := w.fold().Diff("demo", base, head)
	if err != nil {
		t.Fatal(err)
	}
	want := []FieldChange{{"kind", "fact", "observation"}, {"subject", "s", "t"}, {"protected", "true", "false"}}
	if !reflect.DeepEqual(d.Corrections[0].Fields, want) {
		t.Errorf("got %+v", d.Corrections[0].Fields)
	}
	for _, text := range []string{"protected ` false `, was ` true `", "source ` SOURCE `", "status ` STATUS `"} {
		if !strings.Contains(d.Markdown(), text) {
			t.Errorf("%q is not shown:\n%s", text, d.Markdown())
		}
	}
}

func TestADiffShowsWhatTakesTheIdentityOfARetiredMemory(t *testing.T) {
	w := newWorld(t)
	w.root()
	w.commit(one, session("one", "a"), named("m", `{"content":"old","kind":"fact"}`))
	base := w.commit(one, session("one", "a"), op(SupersedeMemory, "m", "", `{}`))
	head := w.commit(one, session("one", "a"), named("m", `{"content":"NEW","kind":"fact","tags":["TAG"]}`))
	d, err := w.fold().Diff("demo", base, head)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Added) != 1 || d.Added[0].Change != "brought back" || d.Added[0].Before != "old" || d.Added[0].After != "NEW" || !strings.Contains(d.Markdown(), "TAG") {
		t.Errorf("%+v", d.Added)
	}
}
