package actions_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// composite is an action.yml; a key that is not here is an error.
type composite struct {
	Name        string               `yaml:"name"`
	Description string               `yaml:"description"`
	Author      string               `yaml:"author"`
	Branding    map[string]string    `yaml:"branding"`
	Inputs      map[string]inputDef  `yaml:"inputs"`
	Outputs     map[string]outputDef `yaml:"outputs"`
	Runs        struct {
		Using string `yaml:"using"`
		Steps []step `yaml:"steps"`
	} `yaml:"runs"`
}

type inputDef struct {
	Description string  `yaml:"description"`
	Required    *bool   `yaml:"required"`
	Default     *string `yaml:"default"`
}

type outputDef struct {
	Description string `yaml:"description"`
	Value       string `yaml:"value"`
}

type step struct {
	ID              string            `yaml:"id"`
	Name            string            `yaml:"name"`
	If              string            `yaml:"if"`
	Uses            string            `yaml:"uses"`
	With            map[string]string `yaml:"with"`
	Run             string            `yaml:"run"`
	Shell           string            `yaml:"shell"`
	Env             map[string]string `yaml:"env"`
	ContinueOnError bool              `yaml:"continue-on-error"`
}

func parseAction(text string) (composite, error) {
	var c composite
	d := yaml.NewDecoder(strings.NewReader(text))
	d.KnownFields(true)
	return c, d.Decode(&c)
}

var (
	icons      = []string{"book-open", "git-merge", "list", "save", "clipboard", "archive"}
	colors     = []string{"white", "yellow", "blue", "green", "orange", "red", "purple", "gray-dark"}
	pinned     = regexp.MustCompile(`^[a-z0-9-]+/[a-z0-9-]+(/[a-z0-9/._-]+)?@[0-9a-f]{40}$`)
	pinComment = regexp.MustCompile(`(?m)^ *(- )?uses: [^ @]+@[0-9a-f]{40} # v[0-9]+\.[0-9]+\.[0-9]+$`)
	expression = regexp.MustCompile(`\$\{\{(.*?)\}\}`)
	reference  = regexp.MustCompile(`\b(inputs|steps|runner|github|secrets|env)\.([A-Za-z0-9_-]+)(?:\.(outputs)\.([A-Za-z0-9_-]+))?`)
)

// pins are the actions of others that ours may use; a pin changes here and in
// every file at once.
var pins = map[string]string{
	"actions/checkout":          "11bd71901bbe5b1630ceea73d27597364c9af683",
	"actions/upload-artifact":   "ea165f8d65b6e75b540449e92b4886f43607fa02",
	"actions/download-artifact": "d3f86a106a0bac45b974a628896c90dbdf5c8093",
	"actions/setup-go":          "d35c59abb061a4a6fb18e82ac0862c26744d6ab5",
	"actions/attest":            "1e69f48acb82d1966a394da916b4c1698aa569d6",
}

// checkAction returns what is wrong with an action.yml: the structure that a
// runner would refuse, and the rules of this project.
func checkAction(name, text string) (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	c, err := parseAction(text)
	if err != nil {
		return []string{err.Error()}
	}
	if c.Name == "" || c.Description == "" || c.Runs.Using != "composite" || len(c.Runs.Steps) == 0 {
		fault("name, description, using: composite and steps must be given")
	}
	if len(c.Branding) != 2 || !slices.Contains(icons, c.Branding["icon"]) || !slices.Contains(colors, c.Branding["color"]) {
		fault("branding must be an icon and a color that exist")
	}
	for in, def := range c.Inputs {
		if def.Description == "" || def.Required == nil || *def.Required && def.Default != nil {
			fault("input %s: description and required must be given, and a required one has no default", in)
		}
	}
	ids := map[string]bool{}
	uses := func(where, text string, steps map[string]bool) {
		for _, m := range reference.FindAllStringSubmatch(text, -1) {
			switch {
			case m[1] == "inputs" && c.Inputs[m[2]].Required == nil:
				fault("%s: no input %s", where, m[2])
			case m[1] == "steps" && (!steps[m[2]] || m[3] != "outputs" || m[4] == ""):
				fault("%s: %s names no output of an earlier step", where, m[0])
			case m[1] == "runner" && m[2] != "temp":
				fault("%s: %s", where, m[0])
			case m[1] == "github" || m[1] == "secrets" || m[1] == "env":
				fault("%s: %s: an action reads its inputs only", where, m[0])
			}
		}
	}
	runs := 0
	for i, s := range c.Runs.Steps {
		where := fmt.Sprintf("step %d", i+1)
		uses(where, s.If+strings.Join(flat(s.With), " ")+strings.Join(flat(s.Env), " "), ids)
		if s.ID != "" && ids[s.ID] {
			fault("%s: id %s is there twice", where, s.ID)
		}
		ids[s.ID] = true
		switch {
		case s.Run != "" && s.Uses == "":
			runs++
			if want := `. "$GITHUB_ACTION_PATH/../run.sh" ` + name; s.ID == stepID && s.Run != want && !strings.HasPrefix(s.Run, want+" ") {
				fault("%s: run is %q, want %q", where, s.Run, want)
			}
			if s.Shell != shell || len(s.With) > 0 || strings.Contains(s.Run, "${{") || strings.Contains(s.Run, "\n") {
				fault("%s: a run step has the shell of all, no with, and one line without an expression", where)
			}
			for _, name := range unset {
				if value, ok := s.Env[name]; !ok || value != "" {
					fault("%s: %s must be empty", where, name)
				}
			}
		case s.Uses != "" && s.Run == "":
			owner, sha, _ := strings.Cut(s.Uses, "@")
			if !pinned.MatchString(s.Uses) || pins[owner] != sha || s.Shell != "" || len(s.Env) > 0 {
				fault("%s: %s is not pinned to the commit that this project uses", where, s.Uses)
			}
		default:
			fault("%s: must have run or uses", where)
		}
	}
	if want := strings.Count(text, "uses: "); len(pinComment.FindAllString(text, -1)) != want {
		fault("every uses: is followed by a comment with the version that its commit is")
	}
	if !ids[stepID] || runs == 0 {
		fault("no step has the id %s", stepID)
	}
	for out, def := range c.Outputs {
		if def.Description == "" || !expression.MatchString(def.Value) {
			fault("output %s: description and value must be given", out)
		}
		uses("output "+out, def.Value, ids)
	}
	if strings.Contains(text, "cmd/ledger") {
		fault("it names cmd/ledger, the operator's tool")
	}
	return faults
}

func flat(m map[string]string) (values []string) {
	for _, v := range m {
		values = append(values, v)
	}
	return values
}

func TestEveryActionIsWellFormedPinnedAndFreeOfExpressionsInScripts(t *testing.T) {
	for _, r := range theMatrix().Actions {
		for _, f := range checkAction(r.Name, read(t, "actions", r.Name, "action.yml")) {
			t.Errorf("%s: %s", r.Name, f)
		}
	}
}

// TestAMalformedActionIsSeen breaks a good action.yml in one place at a time.
func TestAMalformedActionIsSeen(t *testing.T) {
	good := read(t, "actions", "maintenance-apply", "action.yml")
	if f := checkAction("maintenance-apply", good); len(f) > 0 {
		t.Fatal(f)
	}
	for name, change := range map[string][2]string{
		"a key that does not exist":         {"branding:", "brandings:"},
		"a step key that does not exist":    {"      shell: " + shell + "\n", "      shell: " + shell + "\n      timeout-minutes: 3\n"},
		"no shell":                          {"      shell: " + shell + "\n", ""},
		"another shell":                     {"--norc -p", "--norc"},
		"a library for the shell":           {"LD_PRELOAD: \"\"", "LD_PRELOAD: /tmp/x.so"},
		"another runtime":                   {"using: composite", "using: node20"},
		"an expression in a script":         {" maintenance-apply'", " maintenance-apply ${{ inputs.ledger }}'"},
		"another binary":                    {" maintenance-apply'", " ledger'"},
		"an output of no step":              {"steps.run.outputs.status", "steps.ran.outputs.status"},
		"an input that does not exist":      {"${{ inputs.ledger }}", "${{ inputs.ledgers }}"},
		"a context beside inputs":           {"${{ inputs.ledger }}", "${{ github.event.inputs.ledger }}"},
		"a pin that is a tag":               {"@" + pins["actions/download-artifact"], "@v4"},
		"a pin without its version":         {pins["actions/download-artifact"] + " # v4.3.0", pins["actions/download-artifact"]},
		"an input without required":         {"    required: false\n", ""},
		"an action of others that is new":   {"actions/download-artifact@", "actions/cache@"},
		"the operator's tool in its place":  {"description: ", "description: cmd/ledger "},
		"a color that the market has not":   {"color: ", "color: mauve # "},
		"an input name that is there twice": {"inputs:\n", "inputs:\n  ledger: {description: x, required: false}\n"},
	} {
		bad := strings.Replace(good, change[0], change[1], 1)
		if bad == good {
			t.Errorf("%s: nothing to change", name)
		} else if len(checkAction("maintenance-apply", bad)) == 0 {
			t.Errorf("%s: not seen", name)
		}
	}
}

func TestTheWrapperIsExecutableAndNamesNoRole(t *testing.T) {
	info, err := os.Stat(filepath.Join(root(), "actions", "run.sh"))
	if err != nil || info.Mode().Perm()&0o111 == 0 {
		t.Errorf("run.sh: %v, want an executable file", err)
	}
	for _, r := range theMatrix().Actions {
		if bytes.Contains([]byte(read(t, "actions", "run.sh")), []byte(r.Name)) {
			t.Errorf("run.sh knows of %s", r.Name)
		}
	}
}
