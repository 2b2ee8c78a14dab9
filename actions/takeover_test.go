package actions_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fromGhAw is a branch as the runtime of gh-aw leaves it: the vector of one of its
// compactions, carried out. It returns the files and the lines of all records.
func fromGhAw(t *testing.T, name string) (files map[string]string, records []string) {
	t.Helper()
	var vectors struct {
		Apply []struct {
			Name  string
			Files []struct{ Name, Text string }
			// Additions are the replacement and the state file.
			Expect struct {
				Status    string
				Additions []struct{ Path, Text string }
				Deletions []string
			}
		}
	}
	if err := json.Unmarshal([]byte(read(t, "testdata", "vectors", "plans.json")), &vectors); err != nil {
		t.Fatal(err)
	}
	files = map[string]string{}
	for _, v := range vectors.Apply {
		if v.Name != name || v.Expect.Status != "ready" {
			continue
		}
		for _, f := range v.Files {
			files["ledger/shards/"+f.Name] = f.Text
			records = append(records, strings.Split(strings.TrimSuffix(f.Text, "\n"), "\n")...)
		}
		for _, path := range v.Expect.Deletions {
			delete(files, path)
		}
		for _, f := range v.Expect.Additions {
			files[f.Path] = f.Text
		}
	}
	slices.Sort(records)
	records = slices.Compact(records)
	if len(files) < 3 || files["ledger/compaction/state.json"] == "" || len(records) < 3 {
		t.Fatalf("%d files, %d records of %q", len(files), len(records), name)
	}
	return files, records
}

// TestALedgerThatGhAwWroteIsTakenOverInPlace: the branch stays where it is, its
// state is read, and every record keeps its bytes through an append, a persist and
// a compaction of ours; and what gh-aw's runtime adds after us is read as before.
func TestALedgerThatGhAwWroteIsTakenOverInPlace(t *testing.T) {
	c := newConsumer(t)
	files, records := fromGhAw(t, "ready, concurrent append preserved")
	base := c.seed(t, "ledgers/findings", files)
	write(t, filepath.Join(c.dir, "calls.jsonl"), firstCalls)
	text := strings.ReplaceAll(read(t, "testdata", "workflows", "lifecycle.yml"),
		"          bin: ${{ vars.LEDGER_BIN }}\n", "          bin: ${{ vars.LEDGER_BIN }}\n          ledger: findings\n")

	r := c.run(t, "takeover.yml", text, "{}")
	if r.code != 0 {
		t.Fatalf("exit %d, jobs %v\n%s", r.code, r.jobs(), r.readable())
	}
	r.want(t, "agent", "ledger", map[string]string{"base-commit": base})
	r.want(t, "persist", "persist", map[string]string{"persisted": "true", "before": base, "accepted": "2", "rejected": "0"})
	r.want(t, "apply", "apply", map[string]string{"status": "applied"})
	findings := func(args ...string) string {
		return command(t, c.dir, binary(t, "ledger"), append(args, "--remote", c.remote, "--ledger", "findings")...)
	}
	log := findings("log")
	for _, line := range records {
		if !strings.Contains(log, line+"\n") {
			t.Errorf("a record of gh-aw's is gone or was changed: %s", line)
		}
	}
	if n := strings.Count(log, "\n"); n != len(records)+2 {
		t.Errorf("the log has %d records, want %d", n, len(records)+2)
	}
	findings("verify")
	state := command(t, c.remote, "git", "show", "refs/heads/ledgers/findings:ledger/compaction/state.json")
	var was, is struct {
		Version string   `json:"version"`
		Last    string   `json:"last_plan_id"`
		Recent  []string `json:"recent_plan_ids"`
	}
	if err := json.Unmarshal([]byte(files["ledger/compaction/state.json"]), &was); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(state), &is); err != nil || is.Version != was.Version || !slices.Contains(is.Recent, was.Last) {
		t.Errorf("the state is not the one of gh-aw, continued: %v, %s, before %s", err, state, files["ledger/compaction/state.json"])
	}

	// What its runtime adds then: a shard of its own.
	later := record(t, 9_000_001, "finding", "later")
	now := map[string]string{"ledger/shards/cccccccc-0000-4000-8000-000000000001.jsonl": string(later.Line()) + "\n"}
	for _, f := range c.files(t, "ledgers/findings") {
		now[f] = command(t, c.remote, "git", "show", "refs/heads/ledgers/findings:"+f)
	}
	command(t, c.remote, "git", "update-ref", "-d", "refs/heads/ledgers/findings")
	c.seed(t, "ledgers/findings", now)
	if log := findings("log"); strings.Count(log, "\n") != len(records)+3 || !strings.Contains(log, string(later.Line())) {
		t.Errorf("what gh-aw added is not read:\n%s", log)
	}
}

// TestABranchOfRepoMemoryIsTakenOverInPlace: gh-aw's repo-memory keeps its files
// below a folder named like the branch. They are restored there, and what an agent
// changes is published on the same branch, beside the records of the ledger.
func TestABranchOfRepoMemoryIsTakenOverInPlace(t *testing.T) {
	c := newConsumer(t)
	notes := "memory/default/notes.md"
	c.seed(t, "memory/default", map[string]string{notes: "# Of repo-memory\n", "memory/default/state.json": "{}\n"})
	temp := t.TempDir()
	role := func(name string, args ...string) {
		t.Helper()
		cmd := exec.Command(binary(t, name), args...)
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "RUNNER_TEMP=" + temp, "INPUT_REMOTE=" + c.remote, "INPUT_LEDGER=default", "INPUT_BRANCH=memory/default"}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
	}
	role("agent-ledger", "setup")
	folder := filepath.Join(temp, "ledger", "default")
	if text, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(notes))); err != nil || string(text) != "# Of repo-memory\n" {
		t.Fatalf("%q, %v", text, err)
	}
	write(t, filepath.Join(folder, filepath.FromSlash(notes)), "# Of ours\n")
	role("persist")
	if text := command(t, c.remote, "git", "show", "refs/heads/memory/default:"+notes); text != "# Of ours\n" {
		t.Errorf("the branch holds %q", text)
	}
	if files := c.files(t, "memory/default"); len(files) != 2 {
		t.Errorf("the branch holds %v", files)
	}
}
