package action

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
)

var plain = Role{Name: "plain", Summary: "takes nothing."}

func ok(context.Context, *Action) error { return nil }

func TestUnknownArgumentsAreBadInput(t *testing.T) {
	for _, args := range [][]string{{"--ledger=x"}, {"serve"}, {""}, {"--help", "x"}, {"--version", "--help"}, {"--", "x"}, {"\u202e::error::"}} {
		got := runRole(plain, nil, args, ok)
		if got.code != 2 || !strings.HasPrefix(got.stderr, "plain: unknown argument \"") || strings.Contains(got.stderr, "\u202e") {
			t.Errorf("%q: %+v", args, got)
		}
	}
}

func TestACommandIsTheFirstArgumentAndTheFirstCommandTheDefault(t *testing.T) {
	role := plain
	role.Inputs = []Input{InputLedger, {Name: "key", Help: "Key.", Required: true}}
	role.Commands = []Command{{Name: "setup", Help: "Sets up.", Inputs: []string{"ledger"}}, {Name: "serve", Help: "Serves.", Protocol: true}}
	say := func(_ context.Context, a *Action) error {
		a.Infof("%s %s", a.Command(), a.GetInput("ledger"))
		return nil
	}
	if got := runRole(role, nil, nil, say); got.stdout != "setup memory\n" {
		t.Errorf("%+v", got)
	}
	if got := runRole(role, nil, []string{"setup"}, say); got.stdout != "setup memory\n" {
		t.Errorf("%+v", got)
	}
	if got := runRole(role, nil, []string{"serve"}, say); got.code != 2 || !strings.Contains(got.stderr, "input key: required") {
		t.Errorf("%+v", got)
	}
	if got := runRole(role, nil, []string{"serve", "x"}, say); got.code != 2 || !strings.Contains(got.stderr, "unknown argument") {
		t.Errorf("%+v", got)
	}
	got := runRole(role, map[string]string{"INPUT_KEY": "k", "GITHUB_ACTIONS": "true"}, []string{"serve"}, func(_ context.Context, a *Action) error {
		a.Infof("started")
		a.Warningf("w")
		a.Group("g")
		a.EndGroup()
		a.AddMask("m")
		return errors.New("broken")
	})
	if got.stdout != "" || got.stderr != "started\nwarning: w\ng\nplain: broken\n" || got.code != 1 {
		t.Errorf("a protocol's standard output was written to: %+v", got)
	}
}

func TestATrustedRoleRefusesAnAgentsJob(t *testing.T) {
	role := plain
	role.Trusted = true
	for _, value := range []string{"1", "0", "false"} {
		got := runRole(role, map[string]string{"LEDGER_UNTRUSTED_JOB": value}, nil, func(context.Context, *Action) error {
			t.Error("it ran")
			return nil
		})
		if got.code != 1 || !strings.Contains(got.stderr, "refuses to run") {
			t.Errorf("%+v", got)
		}
	}
	if got := runRole(role, nil, nil, ok); got.code != 0 {
		t.Errorf("elsewhere: %+v", got)
	}
	if got := runRole(plain, map[string]string{"LEDGER_UNTRUSTED_JOB": "1"}, nil, ok); got.code != 0 {
		t.Errorf("an untrusted role: %+v", got)
	}
}

func TestAnErrorIsPrintedOnceOnOneLine(t *testing.T) {
	fail := func(context.Context, *Action) error { return errors.New("first: 100%\nsecond\r\x1b[0m ##[error]x") }
	if got := runRole(plain, nil, nil, fail); got.code != 1 || got.stdout != "" || got.stderr != `plain: first: 100%\u{a}second\u{d}\u{1b}[0m \u{23}#[error]x`+"\n" {
		t.Errorf("%+v", got)
	}
	got := runRole(plain, map[string]string{"GITHUB_ACTIONS": "true"}, nil, fail)
	if got.code != 1 || got.stderr != "" || got.stdout != `::error title=plain::first: 100%25\u{a}second\u{d}\u{1b}[0m \u{23}#[error]x`+"\n" {
		t.Errorf("%+v", got)
	}
}

func TestAPanicSaysWhereAndNeverWhat(t *testing.T) {
	for name, run := range map[string]func(context.Context, *Action) error{
		"value":  func(context.Context, *Action) error { panic("payload secret") },
		"nil":    func(_ context.Context, a *Action) error { var p *Input; return errors.New(p.Name) },
		"index":  func(_ context.Context, a *Action) error { return fmt.Errorf("%v", []int{}[len(a.Command())]) },
		"nested": func(context.Context, *Action) error { defer func() { panic("other") }(); panic("payload") },
	} {
		got := runRole(plain, nil, nil, run)
		if got.code != 1 || !regexp.MustCompile(`^plain: internal error at run_test\.go:\d+; please report it\n$`).MatchString(got.stderr) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestAFailedOutputFailsARunThatReturnedNothing(t *testing.T) {
	got := runRole(sample, validEnv(), nil, func(_ context.Context, a *Action) error { a.SetOutput("head", "a\nb"); return nil })
	if got.code != 1 || got.stderr != "sample-role: output \"head\": has a line break, and the output is one line\n" {
		t.Errorf("%+v", got)
	}
}

func TestTheVersionIsTheReleaseElseWhatTheToolchainRecorded(t *testing.T) {
	if got := runRole(plain, nil, []string{"--version"}, nil); got.code != 0 || !regexp.MustCompile(`^plain \S+\n$`).MatchString(got.stdout) {
		t.Errorf("%+v", got)
	}
	setting := func(pairs ...string) *debug.BuildInfo {
		info := &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}
		for i := 0; i < len(pairs); i += 2 {
			info.Settings = append(info.Settings, debug.BuildSetting{Key: pairs[i], Value: pairs[i+1]})
		}
		return info
	}
	for want, info := range map[string]*debug.BuildInfo{
		"unknown": setting(), "abc": setting("vcs.revision", "abc", "vcs.modified", "false"),
		"abc+dirty": setting("vcs.revision", "abc", "vcs.modified", "true"), "v1.0.0": {Main: debug.Module{Version: "v1.0.0"}},
	} {
		if got := versionOf(info); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestAnnotationsAndGroupsAreWorkflowCommandsInActionsOnly(t *testing.T) {
	talk := func(_ context.Context, a *Action) error {
		a.Group("a%b\nc")
		a.Infof("line\n ::set-output name=x::y\n##[group]z")
		a.EndGroup()
		a.Noticef("n %d%%", 5)
		a.Warningf("w\n::error::x")
		a.AddMask("s3cr%et\n\nsecond")
		a.Infof("holds s3cr%%et\n\nsecond")
		return nil
	}
	got := runRole(plain, map[string]string{"GITHUB_ACTIONS": "true"}, nil, talk)
	want := "::group::a%25b\\u{a}c\nline\n \\u{3a}:set-output name=x::y\n\\u{23}#[group]z\n::endgroup::\n" +
		"::notice title=plain::n 5%25\n::warning title=plain::w\\u{a}::error::x\n::add-mask::s3cr%25et\n::add-mask::second\nholds ***\n\n***\n"
	if got.stdout != want {
		t.Errorf("got\n%s\nwant\n%s", got.stdout, want)
	}
	got = runRole(plain, nil, nil, talk)
	if strings.Contains(got.stdout, "::group") || strings.Contains(got.stdout, "add-mask") || !strings.Contains(got.stdout, "notice: n 5%\nwarning: w\\u{a}::error::x\n") {
		t.Errorf("%+v", got)
	}
}

func TestALongMessageIsCutWithAMark(t *testing.T) {
	got := runRole(plain, nil, nil, func(_ context.Context, a *Action) error { a.Warningf("%s", strings.Repeat("x", 100_000)); return nil })
	if len(got.stdout) > maxMessageBytes+50 || !strings.HasSuffix(got.stdout, "…(+95904 bytes)\n") {
		t.Errorf("%d bytes, ends in %q", len(got.stdout), got.stdout[len(got.stdout)-40:])
	}
}

func TestPropertiesOfAnnotationsAreEscaped(t *testing.T) {
	if got := escapeProperty("a:b,c%d\r\n"); got != "a%3Ab%2Cc%25d%0D%0A" {
		t.Error(got)
	}
	if got := escapeData("a:b,c%d\r\n"); got != "a:b,c%25d%0D%0A" {
		t.Error(got)
	}
}

// TestMain is also the binary of a role, for the tests that need a process.
func TestMain(m *testing.M) {
	if os.Getenv("ACTION_TEST_ROLE") == "" {
		os.Exit(m.Run())
	}
	role := sample
	role.Commands = []Command{{Name: "run", Help: "Prints."}, {Name: "wait", Help: "Waits for a signal."}}
	Main(role, func(ctx context.Context, a *Action) error {
		if a.Command() == "wait" {
			fmt.Println("ready")
			<-ctx.Done()
			return ctx.Err()
		}
		a.Infof("ledger %s", a.GetInput("ledger"))
		a.SetOutput("head", strings.Repeat("a", 40))
		a.AddStepSummary("### done")
		return nil
	})
}

func process(t *testing.T, env []string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Env = append([]string{"ACTION_TEST_ROLE=1"}, env...)
	if root := os.Getenv("SystemRoot"); root != "" {
		cmd.Env = append(cmd.Env, "SystemRoot="+root)
	}
	return cmd
}

func TestAProcessWithOnlyTheMappedVariablesWorks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "it's a dir")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	out, summary := filepath.Join(dir, "out"), filepath.Join(dir, "summary")
	cmd := process(t, []string{
		"GITHUB_ACTIONS=true", "GITHUB_OUTPUT=" + out, "GITHUB_STEP_SUMMARY=" + summary, "INPUT_DIRECTORY=" + dir,
		"INPUT_LEDGER=notes", "INPUT_REMOTE=" + dir, "INPUT_STAGED_DIGEST=" + someDigest,
	})
	text, err := cmd.CombinedOutput()
	if err != nil || string(text) != "ledger notes\n" {
		t.Fatalf("%v: %s", err, text)
	}
	if readFile(t, out) != "head="+strings.Repeat("a", 40)+"\n" || readFile(t, summary) != "### done\n" {
		t.Errorf("output %q, summary %q", readFile(t, out), readFile(t, summary))
	}
	cmd = process(t, []string{"INPUT_LEDGER=a b"})
	text, _ = cmd.CombinedOutput()
	if code := cmd.ProcessState.ExitCode(); code != 2 || strings.Count(string(text), "\n") != 1 {
		t.Errorf("exit %d: %s", code, text)
	}
}

func TestTheBinaryDependsOnTheStandardLibraryOnlyAndNotOnTheNetwork(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}\n{{if .Standard}}std {{.ImportPath}}{{end}}", ".")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	packages := strings.Fields(strings.ReplaceAll(string(text), "std ", "std:"))
	for _, p := range packages {
		path, std := strings.CutPrefix(p, "std:")
		ours := path == "github.com/repo-memory/ledger/pkg/action" || path == "github.com/repo-memory/ledger/pkg/glyph"
		if !std && !ours || path == "net" || strings.HasPrefix(path, "net/") || path == "os/exec" {
			t.Errorf("depends on %s", path)
		}
	}
	if len(packages) < 20 {
		t.Errorf("only %d packages listed", len(packages))
	}
}
