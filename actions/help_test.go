package actions_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/repo-memory/ledger/pkg/action"
)

// Inputs that an action has and its binary has not: the steps around the binary
// read them.
var (
	inputBin = action.Input{Name: "bin", Kind: action.Path, Empty: "taken from the release that this version of the action is, by the digest that it pins",
		Help: "Absolute path of a folder that holds the binary, built before."}
	inputSource = action.Input{Name: "allow-source-build", Kind: action.Bool, Default: "false", Empty: action.EmptyIsDefault,
		Help: "Whether the binary may be built with the Go of the runner, where this version of the action is no release."}
	inputUpload = action.Input{Name: "artifact", Empty: "nothing is uploaded",
		Help: "Start of the artifact's name, which ends with a hyphen and the ledger's name; an earlier one of that name is replaced."}
	inputDownload = action.Input{Name: "artifact", Empty: "nothing is downloaded",
		Help: "Start of the artifact's name, which ends with a hyphen and the ledger's name."}
	inputThread = action.Input{Name: "thread-artifact", Empty: "nothing is downloaded",
		Help: "Start of the name of thread-context's artifact, which ends with a hyphen and that ledger's name; used where thread-ledger or staged-digest is given and staged-path is not."}
)

// around returns the inputs that an action adds.
func around(name string) (inputs []action.Input) {
	artifact := func(in action.Input, prefix string) { in.Default = prefix; inputs = append(inputs, in) }
	switch name {
	case "txlog-merge":
		artifact(inputUpload, "ledger")
	case "persist":
		artifact(inputDownload, "ledger")
		artifact(inputThread, "thread")
	case "thread-context":
		artifact(inputUpload, "thread")
	case "thread-record":
		artifact(inputDownload, "thread")
	case "maintenance-plan":
		artifact(inputUpload, "maintenance-plan")
	case "maintenance-apply":
		artifact(inputDownload, "maintenance-plan")
	case "memory-review":
		artifact(inputUpload, "memory-merge")
	case "memory-merge":
		artifact(inputDownload, "memory-merge")
	}
	if inputs = append(inputs, inputBin); holdsToken(name) {
		inputs = append(inputs, inputSource)
	}
	return inputs
}

// holdsToken reports whether the job of a role has a token with any permission.
func holdsToken(name string) bool {
	r, ok := rowOf(name)
	return !ok || len(r.Permissions) > 0
}

var (
	helps     sync.Map
	takesLine = regexp.MustCompile(`(?m)^  ([a-z0-9-]+) \([A-Z0-9_]+\) .*\n      .*\n      Takes (.*)\.$`)
)

// helpRole returns what a binary's --help says of it. The kind of each input is
// the text of what it takes.
func helpRole(t *testing.T, name string) action.Role {
	t.Helper()
	if role, ok := helps.Load(name); ok {
		return role.(action.Role)
	}
	out, err := exec.Command(binary(t, name), "--help").Output()
	if err != nil {
		t.Fatalf("%s --help: %v", name, err)
	}
	role, err := action.ParseHelp(string(out))
	if err != nil || role.Name != name {
		t.Fatalf("%s --help: %v, name %q", name, err, role.Name)
	}
	takes := map[string]string{}
	for _, m := range takesLine.FindAllStringSubmatch(string(out), -1) {
		takes[m[1]] = m[2]
	}
	for i, in := range role.Inputs {
		if takes[in.Name] == "" {
			t.Fatalf("%s --help does not say what %s takes", name, in.Name)
		}
		role.Inputs[i].Kind = action.Kind(takes[in.Name])
	}
	helps.Store(name, role)
	return role
}

// actionRole is the role with the inputs that its action adds.
func actionRole(t *testing.T, name string) action.Role {
	role := helpRole(t, name)
	role.Inputs = action.Inputs(role.Inputs, around(name))
	return role
}

// stepID is the id of the step that runs the binary, in every action.
const stepID = "run"

// shell is the shell of every script of an action. It is named by path where it
// has one, so that a bash which an earlier step put first in PATH is not used, and
// -p keeps it from BASH_ENV, exported functions and the options in SHELLOPTS.
const shell = "${{ runner.os == 'Windows' && 'bash' || '/bin/bash' }} --noprofile --norc -p -euo pipefail {0}"

// unset are variables that would load code into the shell itself: libraries, and
// what glibc converts the characters of a locale with, which it loads as well, for
// LC_ALL and a locale of LOCPATH that names it. What a step sets for itself wins over
// what earlier steps left.
var unset = []string{"GCONV_PATH", "LD_AUDIT", "LD_LIBRARY_PATH", "LD_PRELOAD", "LOCPATH"}

// quoted spells text as a double-quoted YAML scalar.
func quoted(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		panic(err)
	}
	return strings.TrimSpace(b.String())
}

// renderInterface is the part of an action.yml that --help determines.
func renderInterface(role action.Role) string {
	var b strings.Builder
	b.WriteString("inputs:\n")
	for _, in := range role.Inputs {
		fmt.Fprintf(&b, "  %s:\n    description: %s\n    required: %v\n", in.Name, quoted(in.Help), in.Required)
		if in.Default != "" {
			fmt.Fprintf(&b, "    default: %s\n", quoted(in.Default))
		}
	}
	if len(role.Outputs) > 0 {
		b.WriteString("\noutputs:\n")
	}
	for _, out := range role.Outputs {
		fmt.Fprintf(&b, "  %s:\n    description: %s\n    value: ${{ steps.%s.outputs.%s }}\n", out.Name, quoted(out.Help), stepID, out.Name)
	}
	return b.String()
}

// renderStep is the step that runs the binary.
func renderStep(role action.Role) string {
	var b strings.Builder
	run := `. "$GITHUB_ACTION_PATH/../run.sh" ` + role.Name
	if len(role.Commands) > 0 {
		run += " " + role.Commands[0].Name
	}
	fmt.Fprintf(&b, "    - id: %s\n      shell: %s\n      run: '%s'\n      env:\n", stepID, shell, run)
	for _, in := range role.Inputs {
		if !strings.HasSuffix(in.Name, "artifact") {
			fmt.Fprintf(&b, "        %s: ${{ inputs.%s }}\n", in.Variable(), in.Name)
		}
	}
	if !holdsToken(role.Name) {
		fmt.Fprintf(&b, "        %s: \"true\" # this job has no token\n", inputSource.Variable())
	}
	for _, name := range unset {
		fmt.Fprintf(&b, "        %s: \"\"\n", name)
	}
	return b.String()
}
