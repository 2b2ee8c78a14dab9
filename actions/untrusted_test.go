package actions_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/staging"
)

// lies are texts that would do something where they are not taken for text.
var lies = []string{
	"::error::forged",
	"::set-output name=persisted::none",
	"::add-mask::1",
	"::stop-commands::x",
	"##[error]forged",
	"%0A::error::forged",
	"persisted=none",
	"status<<EOF",
	"EOF",
	"<img src=x onerror=alert(1)>",
	"[forged](https://example.org)",
	"@everyone #1",
	"`code` | cell | ```",
	"$(touch forged); `touch forged`",
	"\u202egpj.exe",
	"-n",
}

// controls are those that no record type and no upload can have.
var controls = []string{"two\nlines", "a\r::error::forged", "a\n::error::forged", "tab\there", "x\x1b[31mred"}

// TestUntrustedTextIsNoCommandAndForgesNoOutput puts such texts wherever a
// stranger can, runs every role over them, and looks at what the runner then did:
// the commands and outputs must be those that the roles declare and no others.
func TestUntrustedTextIsNoCommandAndForgesNoOutput(t *testing.T) {
	c := newConsumer(t)
	seed := tiny(t, 3, 1000)
	for _, lie := range lies {
		seed["ledger/shards/"+strings.ReplaceAll(lie, "/", "_")+".jsonl"] = lie + "\n"
	}
	seed["ledger/shards/33333333-3333-4333-8333-333333333333.jsonl"] = strings.Join(lies, "\n") + "\n"
	c.seed(t, "ledgers/memory", seed)

	var calls strings.Builder
	for _, typ := range slices.Concat(lies, controls) {
		call, err := json.Marshal(map[string]any{"name": "ledger_append", "arguments": map[string]any{"type": typ, "payload": map[string]any{typ: typ}}})
		if err != nil {
			t.Fatal(err)
		}
		calls.Write(append(call, '\n'))
	}
	write(t, filepath.Join(c.dir, "calls.jsonl"), calls.String())
	list, err := json.Marshal(slices.Concat(lies, controls))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(c.dir, "lies.json"), string(list))
	write(t, filepath.Join(c.dir, "hostile.mjs"), read(t, "testdata", "act", "hostile.mjs"))
	const secretText = "the text of a file that only the runner may read"
	secret := filepath.Join(c.home, "secret")
	write(t, secret, secretText)

	// The artifact that no upload would take.
	raw := filepath.Join(c.artifacts, "ledger-raw", "raw")
	for _, lie := range slices.Concat(lies, controls) {
		write(t, filepath.Join(raw, strings.ReplaceAll(lie, "/", "_")+".md"), "x\n")
		write(t, filepath.Join(raw, "ledger", "shards", strings.ReplaceAll(lie, "/", "_")+".jsonl"), lie+"\n")
	}
	if err := staging.Write(raw, staging.Manifest{Ledger: "raw", Branch: "ledgers/raw", Run: "42", Attempt: 1, Writer: "44444444-4444-4444-8444-444444444444"}); err != nil {
		t.Fatal(err)
	}

	r := c.act(t, "untrusted-text.yml", "{}", "--var", "SECRET_FILE="+secret)
	if r.code != 0 || len(r.jobs()) != 6 {
		t.Fatalf("exit %d, jobs %v\n%s", r.code, r.jobs(), r.readable())
	}

	// The roles did their work, and their outputs say what they say.
	r.want(t, "agent", "ledger", map[string]string{"records": "5"})
	r.want(t, "agent", "merge", map[string]string{"merged": "16"})
	r.want(t, "safe-outputs", "report", map[string]string{"events": "16"})
	r.want(t, "persist", "persist", map[string]string{"persisted": "true", "accepted": "16"})
	r.want(t, "persist-raw", "persist", map[string]string{"persisted": "true", "accepted": "0", "before": "", "after": c.head(t, "ledgers/raw")})
	r.want(t, "plan", "plan", map[string]string{"selected": "5", "skipped": "1"})
	r.want(t, "apply", "apply", map[string]string{"status": "applied", "records": "21", "after": c.head(t, "ledgers/memory")})

	// Nothing else came to pass: no command that a role does not use, no output
	// that it does not declare, no variable beside the one.
	roles := map[string]string{"ledger": "agent-ledger", "merge": "txlog-merge", "report": "ledger-mutation", "persist": "persist", "plan": "maintenance-plan", "apply": "maintenance-apply"}
	for _, e := range r.events {
		if e.Command == "" {
			continue
		}
		role := roles[e.StepID[0]]
		declared := []string{"path"} // of collect.sh
		if role != "" {
			for _, out := range helpRole(t, role).Outputs {
				declared = append(declared, out.Name)
			}
		}
		switch e.Command {
		case "set-output":
			if !slices.Contains(declared, e.Name) {
				t.Errorf("%s: output %q of %v was set to %q", e.JobID, e.Name, e.StepID, e.Arg)
			}
		case "set-env":
			if e.Name != "LEDGER_UNTRUSTED_JOB" || e.Arg != "1" {
				t.Errorf("%s: variable %q was set to %q", e.JobID, e.Name, e.Arg)
			}
		case "notice", "warning":
			if e.Properties["title"] != role || strings.Contains(e.Arg, "\n") {
				t.Errorf("%s: %s %v %q", e.JobID, e.Command, e.Properties, e.Arg)
			}
		case "summary", "group", "endgroup":
		default:
			t.Errorf("%s: step %v: command %q was carried out: %q", e.JobID, e.StepID, e.Command, e.Msg)
		}
		if role == "" {
			t.Errorf("%s: step %v has command %q", e.JobID, e.StepID, e.Command)
		}
	}
	for job := range r.jobs() {
		for _, line := range strings.Split(r.summary(job), "\n") {
			if strings.HasPrefix(line, "::") || strings.ContainsAny(line, "\u202e\x1b\r\t") || strings.Contains(line, "##[") {
				t.Errorf("%s: the summary has the line %q", job, line)
			}
		}
	}

	// Neither the secret behind the links nor what the texts would have made is
	// anywhere.
	notIn(t, c.artifacts, secretText)
	if strings.Contains(c.history(t), secretText) {
		t.Error("a branch holds the secret")
	}
	for _, folder := range []string{c.dir, c.home, c.artifacts} {
		for _, file := range entries(t, folder) {
			if filepath.Base(file) == "forged" {
				t.Errorf("%s was made in %s", file, folder)
			}
		}
	}
	if !slices.ContainsFunc(r.annotations("agent"), func(a string) bool {
		return strings.HasPrefix(a, "warning txlog-merge: ") && strings.HasSuffix(a, "staged entries are left out of the artifact: they are links, pipes or devices, or have a name that no artifact can hold")
	}) {
		t.Errorf("nothing was said of the links: %q", r.annotations("agent"))
	}
	staged := entries(t, filepath.Join(c.artifacts, "ledger-memory", "memory"))
	for _, file := range staged {
		if base := filepath.Base(file); slices.Contains([]string{"link.md", "nowhere.md", "pipe.md", "kept.md", "twice.md"}, base) || strings.HasPrefix(file, "root/") || strings.HasPrefix(base, "22222222") {
			t.Errorf("the artifact holds %s", file)
		}
	}
	if !slices.Contains(staged, "alone.md") {
		t.Errorf("the artifact lacks alone.md: %q", staged)
	}
}
