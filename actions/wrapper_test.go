package actions_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/action"
)

// wrap runs a role through run.sh as its action does: by bash, with nothing in
// the environment but what is given, from a folder whose name a shell could trip
// over. It returns the output and the exit code.
func wrap(t *testing.T, role string, args []string, env ...string) (string, int) {
	t.Helper()
	home := filepath.Join(t.TempDir(), "it's a $(folder)")
	if err := os.MkdirAll(home, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(home, "v1", "actions", role), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(home, "v1", "actions", "run.sh"), read(t, "actions", "run.sh"))
	cmd := exec.Command("/bin/bash", append([]string{"--noprofile", "--norc", "-p", "-euo", "pipefail", "-c", `. "$GITHUB_ACTION_PATH/../run.sh" "$@"`, "bash", role}, args...)...)
	cmd.Dir = home
	cmd.Env = append([]string{"GITHUB_ACTION_PATH=" + filepath.Join(home, "v1", "actions", role)}, env...)
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(home); err != nil || len(left) != 1 {
		t.Errorf("the run left something in its working folder: %v, %v", left, err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func TestTheWrapperRunsABinaryThatWasBuiltBeforeAndNeedsNoGo(t *testing.T) {
	out, code := wrap(t, "maintenance-apply", []string{"--version"}, "INPUT_BIN="+binaries(t))
	if code != 0 || !strings.HasPrefix(out, "maintenance-apply ") {
		t.Errorf("%d: %s", code, out)
	}
}

func TestTheWrapperSaysInOneLineWhyItCannotStart(t *testing.T) {
	empty := t.TempDir()
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "persist"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		env  []string
		want string
	}{
		"no release, and a token":    {[]string{"RUNNER_TEMP=" + empty, "INPUT_BIN="}, noRelease},
		"no RUNNER_TEMP":             {[]string{"INPUT_ALLOW_SOURCE_BUILD=true", "PATH=" + os.Getenv("PATH")}, "RUNNER_TEMP names no folder: a runner sets it for every step"},
		"a bin that is relative":     {[]string{"INPUT_BIN=bin"}, "bin is no absolute path: a folder below the workspace could be the agent's"},
		"a bin without the binary":   {[]string{"INPUT_BIN=" + empty}, "bin has no executable file persist: build it there with go build, or leave bin out"},
		"a bin where it is a folder": {[]string{"INPUT_BIN=" + folder}, "bin has no executable file persist: build it there with go build, or leave bin out"},
		"a bin of two lines":         {[]string{"INPUT_BIN=" + empty + "\n::error::forged"}, "bin has no executable file persist: build it there with go build, or leave bin out"},
	} {
		out, code := wrap(t, "persist", nil, c.env...)
		if want := "::error title=persist::" + c.want + "\n"; code != 1 || out != want {
			t.Errorf("%s: exit %d, %q, want %q", name, code, out, want)
		}
	}
}

// TestNoInputReachesAShell gives every action that has a ledger values that a
// shell would run. Nothing may happen, and the binary says so in one line.
func TestNoInputReachesAShell(t *testing.T) {
	temp := t.TempDir()
	for _, value := range []string{"$(touch ran)", "`touch ran`", `"; touch ran; "`, "'; touch ran; '", "a\ntouch ran", " ", "../x", "-n", "a\r\n::set-output name=x::y"} {
		for _, r := range theMatrix().Actions {
			if !slices.ContainsFunc(helpRole(t, r.Name).Inputs, func(in action.Input) bool { return in.Name == "ledger" }) {
				continue
			}
			out, code := wrap(t, r.Name, nil, "RUNNER_TEMP="+temp, "INPUT_BIN="+binaries(t), "GITHUB_ACTIONS=true",
				"GITHUB_OUTPUT="+filepath.Join(temp, "out"), "GITHUB_ENV="+filepath.Join(temp, "env"), "GITHUB_STEP_SUMMARY="+filepath.Join(temp, "sum"),
				"INPUT_LEDGER="+value, "INPUT_REMOTE="+temp, "INPUT_ARTIFACT="+value)
			want := 2
			if r.Trust == "trusted step" {
				want = 0 // it never fails the job
			}
			if code != want || strings.Count(out, "\n") != 1 || !strings.HasPrefix(out, "::error title="+r.Name+"::") || !strings.Contains(out, "ledger") {
				t.Errorf("%s with ledger %q: exit %d, %q", r.Name, value, code, out)
			}
		}
	}
	if entries, err := os.ReadDir(temp); err != nil || len(entries) != 0 {
		t.Errorf("something was written: %v, %v", entries, err)
	}
}

// newer is what the bash of macOS, 3.2, does not know, or gets wrong.
var newer = regexp.MustCompile(`declare -[AgnlLuU]|local -[Anlu]|mapfile|readarray|coproc|EPOCH(SECONDS|REALTIME)|BASHPID|\$\{[A-Za-z0-9_]+(,|\^|@)|&>>|\|&|;;?&|\[\[.*-v |wait -n|printf -v [A-Za-z_]+\[|read -[a-zA-Z]*[iN]|\$\{[A-Za-z_]+: -`)

// TestTheScriptsAreForEveryBash reads them with the bash that is here, and looks
// for what an old one lacks. Here-documents are files in TMPDIR, so there are none
// before a binary is verified.
func TestTheScriptsAreForEveryBash(t *testing.T) {
	for _, file := range []string{"actions/run.sh", "actions/txlog-merge/collect.sh"} {
		command(t, root(), "/bin/bash", "-n", file)
		text := read(t, file)
		for i, line := range strings.Split(text, "\n") {
			if code := strings.TrimSpace(line); !strings.HasPrefix(code, "#") && newer.MatchString(code) {
				t.Errorf("%s:%d: not for bash 3.2: %s", file, i+1, code)
			}
		}
		if file == "actions/run.sh" && strings.Contains(text, "<<") {
			t.Errorf("%s: a here-document", file)
		}
		if strings.Contains(text, "\r") || !strings.HasPrefix(text, "#!/bin/bash -p\n") {
			t.Errorf("%s: line ends or first line", file)
		}
	}
	for _, bad := range []string{"declare -A x", "x=${y,,}", "x=${y@Q}", "mapfile -t x", "a |& b", "x=$EPOCHREALTIME", "read -N 1 x"} {
		if !newer.MatchString(bad) {
			t.Errorf("not seen: %s", bad)
		}
	}
}
