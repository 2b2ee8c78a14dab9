package ledger

import (
	"errors"
	"strings"
	"testing"
)

// fillRun appends until the patch bound refuses and returns how many records stand.
func fillRun(t *testing.T, w *Writer) int {
	t.Helper()
	payload := []byte(`"` + strings.Repeat("x", 2000) + `"`)
	for n := 0; ; n++ {
		_, err := w.Append("note", payload)
		var refusal *Refusal
		if errors.As(err, &refusal) && refusal.Rule == RulePatchSize {
			return n
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestThePatchBoundHoldsForAllProcessesOfARun(t *testing.T) {
	root := t.TempDir()
	restored, err := NewWriter(root, DefaultLimits(), WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if n := fillRun(t, restored); n < 40 {
		t.Fatalf("only %d records fit", n)
	}
	names := map[string]bool{}
	for _, s := range restored.Shards() {
		names[s.File] = true
	}
	restored.Close()
	open := func() *Writer {
		w, err := NewWriter(root, DefaultLimits(), WriterOptions{Restored: names})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	first, second := open(), open()
	if n := fillRun(t, first); n < 40 {
		t.Errorf("what was restored counts: only %d records fit", n)
	}
	if n := fillRun(t, second); n != 0 {
		t.Errorf("a second server adds %d records more", n)
	}
	first.Close()
	second.Close()
	again := open()
	defer again.Close()
	if n := fillRun(t, again); n != 0 {
		t.Errorf("a server that was started again adds %d records more", n)
	}
	added := int64(0)
	for _, s := range again.Shards() {
		if !names[s.File] {
			added += s.Bytes
		}
	}
	if added > int64(DefaultLimits().MaxPatchBytes) {
		t.Errorf("the run added %d bytes", added)
	}
}

func TestASnapshotWithoutARealLedgerFolderAuthorizesNothing(t *testing.T) {
	for name, snap := range map[string]Snapshot{
		"ledger is a link":        {Irregular: map[string]string{"ledger": "link"}},
		"shards is a submodule":   {Irregular: map[string]string{"ledger/shards": "submodule"}},
		"ledger is a file":        {Files: map[string][]byte{"ledger": nil}},
		"ledger/shards is a file": {Files: map[string][]byte{"ledger/shards": nil}},
	} {
		l := OpenSnapshot(snap, DefaultLimits())
		if err := l.Whole(); !errors.Is(err, ErrDirectory) {
			t.Errorf("%s: Whole gives %v", name, err)
		}
		if d := l.Diagnostics(); len(d) != 1 || d[0].Detail == "" {
			t.Errorf("%s: diagnostics %v", name, d)
		}
	}
	if l := OpenSnapshot(Snapshot{Files: map[string][]byte{"ledger.md": nil}, Irregular: map[string]string{"x": "link"}}, DefaultLimits()); l.Whole() != nil || len(l.Diagnostics()) != 0 {
		t.Error("other entries are none of the ledger's business")
	}
}
