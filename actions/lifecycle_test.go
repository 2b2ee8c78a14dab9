package actions_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// want fails the test for each output that is not what it should be.
func (r run) want(t *testing.T, job, step string, outputs map[string]string) {
	t.Helper()
	got := r.outputs(job, step)
	for name, value := range outputs {
		if got[name] != value {
			t.Errorf("%s, %s: output %s is %q, want %q", job, step, name, got[name], value)
		}
	}
}

// contains fails the test for each text that the summary of a job has not.
func (r run) contains(t *testing.T, job string, texts ...string) {
	t.Helper()
	summary := r.summary(job)
	for _, text := range texts {
		if !strings.Contains(summary, text) {
			t.Errorf("%s: the summary lacks %q:\n%s", job, text, summary)
		}
	}
}

// notIn fails the test where a text stands in a file below a folder.
func notIn(t *testing.T, folder, text string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if strings.Contains(string(content), text) {
			t.Errorf("%s holds %s", path, text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

const firstCalls = `{"name": "ledger_append", "arguments": {"type": "note", "payload": {"text": "the first", "n": 1}}}
{"name": "ledger_append", "arguments": {"type": "decision", "payload": {"text": "the second", "n": 2}}}
{"name": "ledger_append", "arguments": {"type": "memory.ref", "payload": {}}}
{"name": "ledger_query", "arguments": {"type": "decision"}}
`

// TestTheWholeLifeOfALedgerAsAConsumerRunsIt is the positive control of all that
// is refused elsewhere.
func TestTheWholeLifeOfALedgerAsAConsumerRunsIt(t *testing.T) {
	c := newConsumer(t)
	base := c.seed(t, "ledgers/memory", tiny(t, 5, 1000))
	before := c.ledger(t, "log")
	write(t, filepath.Join(c.dir, "calls.jsonl"), firstCalls)
	write(t, filepath.Join(c.dir, "note.md"), "# An ordinary file\n")

	r := c.act(t, "lifecycle.yml", "{}")
	if want := map[string]string{"agent": "success", "safe-outputs": "success", "persist": "success", "plan": "success", "apply": "success"}; r.code != 0 || !maps.Equal(r.jobs(), want) {
		t.Fatalf("exit %d, jobs %v\n%s", r.code, r.jobs(), r.readable())
	}
	for _, job := range []string{"agent", "safe-outputs", "persist", "plan", "apply"} {
		if list := r.annotations(job); len(list) > 0 {
			t.Errorf("%s: %q", job, list)
		}
	}

	// The agent: what it was given, and what its tools answered.
	r.want(t, "agent", "ledger", map[string]string{"base-commit": base, "records": "7", "heads": "1"})
	r.want(t, "agent", "merge", map[string]string{"merged": "2"})
	var answers []string
	for _, e := range r.events {
		if e.JobID == "agent" && e.Raw && slices.Equal(e.StepID, []string{"agent"}) {
			answers = append(answers, strings.SplitN(e.Msg, " ", 2)[0])
		}
	}
	if want := []string{"done", "done", "refused", "done"}; !slices.Equal(answers, want) {
		t.Errorf("the tools answered %v, want %v", answers, want)
	}
	r.contains(t, "agent", "### Ledger `memory` restored: 7 records", "### txlog-merge: 2 events merged")

	// What crossed to the trusted jobs: the new shard, the file, manifest and log,
	// and none of the restored shards.
	staged := entries(t, filepath.Join(c.artifacts, "ledger-memory"))
	if len(staged) != 4 || !slices.Contains(staged, "memory.manifest.json") || !slices.Contains(staged, "memory.transactions.jsonl") || !slices.Contains(staged, "memory/note.md") {
		t.Errorf("the artifact holds %v", staged)
	}

	r.want(t, "safe-outputs", "report", map[string]string{"events": "2", "dropped": "0"})
	r.contains(t, "safe-outputs", "### ledger-mutation: the agent claims 2 appended records", "- `decision`: 1", "- `note`: 1")

	persisted := r.outputs("persist", "persist")
	r.want(t, "persist", "persist", map[string]string{"persisted": "true", "before": base, "accepted": "2", "files": "1", "ignored": "0", "rejected": "0", "heads": "1", "compaction-needed": "false"})
	r.contains(t, "persist", "### persist: 2 records and 1 files published", base, persisted["after"])

	r.want(t, "plan", "plan", map[string]string{"selected": "7", "due": "true", "head": persisted["after"], "script": "none"})
	r.contains(t, "plan", "### maintenance-plan: 7 segments to be compacted into one")
	applied := r.outputs("apply", "apply")
	r.want(t, "apply", "apply", map[string]string{"status": "applied", "before": persisted["after"], "after": c.head(t, "ledgers/memory"),
		"plan-id": r.outputs("plan", "plan")["plan-id"], "retired": "7", "records": "9"})
	r.want(t, "apply", "again", map[string]string{"status": "already_applied", "before": applied["after"], "after": applied["after"], "retired": "0"})
	r.contains(t, "apply", "### maintenance-apply: compaction applied", "### maintenance-apply: already applied, nothing to do")

	// The remote: every record is there, in one shard, and none ever disappeared.
	log := c.ledger(t, "log")
	if n := strings.Count(log, "\n"); n != 9 || !strings.HasPrefix(log, before) || !strings.Contains(log, `"payload":{"n":2,"text":"the second"}`) {
		t.Errorf("the log has %d records:\n%s", n, log)
	}
	if files := c.files(t, "ledgers/memory"); shards(files) != 1 || !slices.Contains(files, "note.md") || !slices.Contains(files, "ledger/compaction/state.json") {
		t.Errorf("the branch holds %v", files)
	}
	c.ledger(t, "verify")
	c.ledger(t, "audit")

	// No payload in a summary, and the token nowhere.
	for job := range r.jobs() {
		if strings.Contains(r.summary(job), "the second") {
			t.Errorf("%s: the summary shows a payload", job)
		}
	}
	notIn(t, c.artifacts, token)
	if history := c.history(t); strings.Contains(history, token) || !strings.Contains(history, "the second") {
		t.Error("the remote holds the token, or not what was appended")
	}
}

// entries are the files below a folder.
func entries(t *testing.T, folder string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(folder, path)
			list = append(list, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestARunWithoutAnythingToDoEndsWell is a first run on a repository without a
// branch, by an agent that appends nothing.
func TestARunWithoutAnythingToDoEndsWell(t *testing.T) {
	c := newConsumer(t)
	write(t, filepath.Join(c.dir, "calls.jsonl"), "")
	r := c.act(t, "lifecycle.yml", "{}")
	if r.code != 0 || len(r.jobs()) != 5 {
		t.Fatalf("exit %d, jobs %v\n%s", r.code, r.jobs(), r.readable())
	}
	r.want(t, "agent", "ledger", map[string]string{"base-commit": "", "records": "0", "heads": "0"})
	r.want(t, "agent", "merge", map[string]string{"merged": "0"})
	r.want(t, "safe-outputs", "report", map[string]string{"events": "0"})
	r.want(t, "persist", "persist", map[string]string{"persisted": "none", "accepted": "0", "rejected": "0", "before": "", "after": ""})
	r.contains(t, "persist", "### persist: nothing to persist")
	r.want(t, "plan", "plan", map[string]string{"plan-id": "", "selected": "0", "reason": "the branch does not exist yet"})
	r.want(t, "apply", "apply", map[string]string{"status": "none", "reason": "there is no plan"})
	for job := range r.jobs() {
		for _, a := range r.annotations(job) {
			if strings.HasPrefix(a, "error") {
				t.Errorf("%s: %s", job, a)
			}
		}
	}
	if head := c.head(t, "ledgers/memory"); head != "" {
		t.Errorf("a branch was made: %s", head)
	}
}
