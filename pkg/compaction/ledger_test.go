package compaction

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/ledger"
)

var testNow = time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)

const testCommit = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

// settings makes a configuration of ledger "memory" from "name value" pairs.
func settings(t testing.TB, pairs ...string) Config {
	t.Helper()
	limits := ledger.DefaultLimits()
	c, err := ParseConfig("memory", "ledgers/memory", limits, func(name string) string {
		for _, p := range pairs {
			if text, ok := strings.CutPrefix(p, name+" "); ok {
				return text
			}
		}
		return ""
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// note is the nth record of a test, with a payload that makes its line some
// size bytes long.
func note(t testing.TB, n, size int, parents ...ledger.Hash) ledger.Record {
	t.Helper()
	payload := fmt.Sprintf(`{"n":%d,"text":""}`, n)
	r, err := ledger.Seal(ledger.Draft{
		ID: fmt.Sprintf("ldg-00000000-0000-4000-8000-%012x", n), Parents: parents,
		Payload:   []byte(strings.Replace(payload, `""`, `"`+strings.Repeat("x", max(0, size-260))+`"`, 1)),
		Timestamp: ledger.FormatTime(testNow.Add(time.Duration(n) * time.Millisecond)), Type: "note",
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// exactly is a shard of size bytes with record n.
func exactly(t testing.TB, n, size int) []byte {
	t.Helper()
	content := lines(note(t, n, 1000+size-len(lines(note(t, n, 1000)))))
	if len(content) != size {
		t.Fatalf("shard of %d bytes, want %d", len(content), size)
	}
	return content
}

func shardID(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012x", n) }

// lines is a shard of the records.
func lines(records ...ledger.Record) []byte {
	var b []byte
	for _, r := range records {
		b = append(append(b, r.Line()...), '\n')
	}
	return b
}

// branchOf is a snapshot with one shard for each content.
func branchOf(contents ...[]byte) ledger.Snapshot {
	snap := ledger.Snapshot{Head: testCommit, Files: map[string][]byte{}, Irregular: map[string]string{}}
	for i, content := range contents {
		snap.Files[ledger.ShardPath(shardID(i))] = content
	}
	return snap
}

// small is a branch of n shards with one record of size bytes each, from record
// first on.
func small(t testing.TB, first, n, size int) [][]byte {
	t.Helper()
	contents := make([][]byte, n)
	for i := range contents {
		contents[i] = lines(note(t, first+i, size))
	}
	return contents
}

func load(t testing.TB, snap ledger.Snapshot, c Config) *Inventory {
	t.Helper()
	inv, err := Load(snap, c)
	if err != nil {
		t.Fatal(err)
	}
	return inv
}

// planOf is the plan that the built-in selection makes, or nil.
func planOf(t testing.TB, snap ledger.Snapshot, c Config) *Plan {
	t.Helper()
	inv := load(t, snap, c)
	selection := inv.Select()
	if selection.Sources == nil {
		return nil
	}
	p, err := inv.Plan(selection.Sources, Scheduled, testCommit, testNow)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func prepare(t testing.TB, p *Plan, snap ledger.Snapshot, c Config) Result {
	t.Helper()
	r, err := Prepare(p, snap, c, testNow)
	if err != nil {
		t.Fatal(err)
	}
	if r.Status != Ready && !r.Change.Empty() {
		t.Fatalf("%s with a change", r.Status)
	}
	return r
}

// run is one maintenance run: rounds of plan and apply, the plan as text.
func run(t testing.TB, snap ledger.Snapshot, c Config) (ledger.Snapshot, int) {
	t.Helper()
	for round := range MaxRounds {
		made := planOf(t, snap, c)
		if made == nil {
			return snap, round
		}
		p, err := ParsePlan(made.Text(), c)
		if err != nil {
			t.Fatal(err)
		}
		r := prepare(t, p, snap, c)
		if r.Status != Ready {
			t.Fatalf("round %d: %s: %s", round, r.Status, r.Reason)
		}
		snap = apply(snap, r.Change)
	}
	return snap, MaxRounds
}

func shards(snap ledger.Snapshot) int {
	n := 0
	for path := range snap.Files {
		if strings.HasPrefix(path, ledger.ShardDir+"/") {
			n++
		}
	}
	return n
}

// history is every record that a reader finds, in order.
func history(snap ledger.Snapshot) []byte {
	limits := ledger.DefaultLimits()
	limits.MaxShards = ledger.MaxReadShards
	l := ledger.OpenSnapshot(snap, limits)
	var b bytes.Buffer
	for r := range l.Records() {
		b.Write(r.Line())
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// sameHistory fails unless both snapshots hold the same records, byte for byte.
func sameHistory(t testing.TB, before, after ledger.Snapshot) {
	t.Helper()
	if !bytes.Equal(history(before), history(after)) {
		t.Error("the history is not the same")
	}
}

// sealDeep completes a line that is deeper than ledger.Seal's callers may make
// it, as another runtime could have written it.
func sealDeep(t testing.TB, start string) []byte {
	t.Helper()
	end := `"timestamp":"2026-10-01T00:00:00.000Z","type":"note","version":1}`
	line := start + `"sha":"` + canonical.Sum([]byte(start+end)) + `",` + end
	if _, fault := ledger.ParseLine([]byte(line)); fault != "" {
		t.Fatal(fault)
	}
	return append([]byte(line), '\n')
}
