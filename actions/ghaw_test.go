package actions_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"
)

// The examples of testdata/gh-aw are workflows for GitHub's agentic workflows. Its
// compiler makes a workflow of many jobs of each; these tests look at that.

// ghawTool is the compiler, which Go builds once and keeps in its cache.
var ghawTool = sync.OnceValues(func() (string, error) { return toolOf("gh-aw", "gh-aw") })

// toolOf returns the path of a tool of a module below .github.
func toolOf(module, name string) (string, error) {
	cmd := exec.Command("go", "-C", filepath.Join(root(), ".github", module), "tool", "-n", name)
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s cannot be built from .github/%s: %w\n%s", name, module, err, stderr.Bytes())
	}
	return strings.TrimSpace(string(out)), nil
}

// compileGhaw compiles a source in a repository of its own, without a network, and
// returns the workflow and what the compiler said.
func compileGhaw(t *testing.T, source string) (lock, said string) {
	t.Helper()
	compiler, err := ghawTool()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	command(t, dir, "git", "init", "-q")
	write(t, filepath.Join(dir, ".github", "workflows", "example.md"), source)
	args := append(slices.Clone(alone()), compiler, "compile", "--no-check-update", "--approve", "--action-tag", "v0.89.10")
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TMPDIR=" + os.TempDir()}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("gh-aw compile: %v\n%s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, ".github", "workflows", "example.lock.yml"))
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(text), string(out)
}

// ghawJob is what the rules look at of a compiled job.
type ghawJob struct {
	If          string            `yaml:"if"`
	Needs       yaml.Node         `yaml:"needs"`
	Permissions map[string]string `yaml:"permissions"`
	Outputs     map[string]string `yaml:"outputs"`
	Env         map[string]string `yaml:"env"`
	Steps       []struct {
		ID    string               `yaml:"id"`
		Name  string               `yaml:"name"`
		If    string               `yaml:"if"`
		Uses  string               `yaml:"uses"`
		Run   string               `yaml:"run"`
		With  map[string]yaml.Node `yaml:"with"`
		Env   map[string]string    `yaml:"env"`
		Other map[string]any       `yaml:",inline"`
	} `yaml:"steps"`
}

func (j ghawJob) needs(name string) bool {
	if j.Needs.Kind == yaml.ScalarNode {
		return j.Needs.Value == name
	}
	return slices.ContainsFunc(j.Needs.Content, func(n *yaml.Node) bool { return n.Value == name })
}

// step is the place of the one step that starts with a name, or −1.
func (j ghawJob) step(name string) int {
	for i, s := range j.Steps {
		if strings.HasPrefix(s.Name, name) {
			return i
		}
	}
	return -1
}

// role is the place of the one step that runs an action of ours, or −1.
func (j ghawJob) role(name string) int {
	for i, s := range j.Steps {
		if strings.HasPrefix(s.Uses, ours+name+"@") {
			return i
		}
	}
	return -1
}

const (
	ours = "OWNER/ledger/actions/"
	// release stands for the commit of a release in the examples.
	release  = "1111111111111111111111111111111111111111"
	detected = "needs.detection.outputs.detection_conclusion == 'success'"
)

var ourUse = regexp.MustCompile(`^OWNER/ledger/actions/([a-z-]+)@` + release + `$`)

// checkLock returns what is wrong with a compiled workflow: with the place of our
// steps, with what a job holds that an agent runs in, and with what the trusted
// roles wait for.
func checkLock(t *testing.T, lock string) (faults []string) {
	t.Helper()
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	var w struct {
		Permissions map[string]string  `yaml:"permissions"`
		Jobs        map[string]ghawJob `yaml:"jobs"`
	}
	if err := yaml.Unmarshal([]byte(lock), &w); err != nil {
		return []string{err.Error()}
	}
	if len(w.Permissions) > 0 {
		fault("the workflow grants %v to all jobs", w.Permissions)
	}
	for _, name := range slices.Sorted(maps.Keys(w.Jobs)) {
		checkGhawJob(t, name, w.Jobs[name], fault)
	}
	checkAgentJob(w.Jobs["agent"], fault)
	detection := w.Jobs["detection"]
	if take, execute := detection.step("Take what was staged"), detection.step("Execute threat detection"); take < 0 || execute < take {
		fault("detection does not look at what was staged: steps %d and %d", take, execute)
	}
	if persist := w.Jobs["persist"]; persist.role("persist") < 0 || !persist.needs("agent") {
		fault("persist does not run after the agent")
	}
	if report := w.Jobs["ledger_mutation"]; report.role("ledger-mutation") < 0 {
		fault("ledger_mutation is no type of safe output")
	}
	return faults
}

// checkGhawJob looks at the steps of ours in any job.
func checkGhawJob(t *testing.T, name string, j ghawJob, fault func(string, ...any)) {
	t.Helper()
	for _, s := range j.Steps {
		if !strings.Contains(s.Uses, "OWNER/") {
			continue
		}
		m := ourUse.FindStringSubmatch(s.Uses)
		if m == nil {
			fault("%s: %s is not pinned to our release", name, s.Uses)
			continue
		}
		r, known := rowOf(m[1])
		if !known {
			fault("%s: there is no action %s", name, m[1])
			continue
		}
		action, err := parseAction(read(t, "actions", r.Name, "action.yml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, with := range slices.Sorted(maps.Keys(s.With)) {
			if value := s.With[with]; action.Inputs[with].Required == nil || strings.Contains(value.Value, "secrets.") {
				fault("%s: %s has no input %s, or it gets a secret", name, r.Name, with)
			}
		}
		for _, value := range s.Env {
			if strings.Contains(value, "secrets.") {
				fault("%s: %s gets a secret", name, r.Name)
			}
		}
		if r.Trust != "trusted" {
			continue
		}
		if !maps.Equal(j.Permissions, r.Permissions) {
			fault("%s: permissions are %v, %s needs %v", name, j.Permissions, r.Name, r.Permissions)
		}
		if j.role("agent-ledger") >= 0 || j.role("txlog-merge") >= 0 || !j.needs("detection") {
			fault("%s: %s does not run apart from the agent and after detection", name, r.Name)
		}
		if len(r.Permissions) > 0 && (!strings.Contains(j.If, "needs.detection.result == 'success'") || !strings.Contains(j.If, detected)) {
			fault("%s: %s runs without a detection that passed: %s", name, r.Name, j.If)
		}
	}
}

// checkAgentJob looks at the job that the agent runs in.
func checkAgentJob(j ghawJob, fault func(string, ...any)) {
	for scope, access := range j.Permissions {
		if access != "read" && access != "none" {
			fault("agent: permission %s: %s", scope, access)
		}
	}
	restore, gateway, execute := j.role("agent-ledger"), j.step("Start MCP Gateway"), j.step("Execute ")
	copied, merge, upload := j.step("Copy Safe Outputs"), j.role("txlog-merge"), j.step("Upload agent")
	if order := []int{restore, gateway, execute, copied, merge, upload}; restore < 0 || !slices.IsSorted(order) {
		fault("agent: restore, gateway, agent, copy, merge, upload are steps %v", order)
	} else if j.Steps[merge].If != "always()" {
		fault("agent: nothing is merged when the agent failed")
	}
	if gateway >= 0 && !strings.Contains(j.Steps[gateway].Run, `"ledger_append"`) {
		fault("agent: the gateway does not know the ledger")
	}
	for _, r := range theMatrix().Actions {
		if r.Trust == "trusted" && j.role(r.Name) >= 0 {
			fault("agent: %s runs in the agent's job", r.Name)
		}
	}
}

// ghawExamples are the sources, by file name.
func ghawExamples(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root(), "testdata", "gh-aw", "*.md"))
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	sources := map[string]string{}
	for _, file := range files {
		sources[filepath.Base(file)] = read(t, "testdata", "gh-aw", filepath.Base(file))
	}
	return sources
}

func TestGhAwCompilesEveryExampleToJobsThatKeepTheirDistance(t *testing.T) {
	for name, source := range ghawExamples(t) {
		lock, said := compileGhaw(t, source)
		if !strings.Contains(said, "1 succeeded, 0 warnings") {
			t.Errorf("%s: the compiler says\n%s", name, said)
		}
		for _, f := range checkLock(t, lock) {
			t.Errorf("%s: %s", name, f)
		}
		if uses := strings.Count(lock, "uses: "+ours); uses != strings.Count(source, "uses: "+ours) {
			t.Errorf("%s: %d steps of ours are left", name, uses)
		}
	}
}

func TestTheGatewayReachesTheServerAsTheExamplesSay(t *testing.T) {
	sources := ghawExamples(t)
	lock, _ := compileGhaw(t, sources["ledger-http.md"])
	for _, want := range []string{`"url": "http://host.docker.internal:8765/mcp"`, `"Authorization": "Bearer ${{ steps.ledger.outputs.access-token }}"`,
		"--add-host host.docker.internal:host-gateway", "allowed-hosts: host.docker.internal", "listen: 172.17.0.1"} {
		if !strings.Contains(lock, want) {
			t.Errorf("http: the workflow lacks %s", want)
		}
	}
	lock, _ = compileGhaw(t, sources["ledger-stdio.md"])
	for _, want := range []string{`"entrypoint": "/tmp/gh-aw/ledger/agent-ledger"`, `"/tmp/gh-aw/ledger:/tmp/gh-aw/ledger:rw"`, `"INPUT_DIRECTORY": "/tmp/gh-aw/ledger/memory"`} {
		if !strings.Contains(lock, want) {
			t.Errorf("stdio: the workflow lacks %s", want)
		}
	}
}

// TestACompiledWorkflowWithAFaultIsSeen breaks a good example in one place at a
// time.
func TestACompiledWorkflowWithAFaultIsSeen(t *testing.T) {
	good, _ := compileGhaw(t, ghawExamples(t)["ledger-http.md"])
	if f := checkLock(t, good); len(f) > 0 {
		t.Fatal(f)
	}
	agent := good[strings.Index(good, "\n  agent:\n"):]
	for name, change := range map[string][2]string{
		"a write permission of the agent":    {agent[:200], strings.Replace(agent[:200], "contents: read", "contents: write", 1)},
		"another commit":                     {"uses: " + ours + "persist@" + release, "uses: " + ours + "persist@v1"},
		"another owner":                      {"uses: " + ours + "persist@", "uses: OWNER/elsewhere/actions/persist@"},
		"a role in the agent's job":          {"uses: " + ours + "txlog-merge@", "uses: " + ours + "persist@"},
		"no merge when the agent failed":     {"if: always()\n        name: Merge", "name: Merge"},
		"persist without detection":          {"if: always() && needs.detection.result == 'success' && " + detected, "if: always()"},
		"persist after a detection's guess":  {"if: always() && needs.detection.result == 'success' && " + detected, "if: always() && needs.detection.result == 'success'"},
		"an input that does not exist":       {"base-commit: ${{", "base: ${{"},
		"detection without what was staged":  {"name: Take what was staged", "name: Take nothing"},
		"more permissions for a role":        {"      actions: write\n    steps", "      actions: write\n      contents: write\n    steps"},
		"a secret for a role":                {"base-commit: ${{ needs.ledger_base.outputs.commit }}", "token: ${{ secrets.PAT }}"},
		"a merge after the artifact is made": {"name: Copy Safe Outputs", "name: Copied"},
	} {
		bad := strings.Replace(good, change[0], change[1], 1)
		if bad == good {
			t.Errorf("%s: nothing to change", name)
		} else if len(checkLock(t, bad)) == 0 {
			t.Errorf("%s: not seen", name)
		}
	}
}
