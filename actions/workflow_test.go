package actions_test

import (
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// workflow is what the rules below look at.
type workflow struct {
	Permissions map[string]string `yaml:"permissions"`
	Concurrency map[string]string `yaml:"concurrency"`
	On          yaml.Node         `yaml:"on"`
	Jobs        map[string]job    `yaml:"jobs"`
}

type job struct {
	Permissions map[string]string `yaml:"permissions"`
	Uses        string            `yaml:"uses"`
	With        map[string]string `yaml:"with"`
	Outputs     map[string]string `yaml:"outputs"`
	Needs       any               `yaml:"needs"`
	Steps       []step            `yaml:"steps"`
}

// workflows are all workflows of the repository, by where they stand: those of
// .github, those that the tests run, and the examples of the READMEs.
func workflows(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, dir := range []string{".github/workflows", "testdata/workflows"} {
		files, err := filepath.Glob(filepath.Join(root(), filepath.FromSlash(dir), "*.yml"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %v, %d workflows", dir, err, len(files))
		}
		for _, file := range files {
			name := dir + "/" + filepath.Base(file)
			all[name] = read(t, name)
		}
	}
	for _, r := range theMatrix().Actions {
		for i, text := range examples(read(t, "actions", r.Name, "README.md")) {
			all[fmt.Sprintf("actions/%s/README.md, example %d", r.Name, i+1)] = text
		}
	}
	for i, text := range examples(read(t, "README.md")) {
		if strings.Contains(text, "\njobs:\n") { // the others are parts of one
			all[fmt.Sprintf("README.md, example %d", i+1)] = text
		}
	}
	return all
}

var fenced = regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$")

// examples are the workflows of a README. Steps alone are put into the job that they
// are for, the agent's.
func examples(text string) (list []string) {
	for _, m := range fenced.FindAllStringSubmatch(text, -1) {
		if strings.HasPrefix(m[1], "      - ") {
			m[1] = "name: Steps\non: workflow_dispatch\npermissions: {}\njobs:\n  agent:\n    runs-on: ubuntu-latest\n    permissions:\n      contents: read # to restore the ledger\n    steps:\n" + m[1]
		}
		list = append(list, m[1])
	}
	return list
}

func TestActionlintFindsNothing(t *testing.T) {
	lint, err := tool("actionlint")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range workflows(t) {
		cmd := exec.Command(lint, "-no-color", "-shellcheck=", "-pyflakes=", "-stdin-filename", strings.ReplaceAll(name, " ", "-"), "-")
		cmd.Dir, cmd.Stdin = t.TempDir(), strings.NewReader(text)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

var (
	ownAction = regexp.MustCompile(`^(?:OWNER|repo-memory)/ledger/actions/([a-z-]+)@v1$`)
	ownReuse  = regexp.MustCompile(`^(?:OWNER/ledger|\.)/(\.github/workflows/[a-z-]+\.yml)(?:@v1)?$`)
	outputRef = regexp.MustCompile(`\bsteps\.([A-Za-z0-9_-]+)\.outputs\.([A-Za-z0-9_-]+)`)
)

// wrong are jobs that break a rule on purpose, to show what then happens.
var wrong = map[string]string{
	"testdata/workflows/failures.yml/misplaced": "a trusted role in the job of an agent refuses to start",
}

// checkWorkflow returns where a workflow breaks a rule of this project.
func checkWorkflow(t *testing.T, name, text string) (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	var w workflow
	if err := yaml.Unmarshal([]byte(text), &w); err != nil {
		return []string{err.Error()}
	}
	if w.Permissions == nil || len(w.Permissions) > 0 {
		fault("the workflow itself must say permissions: {}")
	}
	if n := len(pinComment.FindAllString(text, -1)); n != strings.Count(text, "uses: actions/") {
		fault("an action of others lacks the comment with its version")
	}
	for id, j := range w.Jobs {
		where := "job " + id
		if j.Uses != "" {
			m := ownReuse.FindStringSubmatch(j.Uses)
			if m == nil {
				fault("%s: uses %s", where, j.Uses)
				continue
			}
			inputs := calledInputs(t, m[1])
			for key := range j.With {
				if _, ok := inputs[key]; !ok {
					fault("%s: %s has no input %s", where, m[1], key)
				}
			}
			if need := calledPermissions(t, m[1]); !maps.Equal(j.Permissions, need) {
				fault("%s: permissions are %v, what the jobs of %s need is %v", where, j.Permissions, m[1], need)
			}
			continue
		}
		grants, alone, roles := map[string]string{}, "", map[string]string{}
		outputs := map[string][]string{}
		var used []string
		for i, s := range j.Steps {
			where := fmt.Sprintf("job %s, step %d", id, i+1)
			if strings.Contains(s.Run, "${{") {
				fault("%s: an expression inside run; map it to env", where)
			}
			m := ownAction.FindStringSubmatch(s.Uses)
			switch {
			case s.Uses == "":
				continue
			case m == nil:
				owner, sha, _ := strings.Cut(s.Uses, "@")
				if pins[owner] == "" || pins[owner] != sha {
					fault("%s: %s is not pinned to the commit that this project uses", where, s.Uses)
				}
				if owner == "actions/checkout" {
					if s.With["persist-credentials"] != "false" {
						fault("%s: the checkout leaves the token in the workspace", where)
					}
					grants["contents"] = "read"
				}
				continue
			}
			r, ok := rowOf(m[1])
			if !ok {
				fault("%s: no action %s", where, m[1])
				continue
			}
			c, err := parseAction(read(t, "actions", r.Name, "action.yml"))
			if err != nil {
				fault("%s: %v", where, err)
			}
			for key := range s.With {
				if _, ok := c.Inputs[key]; !ok {
					fault("%s: %s has no input %s", where, r.Name, key)
				}
			}
			for key, def := range c.Inputs {
				if def.Required != nil && *def.Required && s.With[key] == "" {
					fault("%s: %s needs the input %s", where, r.Name, key)
				}
			}
			outputs[s.ID] = slices.Collect(maps.Keys(c.Outputs))
			roles[r.Name], used = r.Trust, append(used, r.Name)
			if r.OwnJob {
				alone = r.Name
			}
			for scope, access := range r.Permissions {
				if grants[scope] != "write" {
					grants[scope] = access
				}
			}
		}
		for _, value := range slices.Concat(flat(j.Outputs), stepTexts(j.Steps)) {
			for _, m := range outputRef.FindAllStringSubmatch(value, -1) {
				if list, ok := outputs[m[1]]; ok && !slices.Contains(list, m[2]) {
					fault("%s: steps.%s has no output %s", where, m[1], m[2])
				}
			}
		}
		if len(roles) == 0 {
			continue
		}
		if _, known := wrong[name+"/"+id]; known {
			continue
		}
		if !maps.Equal(grants, j.Permissions) {
			fault("%s: permissions are %v, what its actions need is %v", where, j.Permissions, grants)
		}
		if alone != "" && len(roles) > 1 {
			fault("%s: %s needs a job of its own, here are %v", where, alone, used)
		}
		if slices.Contains(used, "agent-ledger") && slices.Contains(flat(roles), "trusted") {
			fault("%s: a trusted action in the job of an agent: %v", where, used)
		}
	}
	return faults
}

func stepTexts(steps []step) (list []string) {
	for _, s := range steps {
		list = append(list, s.If)
		list = append(append(list, flat(s.With)...), flat(s.Env)...)
	}
	return list
}

// called is one input of a reusable workflow.
type called struct {
	Description string `yaml:"description"`
	Type        string `yaml:"type"`
	Default     string `yaml:"default"`
}

func calledInputs(t *testing.T, path string) map[string]called {
	t.Helper()
	var w struct {
		On struct {
			Call struct {
				Inputs map[string]called `yaml:"inputs"`
			} `yaml:"workflow_call"`
		} `yaml:"on"`
	}
	if err := yaml.Unmarshal([]byte(read(t, path)), &w); err != nil || len(w.On.Call.Inputs) == 0 {
		t.Fatalf("%s: %v, %d inputs", path, err, len(w.On.Call.Inputs))
	}
	return w.On.Call.Inputs
}

// calledPermissions are all that the jobs of a reusable workflow need together: a
// run whose caller grants less does not start.
func calledPermissions(t *testing.T, path string) map[string]string {
	t.Helper()
	var w workflow
	if err := yaml.Unmarshal([]byte(read(t, path)), &w); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, j := range w.Jobs {
		for scope, access := range j.Permissions {
			if all[scope] != "write" {
				all[scope] = access
			}
		}
	}
	return all
}

func TestWorkflowsGrantWhatTheirActionsNeedAndKeepTheRules(t *testing.T) {
	for name, text := range workflows(t) {
		for _, f := range checkWorkflow(t, name, text) {
			t.Errorf("%s: %s", name, f)
		}
	}
}

// TestAWorkflowThatBreaksARuleIsSeen breaks a good workflow in one place at a time.
func TestAWorkflowThatBreaksARuleIsSeen(t *testing.T) {
	good := examples(read(t, "actions", "agent-ledger", "README.md"))[0]
	if f := checkWorkflow(t, "good", good); len(f) > 0 {
		t.Fatal(f)
	}
	for name, change := range map[string][2]string{
		"no permissions at the top":         {"permissions: {}\n", ""},
		"permissions at the top":            {"permissions: {}\n", "permissions: {contents: read}\n"},
		"an agent that may write":           {"contents: read", "contents: write"},
		"a permission too many":             {"contents: write", "issues: write\n      contents: write"},
		"a persist job that may not write":  {"contents: write", "contents: read"},
		"an expression in a script":         {`run: your-agent --mcp-config "$MCP_CONFIG"`, "run: your-agent ${{ steps.ledger.outputs.mcp-config }}"},
		"an output that does not exist":     {"outputs.mcp-config", "outputs.config"},
		"an input that does not exist":      {"    steps:\n      - uses: OWNER/ledger/actions/persist@v1\n", "    steps:\n      - uses: OWNER/ledger/actions/persist@v1\n        with: {ledgers: x}\n"},
		"an action that does not exist":     {"actions/persist@v1", "actions/persists@v1"},
		"a checkout that leaves its token":  {"persist-credentials: false", "persist-credentials: true"},
		"an action of others by its tag":    {"@" + pins["actions/checkout"], "@v4"},
		"two jobs in one":                   {"      - uses: OWNER/ledger/actions/persist@v1\n", "      - uses: OWNER/ledger/actions/persist@v1\n      - uses: OWNER/ledger/actions/ledger-mutation@v1\n"},
		"a trusted role in the agent's job": {"actions/txlog-merge@v1", "actions/ledger-mutation@v1"},
		"the version of a pin left out":     {" # v4.2.2", ""},
		"an action of a stranger":           {"OWNER/ledger/actions/persist@v1", "actions/cache@11bd71901bbe5b1630ceea73d27597364c9af683 # v4.2.2"},
		"a reusable workflow with what inputs": {"    runs-on: ubuntu-latest\n    permissions:\n      contents: write # to publish the one commit\n    steps:\n      - uses: OWNER/ledger/actions/persist@v1\n",
			"    permissions: {contents: write}\n    uses: OWNER/ledger/.github/workflows/ledger-maintenance.yml@v1\n    with: {ledgers: x}\n"},
	} {
		bad := strings.Replace(good, change[0], change[1], 1)
		if bad == good {
			t.Errorf("%s: nothing to change", name)
		} else if len(checkWorkflow(t, "bad", bad)) == 0 {
			t.Errorf("%s: not seen", name)
		}
	}
}
