package action

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
)

// sample is a role with every kind of input.
var sample = Role{
	Name:    "sample-role",
	Summary: "does what the tests ask.",
	Inputs: Inputs(InputsRemote, InputsLimits, []Input{
		InputBaseCommit,
		InputDirectory,
		{Name: "dry-run", Kind: Bool, Default: "false", Empty: EmptyIsDefault, Help: "Changes nothing."},
		{Name: "schedule", Kind: Enum, Values: []string{"daily", "weekly"}, Default: "daily", Help: "How often."},
		{Name: "extensions", Kind: List, Default: ".json, .md", Help: "Extensions."},
		{Name: "artifact", Kind: Text, Default: "ledger", Empty: "no artifact", Help: "Name of the artifact."},
		{Name: "staged-digest", Kind: Digest, Required: true, Help: "Digest of what was staged."},
	}),
	Outputs: []Output{
		{Name: "head", Help: "Commit id."},
		{Name: "notes", Help: "Several lines.", Lines: true},
	},
}

const someDigest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// result is what one run of a role left behind.
type result struct {
	code           int
	stdout, stderr string
}

func runRole(role Role, env map[string]string, args []string, run func(context.Context, *Action) error, options ...Option) result {
	var stdout, stderr bytes.Buffer
	options = append([]Option{WithEnv(env), WithWriter(&stdout), WithErrorWriter(&stderr)}, options...)
	code := Run(context.Background(), role, args, run, options...)
	return result{code, stdout.String(), stderr.String()}
}

// validEnv is the least that sample needs outside Actions.
func validEnv(more ...string) map[string]string {
	env := map[string]string{"INPUT_STAGED_DIGEST": someDigest, "INPUT_REMOTE": "/srv/r.git", "RUNNER_TEMP": "/tmp/rt"}
	for i := 0; i < len(more); i += 2 {
		env[more[i]] = more[i+1]
	}
	return env
}

func TestHelpIsParsedBackToTheDeclaration(t *testing.T) {
	role := sample
	role.Trusted = true
	role.Commands = []Command{{Name: "setup", Help: "Restores."}, {Name: "serve", Help: "Serves."}}
	role.Inputs = append(role.Inputs[:len(role.Inputs):len(role.Inputs)],
		Input{Name: "odd", Help: "Odd default.", Default: "a \"b\" \\ ${{ x }}", Empty: "nothing at all"})
	got, err := ParseHelp(role.Help())
	if err != nil {
		t.Fatal(err)
	}
	if got.Name != role.Name || got.Summary != role.Summary || !got.Trusted || !reflect.DeepEqual(got.Commands, role.Commands) {
		t.Errorf("got %+v", got)
	}
	if len(got.Inputs) != len(role.Inputs) {
		t.Fatalf("%d inputs, want %d", len(got.Inputs), len(role.Inputs))
	}
	for i, in := range role.Inputs {
		want := Input{Name: in.Name, Help: in.Help, Default: in.Default, Empty: in.Empty, Required: in.Required}
		if !reflect.DeepEqual(got.Inputs[i], want) {
			t.Errorf("input %d: %+v, want %+v", i, got.Inputs[i], want)
		}
	}
	for i, out := range role.Outputs {
		if got.Outputs[i].Name != out.Name || got.Outputs[i].Help != out.Help {
			t.Errorf("output %d: %+v", i, got.Outputs[i])
		}
	}
}

func TestHelpShowsDefaultsBoundsAndExitCodesAndNeedsNoInputs(t *testing.T) {
	got := runRole(sample, nil, []string{"--help"}, nil)
	if got.code != 0 || got.stderr != "" {
		t.Fatalf("%+v", got)
	}
	for _, want := range []string{
		"max-segment-kb (INPUT_MAX_SEGMENT_KB) default \"100\"\n", "a whole number of KiB from 1 to 10240",
		"staged-digest (INPUT_STAGED_DIGEST) required\n", "one of daily, weekly", "Empty: no artifact.",
		"  head\n      Commit id.\n", "Exit codes: 0 done, also when there was nothing to do; 1 failed; 2 bad input.\n",
	} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("help lacks %q:\n%s", want, got.stdout)
		}
	}
}

func TestHelpTextThatWasChangedIsNotParsed(t *testing.T) {
	help := sample.Help()
	for name, text := range map[string]string{
		"cut":     strings.TrimSuffix(help, helpEnd),
		"stray":   strings.Replace(help, "\nInputs ", "\nWhatever\n\nInputs ", 1),
		"no name": "Sample: x" + helpEnd,
	} {
		if _, err := ParseHelp(text); err == nil {
			t.Errorf("%s: parsed", name)
		}
	}
}

func TestADeclarationThatCannotWorkIsRefused(t *testing.T) {
	for name, change := range map[string]func(*Role){
		"a name in upper case":          func(r *Role) { r.Name = "Sample" },
		"no help":                       func(r *Role) { r.Inputs = []Input{{Name: "x"}} },
		"help of two lines":             func(r *Role) { r.Outputs = []Output{{Name: "x", Help: "a\nb"}} },
		"an input twice":                func(r *Role) { r.Inputs = []Input{InputLedger, InputLedger} },
		"required with a default":       func(r *Role) { r.Inputs = []Input{{Name: "x", Help: "h", Required: true, Default: "y"}} },
		"a default outside its bounds":  func(r *Role) { r.Inputs = []Input{{Name: "x", Help: "h", Kind: Int, Max: 3, Default: "4"}} },
		"derived without saying so":     func(r *Role) { r.Inputs = []Input{{Name: "x", Help: "h", Derived: temporaryDirectory}} },
		"a command's undeclared input":  func(r *Role) { r.Commands = []Command{{Name: "c", Help: "h", Inputs: []string{"nope"}}} },
		"an output name with underline": func(r *Role) { r.Outputs = []Output{{Name: "a_b", Help: "h"}} },
	} {
		role := sample
		change(&role)
		if role.Check() == nil {
			t.Errorf("%s: accepted", name)
		}
		if got := runRole(role, validEnv(), nil, nil); got.code != 1 || got.stderr == "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if err := sample.Check(); err != nil {
		t.Error(err)
	}
}

func TestMarkdownHasASectionForEveryInputAndARowForEveryOutput(t *testing.T) {
	text := sample.Markdown()
	for _, in := range sample.Inputs {
		if !strings.Contains(text, "### `"+in.Name+"`\n\n"+in.Help) || !strings.Contains(text, in.Accepts()) {
			t.Errorf("input %s is not in\n%s", in.Name, text)
		}
	}
	for _, out := range sample.Outputs {
		if !strings.Contains(text, "| `"+out.Name+"` | "+out.Help+" |\n") {
			t.Errorf("output %s is not in\n%s", out.Name, text)
		}
	}
}

func TestExitCodesTellBadInputFromFailure(t *testing.T) {
	for _, test := range []struct {
		err  error
		want int
	}{
		{nil, 0}, {errors.New("x"), 1}, {BadInput("plan", "too big"), 2},
		{errors.Join(errors.New("x"), BadInput("plan", "too big")), 2}, {&argumentError{"x"}, 2},
	} {
		if got := ExitCode(test.err); got != test.want {
			t.Errorf("%v: %d, want %d", test.err, got, test.want)
		}
	}
}
