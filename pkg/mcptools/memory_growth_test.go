package mcptools

import (
	"context"
	"fmt"
	"testing"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// commits makes n changesets, one on the other, and returns the head.
func commits(t testing.TB, s *Server, head string, from, n int) string {
	t.Helper()
	for i := range n {
		a, err := s.turn(context.Background(), tool{call: s.memory.changesetCreate}, []byte(addFact("refs/sessions/one/a", head, fmt.Sprint("k", from+i), "v")))
		if err != nil {
			t.Fatal(sentence(err))
		}
		sets := s.memory.state.Log("demo", s.memory.headOf(t, "refs/sessions/one/a"), 1)
		if head = sets[0].Name().String(); len(a.json) == 0 {
			t.Fatal("no answer")
		}
	}
	return head
}

func TestAnAppendOfMemoryFoldsNothingAgain(t *testing.T) {
	dir := t.TempDir()
	restoreMemory(t, dir)
	s, c := served(t, dir, oneYML, nil)
	head := commits(t, s, "", 0, 1)
	folded := s.memory.state
	head = commits(t, s, head, 1, 20)
	if s.memory.state != folded || s.memory.read != s.writer.Len() {
		t.Errorf("the state was folded anew, or %d of %d records were looked at", s.memory.read, s.writer.Len())
	}
	// Plain records of another writer, and memory of another server, are brought in.
	other, otherClient := served(t, dir, oneYML, nil)
	must(t, otherClient, "ledger_append", `{"type":"note","payload":1}`)
	commits(t, other, head, 100, 1)
	must(t, c, "memory_status", `{}`)
	if s.memory.state != folded {
		t.Error("another writer's records folded the state anew")
	}
	if got, want := s.memory.headOf(t, "refs/sessions/one/a"), other.memory.headOf(t, "refs/sessions/one/a"); got != want {
		t.Errorf("one server is at %v, the other at %v", got, want)
	}
	// An admission is.
	w, err := ledger.NewWriter(dir, ledger.DefaultLimits(), ledger.WriterOptions{Allow: func(string) bool { return true }})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if _, err := w.Append("memory.admission", []byte(`{}`)); err != nil {
		t.Fatal(err)
	}
	before := must(t, c, "memory_status", `{}`)
	if s.memory.state == folded || before["staged_records"] != float64(44) {
		t.Errorf("after an admission the status is %v", before)
	}
}

// BenchmarkChangesetCreate compares appends behind short and long histories.
func BenchmarkChangesetCreate(b *testing.B) {
	for _, history := range []int{100, 400, 1600} {
		b.Run(fmt.Sprint(history), func(b *testing.B) {
			dir := b.TempDir()
			restoreMemory(b, dir)
			limits := ledger.DefaultLimits()
			limits.MaxPatchBytes = 1 << 30
			s, _ := servedWithin(b, dir, oneYML, nil, limits)
			head := commits(b, s, "", 0, history)
			n := history
			for b.Loop() {
				head = commits(b, s, head, n, 1)
				n++
			}
		})
	}
}
