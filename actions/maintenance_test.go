package actions_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/ledger"
)

const requested = `{"inputs": {"operation": "compact_ledger", "ledger": "memory"}}`

// record is a record of a type with a payload of some bytes.
func record(t *testing.T, n int, typ, filler string, parents ...ledger.Hash) ledger.Record {
	t.Helper()
	r, err := ledger.Seal(ledger.Draft{
		ID: fmt.Sprintf("ldg-00000000-0000-4000-8000-%012x", n), Parents: parents, Type: typ, Timestamp: "2026-01-01T00:00:00.000Z",
		Payload: []byte(`{"filler":"` + filler + `","n":` + fmt.Sprint(n) + `}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// tiny are n shards of one record each, one long chain, behind a first shard
// that is full to the given bytes and whose name sorts first.
func tiny(t *testing.T, n, first int) map[string]string {
	t.Helper()
	files := map[string]string{}
	var full strings.Builder
	last := record(t, 1, "note", "root")
	full.WriteString(string(last.Line()) + "\n")
	for i := 2; full.Len() < first; i++ {
		last = record(t, i, "note", strings.Repeat("x", 1000), last.SHA())
		full.WriteString(string(last.Line()) + "\n")
	}
	files["ledger/shards/00000000-0000-4000-8000-000000000000.jsonl"] = full.String()
	for i := range n {
		last = record(t, 1_000_000+i, "note", "tiny", last.SHA())
		files[fmt.Sprintf("ledger/shards/%08x-0000-4000-8000-000000000001.jsonl", 0x10000000+i*0x10000)] = string(last.Line()) + "\n"
	}
	return files
}

func shards(files []string) (n int) {
	for _, f := range files {
		if strings.HasPrefix(f, "ledger/shards/") {
			n++
		}
	}
	return n
}

// TestOneMaintenanceRunLeavesFewSegmentsOfManyThoughTheFirstIsNearlyFull is the
// griefing case of compaction, through the reusable workflow as a consumer calls
// it. The audit walks the history: no record disappeared on the way.
func TestOneMaintenanceRunLeavesFewSegmentsOfManyThoughTheFirstIsNearlyFull(t *testing.T) {
	c := newConsumer(t)
	c.seed(t, "ledgers/memory", tiny(t, 500, 74_000))
	before := c.ledger(t, "log")

	r := c.act(t, "maintenance.yml", requested)
	if r.code != 0 {
		t.Fatalf("exit %d\n%s", r.code, r.readable())
	}
	left := shards(c.files(t, "ledgers/memory"))
	if left >= 64 {
		t.Errorf("%d segments left, want fewer than 64", left)
	}
	if c.ledger(t, "log") != before {
		t.Error("the records are not what they were")
	}
	c.ledger(t, "audit")
	c.ledger(t, "verify")
	t.Logf("%d left, jobs %v", left, r.jobs())
}
