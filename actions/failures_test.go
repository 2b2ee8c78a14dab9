package actions_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// validationScripts are the scripts of failures.yml.
var validationScripts = map[string]string{
	"accepts.mjs": `export default ({ records }) => records.length === 1 && records[0].type === 'note';`,
	"refuses.mjs": `export default () => ({ ok: false, reason: 'not today\n::error::forged' });`,
	"throws.mjs":  `export default ({ records }) => { throw new Error('::error::forged ' + records[0].id); };`,
	"reads.mjs":   `import { readFileSync } from 'node:fs'; export default () => { readFileSync('/etc/hostname'); };`,
	"exits.mjs":   `export default () => { console.log('::error::forged'); process.exit(0); };`,
	"broken.mjs":  `export default () => {`,
}

// TestWhatMustFailFailsAndLeavesTheRemoteAsItWas also sees, each time, that the
// same succeeds where it should: a failure alone could have any reason.
func TestWhatMustFailFailsAndLeavesTheRemoteAsItWas(t *testing.T) {
	c := newConsumer(t)
	heads := map[string]string{}
	for _, ledger := range []string{"memory", "stale", "conflict"} {
		heads[ledger] = c.seed(t, "ledgers/"+ledger, tiny(t, 5, 1000))
	}
	for name, text := range validationScripts {
		write(t, filepath.Join(c.dir, name), text+"\n")
	}
	write(t, filepath.Join(c.dir, "calls.jsonl"), `{"name": "ledger_append", "arguments": {"type": "note", "payload": {"text": "to be judged"}}}`+"\n")

	r := c.act(t, "failures.yml", "{}")
	jobs := r.jobs()
	for job, result := range jobs {
		if result != "success" {
			t.Errorf("job %s: %s", job, result)
		}
	}
	if r.code != 0 || len(jobs) != 14 {
		t.Fatalf("exit %d, jobs %v\n%s", r.code, jobs, r.readable())
	}

	for way, reason := range map[string]string{
		"another-ledger": "plan targets a different ledger", "another-branch": "plan targets a different branch",
		"another-id": "plan_id does not match plan contents", "a-command": "unexpected plan structure",
		"a-path": "invalid source segment identity", "a-lost-record": "replacement does not preserve every source record",
		"a-source-twice": "sources must be unique and sorted", "a-name-twice": "member name that occurs twice",
		"no-json": "malformed JSON", "too-large": "invalid plan file", "a-link": "invalid plan file", "forged-output": "invalid trigger",
		"another-replacement": "replacement segment does not match the content-addressed union of the source records",
	} {
		one := r.only("case", way)
		one.want(t, "hostile-plan", "apply", map[string]string{"status": "rejected", "retired": "0", "after": one.outputs("hostile-plan", "apply")["before"]})
		one.contains(t, "hostile-plan", "### maintenance-apply: plan rejected, nothing changed", reason)
		if got, want := c.printed(t, "hostile-plan", way, "maintenance-apply"), "::error title=maintenance-apply::Rejected ledger compaction plan: "+reason+"\n"; !strings.HasSuffix(got, want) {
			t.Errorf("%s: printed %q, want %q at the end", way, got, want)
		}
	}
	r.want(t, "good-plan", "apply", map[string]string{"status": "applied", "before": heads["memory"], "retired": "6"})

	for _, ledger := range []string{"stale", "conflict"} {
		one := r.only("ledger", ledger)
		one.want(t, "apply-after-the-race", "apply", map[string]string{"status": ledger, "retired": "0", "after": one.outputs("apply-after-the-race", "apply")["before"]})
		one.said(t, "apply-after-the-race", "warning maintenance-apply: nothing was changed: "+one.outputs("apply-after-the-race", "apply")["reason"]+"; the next run plans again")
		one.want(t, "apply-again", "apply", map[string]string{"status": "applied", "before": one.outputs("apply-after-the-race", "apply")["after"]})
	}

	for script, reason := range map[string]string{
		"refuses.mjs": "rejected by the validation script",
		"throws.mjs":  "validation script: failed: it threw at line 1; the message is withheld, since it may quote data",
		"reads.mjs":   "validation script: failed: it threw at line 1; the message is withheld, since it may quote data",
		"exits.mjs":   "validation script: failed: it ended without a result; return it, and await what it needs",
		"broken.mjs":  "validation script: failed: it is neither a function body nor an ES module; try node --check",
		"missing.mjs": "input is not usable: script file: lstat failed: no such file or directory; at most 65536 bytes are allowed",
	} {
		one := r.only("script", script)
		if script != "missing.mjs" {
			one.want(t, "failing-script", "persist", map[string]string{"persisted": "false", "accepted": "0", "before": "", "after": ""})
			one.contains(t, "failing-script", "### persist: failed, nothing was published")
		}
		if got := c.printed(t, "failing-script", script, "persist"); !strings.HasSuffix(got, reason+"\n") || strings.Count(got, "::error title=persist::") != 1 || strings.Contains(got, "forged") {
			t.Errorf("%s: printed %q, want one error that ends with %q", script, got, reason)
		}
	}
	if got := c.printed(t, "missing-artifact", "", "persist"); got != "" || r.result("missing-artifact", "persist") != "failure" {
		t.Errorf("missing artifact: %s, persist printed %q", r.result("missing-artifact", "persist"), got)
	}
	r.want(t, "passing-script", "persist", map[string]string{"persisted": "true", "accepted": "1", "before": ""})

	for _, role := range []string{"persist", "maintenance-apply", "ledger-mutation"} {
		if got, want := c.printed(t, "misplaced", "", role), "::error title="+role+"::refuses to run in a job that runs an agent (LEDGER_UNTRUSTED_JOB is set); give it a job of its own\n"; got != want {
			t.Errorf("misplaced %s printed %q, want %q", role, got, want)
		}
	}

	// Commits: what was seeded, what raced, and what the positive controls published.
	for ledger, commits := range map[string]string{"memory": "2", "stale": "3", "conflict": "3", "checked": "1"} {
		if got := strings.TrimSpace(command(t, c.remote, "git", "rev-list", "--count", "ledgers/"+ledger)); got != commits {
			t.Errorf("ledgers/%s has %s commits, want %s", ledger, got, commits)
		}
	}
	if head := c.head(t, "ledgers/misplaced"); head != "" {
		t.Errorf("a branch was made: %s", head)
	}
	for ledger, records := range map[string]int{"memory": 7, "conflict": 7, "checked": 1} {
		if got := strings.Count(command(t, c.dir, binary(t, "ledger"), "log", "--remote", c.remote, "--ledger", ledger), "\n"); got != records {
			t.Errorf("ledgers/%s has %d records, want %d", ledger, got, records)
		}
	}
}

// said fails the test unless a job has the annotation.
func (r run) said(t *testing.T, job, annotation string) {
	t.Helper()
	if list := r.annotations(job); !slices.Contains(list, annotation) {
		t.Errorf("%s: the annotations are %q, want %q", job, list, annotation)
	}
}
