package actions_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// The jobs of a compiled workflow need gh-aw's own actions, containers and a model.
// What an example itself brings along runs here as it stands there, in jobs like
// those that the compiler makes of it, with a stand-in for the agent.

// frontmatter is what an example says to the compiler.
type frontmatter struct {
	Steps       []map[string]any `yaml:"steps"`
	PostSteps   []map[string]any `yaml:"post-steps"`
	SafeOutputs struct {
		ThreatDetection struct {
			Steps []map[string]any `yaml:"steps"`
		} `yaml:"threat-detection"`
		Jobs map[string]map[string]any `yaml:"jobs"`
	} `yaml:"safe-outputs"`
	Jobs map[string]map[string]any `yaml:"jobs"`
}

func script(text string) map[string]any { return map[string]any{"run": text} }

// ghawWorkflow makes a workflow of an example, in which detection comes to this
// conclusion. Folder stands for the one that gh-aw has on a runner.
func ghawWorkflow(t *testing.T, source, folder, conclusion string) string {
	t.Helper()
	_, text, _ := strings.Cut(source, "---\n")
	text, _, _ = strings.Cut(text, "\n---\n")
	var f frontmatter
	if err := yaml.Unmarshal([]byte(text), &f); err != nil {
		t.Fatal(err)
	}
	use := func(action, name, path string) map[string]any {
		return map[string]any{"uses": action + "@" + pins[action], "with": map[string]any{"name": name, "path": path}}
	}
	agent := []map[string]any{
		{"uses": "actions/checkout@" + pins["actions/checkout"], "with": map[string]any{"persist-credentials": false}},
		script(`[ "$(id -u)" != 0 ] || ip link set lo up`), script("mkdir -p /tmp/gh-aw"),
	}
	agent = append(agent, f.Steps...)
	agent = append(agent,
		map[string]any{"run": `node agent.mjs "$MCP_CONFIG" < calls.jsonl`, "env": map[string]any{"MCP_CONFIG": "${{ steps.ledger.outputs.mcp-config }}"}},
		script(`echo '{"type":"ledger_mutation","summary":"two records"}' > /tmp/gh-aw/safeoutputs.jsonl`))
	agent = append(agent, f.PostSteps...)
	agent = append(agent, use("actions/upload-artifact", "agent", "/tmp/gh-aw/safeoutputs.jsonl"))
	detection := append(f.SafeOutputs.ThreatDetection.Steps,
		script("ls /tmp/gh-aw/threat-detection/ledger/memory/ledger/shards/*.jsonl /tmp/gh-aw/threat-detection/ledger/memory.transactions.jsonl"))
	report := f.SafeOutputs.Jobs["ledger-mutation"]
	delete(report, "inputs")
	delete(report, "description")
	reportSteps := []any{use("actions/download-artifact", "agent", "${{ runner.temp }}/gh-aw/safe-jobs/")}
	report["steps"] = append(reportSteps, report["steps"].([]any)...)
	report["needs"] = []string{"agent", "detection"}

	jobs := map[string]any{
		"agent":           map[string]any{"runs-on": "ubuntu-latest", "permissions": map[string]any{"contents": "read"}, "needs": "ledger_base", "steps": agent},
		"detection":       map[string]any{"runs-on": "ubuntu-latest", "needs": "agent", "outputs": map[string]any{"detection_conclusion": conclusion}, "steps": detection},
		"ledger_mutation": report,
	}
	for name, job := range f.Jobs {
		jobs[name] = job
	}
	out, err := yaml.Marshal(map[string]any{"name": "gh-aw", "on": "workflow_dispatch", "permissions": map[string]any{}, "jobs": jobs})
	if err != nil {
		t.Fatal(err)
	}
	workflow := string(out)
	for _, change := range [][2]string{{"/tmp/gh-aw", folder}, {"listen: 172.17.0.1", "listen: 127.0.0.1"}, {`port: "8765"`, `port: "0"`}} {
		if !strings.Contains(workflow, change[0]) {
			t.Fatalf("nothing to change: %s", change[0])
		}
		workflow = strings.ReplaceAll(workflow, change[0], change[1])
	}
	return inRunner(t, workflow)
}

// inRunner gives every step of ours the remote and the binaries of the tests.
func inRunner(t *testing.T, workflow string) string {
	t.Helper()
	var w map[string]any
	if err := yaml.Unmarshal([]byte(workflow), &w); err != nil {
		t.Fatal(err)
	}
	for _, job := range w["jobs"].(map[string]any) {
		for _, s := range job.(map[string]any)["steps"].([]any) {
			step := s.(map[string]any)
			uses, _ := step["uses"].(string)
			if !strings.HasPrefix(uses, ours) {
				continue
			}
			with, ok := step["with"].(map[string]any)
			if !ok {
				with = map[string]any{}
				step["with"] = with
			}
			with["bin"], with["remote"] = "${{ vars.LEDGER_BIN }}", "${{ vars.LEDGER_REMOTE }}"
		}
	}
	out, err := yaml.Marshal(w)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestWhatTheGhAwExampleBringsAlongWorksTogether(t *testing.T) {
	source := ghawExamples(t)["ledger-http.md"]
	suiteDir, err := suite()
	if err != nil {
		t.Fatal(err)
	}
	for conclusion, want := range map[string]map[string]string{
		"success": {"ledger_base": "success", "agent": "success", "detection": "success", "ledger_mutation": "success", "persist": "success"},
		"skipped": {"ledger_base": "success", "agent": "success", "detection": "success", "ledger_mutation": "success", "persist": "skipped"},
	} {
		c := newConsumer(t)
		base := c.seed(t, "ledgers/memory", tiny(t, 1, 100))
		write(t, filepath.Join(c.dir, "calls.jsonl"), firstCalls)
		r := c.run(t, "ghaw.yml", ghawWorkflow(t, source, filepath.Join(c.home, "gh-aw"), conclusion), "{}",
			"--local-repository", fmt.Sprintf("OWNER/ledger@%s=%s", release, suiteDir))
		if got := r.jobs(); r.code != 0 || !maps.Equal(got, want) && !(conclusion == "skipped" && got["persist"] == "" && len(got) == len(want)-1) {
			t.Fatalf("%s: exit %d, jobs %v\n%s", conclusion, r.code, r.jobs(), r.readable())
		}
		published := c.head(t, "ledgers/memory") != base
		if published != (conclusion == "success") {
			t.Errorf("%s: published %v", conclusion, published)
		}
		r.contains(t, "ledger_mutation", "### ledger-mutation: the agent claims 2 appended records")
		if published {
			r.contains(t, "persist", "### persist: 2 records and 0 files published")
			if log := c.ledger(t, "log"); strings.Count(log, "\n") != 4 {
				t.Errorf("the log is\n%s", log)
			}
		}
	}
}
