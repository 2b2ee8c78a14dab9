package actions_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
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
	if err := os.Symlink(root(), filepath.Join(home, "v1")); err != nil {
		t.Fatal(err)
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(bash, append([]string{"--noprofile", "--norc", "-e", "-o", "pipefail", "-c", `"$GITHUB_ACTION_PATH/../run.sh" "$@"`, "bash", role}, args...)...)
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

// path is a PATH with the few programs that the wrapper calls, and more.
func path(t *testing.T, more ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"bash", "env", "mktemp", "chmod"} {
		at, err := exec.LookPath(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(at, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return "PATH=" + strings.Join(append([]string{dir}, more...), string(os.PathListSeparator))
}

// fakeGo returns a folder with a go that runs a script instead; $out is the
// file that it should build.
func fakeGo(t *testing.T, script string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go"), "#!/bin/sh\nout=$7\n"+script+"\n")
	if err := os.Chmod(filepath.Join(dir, "go"), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestTheWrapperRunsABinaryThatWasBuiltBeforeAndNeedsNoGo(t *testing.T) {
	out, code := wrap(t, "maintenance-apply", []string{"--version"}, path(t), "INPUT_BIN="+binaries(t))
	if code != 0 || !strings.HasPrefix(out, "maintenance-apply ") {
		t.Errorf("%d: %s", code, out)
	}
}

func TestTheWrapperBuildsTheRoleFromTheSourceOfTheAction(t *testing.T) {
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "RUNNER_TEMP=" + t.TempDir(), "INPUT_BIN=",
		"GOFLAGS=-tags=nonsense", "GOWORK=/nonexistent/go.work"}
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH", "GOPROXY"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	out, code := wrap(t, "ledger-mutation", []string{"--version"}, env...)
	if code != 0 || !strings.HasPrefix(out, "ledger-mutation ") {
		t.Errorf("%d: %s", code, out)
	}
}

func TestTheWrapperBuildsAnewForEachStepAndIgnoresSettingsOfTheJob(t *testing.T) {
	temp := t.TempDir()
	report := `echo "$PWD|$1 $2|$HOME|$GOENV|$GOFLAGS|$GOWORK|$CGO_ENABLED|$out" >&2
printf '#!/bin/sh\necho "ran $0 $*"\n' > "$out"; chmod +x "$out"`
	builds := map[string]bool{}
	for range 2 {
		out, code := wrap(t, "persist", nil, path(t, fakeGo(t, report)), "RUNNER_TEMP="+temp, "GOFLAGS=-toolexec=/bin/false", "GOENV=/tmp/evil")
		var built, ran string
		for _, line := range strings.Split(out, "\n") {
			if fields := strings.Split(line, "|"); len(fields) == 8 {
				built = fields[7]
				if want := []string{"build -C", temp, "off", "", "off", "0"}; strings.Join(fields[1:7], "|") != strings.Join(want, "|") {
					t.Errorf("built with %q, want %q", fields[1:7], want)
				}
			}
			if rest, ok := strings.CutPrefix(line, "ran "); ok {
				ran = strings.TrimSpace(rest)
			}
		}
		if code != 0 || built == "" || built != ran || !strings.HasPrefix(built, temp) || builds[built] {
			t.Errorf("%d: built %q, ran %q, earlier %v\n%s", code, built, ran, builds, out)
		}
		builds[built] = true
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
		"no Go":                       {[]string{"RUNNER_TEMP=" + empty, "INPUT_BIN="}, "there is no Go to build persist from source: run actions/setup-go before, or give a folder of binaries as bin"},
		"no RUNNER_TEMP":              {nil, "RUNNER_TEMP names no folder: a runner sets it for every step"},
		"a bin that is relative":      {[]string{"INPUT_BIN=bin"}, "bin is no absolute path: a folder below the workspace could be the agent's"},
		"a bin without the binary":    {[]string{"INPUT_BIN=" + empty}, "bin has no executable file persist: build it there with go build, or leave bin out"},
		"a bin where it is a folder":  {[]string{"INPUT_BIN=" + folder}, "bin has no executable file persist: build it there with go build, or leave bin out"},
		"a build that fails":          {[]string{"RUNNER_TEMP=" + empty, path(t, fakeGo(t, "exit 1"))}, "persist cannot be built from source: the lines above say why"},
		"a temporary folder, no exec": {[]string{"RUNNER_TEMP=" + empty, path(t, fakeGo(t, `: > "$out"`))}, "persist was built but cannot be run from RUNNER_TEMP, which is mounted noexec: give a folder of binaries as bin"},
		"a bin of two lines":          {[]string{"INPUT_BIN=" + empty + "\n::error::forged"}, "bin has no executable file persist: build it there with go build, or leave bin out"},
	} {
		out, code := wrap(t, "persist", nil, append([]string{path(t)}, c.env...)...)
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
			out, code := wrap(t, r.Name, nil, path(t), "RUNNER_TEMP="+temp, "INPUT_BIN="+binaries(t), "GITHUB_ACTIONS=true",
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
