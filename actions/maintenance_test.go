package actions_test

import (
	"encoding/json"
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
// it. The audit walks the history: no record disappeared on the way. The run after
// it, and the scheduled one of that day, have nothing to do and run one job.
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
	rounds := 0
	for round := 1; round <= 8; round++ {
		plan, apply := fmt.Sprintf("plan-%d", round), fmt.Sprintf("apply-%d", round)
		if r.jobs()[apply] == "" {
			break
		}
		rounds++
		r.want(t, plan, "plan", map[string]string{"due": "true", "plan-id": r.outputs(apply, "apply")["plan-id"]})
		r.want(t, apply, "apply", map[string]string{"status": "applied", "before": r.outputs(plan, "plan")["head"], "retired": r.outputs(plan, "plan")["selected"]})
		r.contains(t, plan, fmt.Sprintf("| round | %d |", round), "| trigger | `requested` |")
	}
	// A round more that finds nothing, unless all eight were needed.
	if jobs := len(r.jobs()); rounds < 2 || jobs != min(2*rounds+1, 16) {
		t.Errorf("%d rounds in %d jobs", rounds, jobs)
	}
	if got := strings.TrimSpace(command(t, c.remote, "git", "rev-list", "--count", "ledgers/memory")); got != fmt.Sprint(1+rounds) {
		t.Errorf("%s commits after %d rounds", got, rounds)
	}

	after := c.head(t, "ledgers/memory")
	r = c.act(t, "maintenance.yml", requested)
	if jobs := r.jobs(); r.code != 0 || len(jobs) != 1 || jobs["plan-1"] != "success" {
		t.Errorf("run again: exit %d, jobs %v", r.code, jobs)
	}
	r.want(t, "plan-1", "plan", map[string]string{"due": "true", "plan-id": "", "selected": "0"})

	c.event = "schedule"
	r = c.act(t, "maintenance.yml", "{}")
	if jobs := r.jobs(); r.code != 0 || len(jobs) != 1 || jobs["plan-1"] != "success" {
		t.Errorf("scheduled: exit %d, jobs %v", r.code, jobs)
	}
	r.want(t, "plan-1", "plan", map[string]string{"due": "false", "plan-id": ""})
	if c.head(t, "ledgers/memory") != after {
		t.Error("a run with nothing to do changed the branch")
	}
}

// TestWhatADispatchPassesIsData gives the reusable workflow inputs that a shell or
// a runner could take for something else.
func TestWhatADispatchPassesIsData(t *testing.T) {
	c := newConsumer(t)
	c.seed(t, "ledgers/memory", tiny(t, 3, 1000))
	for _, text := range []string{"memory'; touch forged; '", "$(touch forged)", "memory\n::set-output name=plan-id::x"} {
		payload, err := json.Marshal(map[string]any{"inputs": map[string]any{"operation": "compact_ledger", "ledger": text}})
		if err != nil {
			t.Fatal(err)
		}
		r := c.act(t, "dispatch.yml", string(payload))
		if jobs := r.jobs(); r.code != 1 || len(jobs) != 1 || jobs["plan-1"] != "failure" {
			t.Errorf("%q: exit %d, jobs %v\n%s", text, r.code, jobs, r.readable())
		}
		if got := c.printed(t, "plan-1", "", "maintenance-plan"); !strings.HasPrefix(got, "::error title=maintenance-plan::input ledger: ") || r.outputs("plan-1", "plan")["plan-id"] != "" {
			t.Errorf("%q: printed %q, outputs %v", text, got, r.outputs("plan-1", "plan"))
		}
	}
	// The positive control.
	if r := c.act(t, "dispatch.yml", requested); r.code != 0 || r.outputs("apply-1", "apply")["status"] != "applied" {
		t.Errorf("exit %d, jobs %v\n%s", r.code, r.jobs(), r.readable())
	}
	for _, file := range append(entries(t, c.dir), entries(t, c.home)...) {
		if strings.HasSuffix(file, "forged") {
			t.Errorf("%s was made", file)
		}
	}
}
