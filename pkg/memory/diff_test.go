package memory

import (
	"slices"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/canonical"
)

func TestADiffHasTenSectionsByTheirNames(t *testing.T) {
	w := newWorld(t)
	root := w.root()
	head := w.commit(one, session("one", "a"), fact("a", "1"))
	d, err := w.fold().Diff("demo", root, head)
	if err != nil {
		t.Fatal(err)
	}
	v, err := canonical.ParseStrict(d.JSON(), 32)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"memories_added", "corrections_proposed", "records_superseded", "relationships_added", "decisions_changed", "tasks_or_flags_changed",
		"duplicates_detected", "permissions_or_visibility_affected", "evidence_added_or_removed", "unresolved_conflicts"} {
		if s, ok := v.Get(name); !ok || s.Kind != canonical.Array {
			t.Errorf("%s is no list", name)
		}
	}
	if _, err := w.fold().Diff("demo", root, Name{w.uuid7(), head.Digest}); reasonOf(err) != ReasonUnknown {
		t.Error(err)
	}
}

func TestADiffSaysWhatChangedInMeaning(t *testing.T) {
	w := newWorld(t)
	w.root()
	base := w.commit(one, session("one", "a"), named("f", `{"kind":"fact","fact_key":"k","content":"1"}`), named("d", `{"kind":"decision","content":"yes"}`),
		named("t", `{"kind":"task","content":"do"}`), named("v", `{"content":"v"}`), named("dup", `{"content":"same"}`), named("dup2", `{"content":"other"}`))
	middle := w.commit(one, session("one", "a"), op(CorrectMemory, "f", "g", `{"content":"2"}`), op(AttachEvidence, "d", "", `{"note":"seen"}`))
	head := w.commit(one, session("one", "a"),
		op(SupersedeMemory, "g", "h", `{"kind":"fact","fact_key":"k","content":"3"}`),
		op(CorrectMemory, "d", "", `{"content":"no"}`), op(SupersedeMemory, "t", "", `{}`), op(CorrectMemory, "v", "", `{"visibility":"public"}`),
		op(MarkDuplicate, "dup2", "dup", `{}`), op(AddRelationship, "h", "d", `{"kind":"causes"}`), named("twin", `{"content":" same "}`),
		op(AttachVerification, "", "", `{"summary":"checked","reviewer":"ada"}`))
	d, err := w.fold().Diff("demo", base, head)
	if err != nil {
		t.Fatal(err)
	}
	find := func(section string, list []DiffEntry, id string) DiffEntry {
		t.Helper()
		for _, e := range list {
			if e.ID == id {
				return e
			}
		}
		t.Errorf("%s has no %q: %+v", section, id, list)
		return DiffEntry{}
	}
	// Over two steps of lineage, f became h.
	if e := find("added", d.Added, "h"); e.Label != TemporalUpdate || e.Related != "f" {
		t.Errorf("h: %+v", e)
	}
	if find("corrections", d.Corrections, "f").Label != TemporalUpdate || find("superseded", d.Superseded, "g").Related != "h" {
		t.Error("corrections or superseded")
	}
	if e := find("decisions", d.Decisions, "d"); e.Before != "yes" || e.After != "no" {
		t.Errorf("d: %+v", e)
	}
	if find("tasks", d.Tasks, "t").Change != "retired" || find("relationships", d.Relationships, "h").Related != "d" {
		t.Error("tasks or relationships")
	}
	if e := find("permissions", d.Permissions, "v"); e.Before != "internal" || e.After != "public" {
		t.Errorf("v: %+v", e)
	}
	if find("duplicates", d.Duplicates, "dup2").Change != "marked" || find("duplicates", d.Duplicates, "twin").Related != "dup" {
		t.Error("duplicates")
	}
	if find("evidence", d.Evidence, "d").Change != "added" || len(d.Evidence) != 2 || d.Sets != 2 || d.Ahead != 0 {
		t.Errorf("evidence: %+v", d.Evidence)
	}
	// The other way round what was added is gone.
	back, _ := w.fold().Diff("demo", head, middle)
	if back.Ahead != 1 || !slices.ContainsFunc(back.Evidence, func(e DiffEntry) bool { return e.Change == "removed" }) {
		t.Errorf("back: %s", back.JSON())
	}
	// A fact against an accepted one without lineage.
	other := w.commit(one, session("one", "a"), fact("k", "4"))
	against, _ := w.fold().Diff("demo", head, other)
	if e := against.Added[0]; e.Label != DirectContradiction || e.Related != "h" {
		t.Errorf("against: %+v", e)
	}
	if again, _ := w.fold().Diff("demo", base, head); string(again.JSON()) != string(d.JSON()) || again.Markdown() != d.Markdown() {
		t.Error("a diff differs from itself")
	}
}

func TestMarkdownLetsNothingOfAnAgentsPassForOurs(t *testing.T) {
	d := &Diff{Added: []DiffEntry{{ID: "x`\n# Approved", After: "``` </details> \u202e\u200b\U000e0041 [a](http://x) @ada <!-- \x1b[31m", Note: "\r\nstate-digest: sha256:0"}}}
	text := d.Markdown()
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "# ") || strings.HasPrefix(line, "state-digest") {
			t.Errorf("line %q", line)
		}
	}
	for _, r := range "\u202e\u200b\U000e0041\x1b\r" {
		if strings.ContainsRune(text, r) {
			t.Errorf("%U is shown as it is", r)
		}
	}
	if !strings.Contains(text, "```` ``` </details>") {
		t.Errorf("a fence is not longer than what it holds: %s", text)
	}
}

func TestARevertTakesBackWhatAChangesetDid(t *testing.T) {
	const start = `{"kind":"fact","fact_key":"k","content":"1","tags":["t"],"confidence":0.5}`
	tests := map[string]struct {
		change []Op
		same   bool // the memory is exactly what it was
	}{
		"an addition":                    {ops(add(`{"content":"new"}`)), true},
		"a correction":                   {ops(op(CorrectMemory, "m", "", `{"content":"2","tags":["u"],"confidence":1}`)), true},
		"a correction that adds":         {ops(op(CorrectMemory, "m", "", `{"subject":"s"}`)), true},
		"a correction with a new id":     {ops(op(CorrectMemory, "m", "n", `{"content":"2"}`)), true},
		"a replacement":                  {ops(op(SupersedeMemory, "m", "", `{"content":"2"}`)), true},
		"a retirement":                   {ops(op(SupersedeMemory, "m", "", `{}`)), true},
		"a duplicate":                    {ops(op(MarkDuplicate, "m", "o", `{}`)), true},
		"a correction of tags only":      {ops(op(CorrectMemory, "m", "", `{"tags":["x"]}`)), true},
		"a correction of the topic":      {ops(op(CorrectMemory, "m", "", `{"content":"2","topic_id":"x"}`)), true},
		"several at once":                {ops(add(`{"content":"new"}`), op(CorrectMemory, "m", "", `{"content":"2"}`), op(SupersedeMemory, "o", "", `{}`)), true},
		"a replacement of a replacement": {ops(op(SupersedeMemory, "m", "x", `{"content":"2"}`), op(SupersedeMemory, "x", "y", `{"content":"3"}`)), true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.root()
			ref := session("one", "a")
			before := w.commit(one, ref, named("m", start), named("o", `{"content":"other"}`))
			meaning := func() string {
				var list []string
				for _, m := range w.fold().MemoryAt("demo", w.ref(ref)) {
					list = append(list, strings.Join([]string{m.Content, m.Kind, m.FactKey, m.Subject, strings.Join(m.Tags, ","), m.Confidence}, "/"))
				}
				slices.Sort(list)
				return strings.Join(list, " | ")
			}
			want := meaning()
			changed := w.commit(one, ref, test.change...)
			list, err := w.fold().RevertOps("demo", changed, changed)
			if err != nil {
				t.Fatal(err)
			}
			w.commit(one, ref, list...)
			if got := meaning(); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			if c, ok := w.clean().Changeset("demo", changed); !ok || len(c.Ops) != len(test.change) {
				t.Error("history was erased")
			}
			_, err = w.fold().RevertOps("demo", before, changed)
			wantReason(t, err, ReasonAncestry)
			_, err = w.fold().RevertOps("demo", w.ref(ref), changed)
			wantReason(t, err, ReasonOperation)
		})
	}
}
