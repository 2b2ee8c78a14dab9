package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/ledger"
)

// quickExit keeps the race detector from waiting a second when a process ends.
const quickExit = "atexit_sleep_ms=0"

// TestMain lets the test's own program be the role: under its name in scripts, and
// as what the configuration of MCP clients starts, which is this very file.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "serve" {
		main()
	}
	testscript.Main(m, map[string]func(){"agent-ledger": main, "shards": shards})
}

// shards appends payloads, each by a writer of its own, so that every one stands
// in a shard of its own:  shards DIR TYPE JSON...
func shards() {
	for _, payload := range os.Args[3:] {
		if err := appendOne(os.Args[1], os.Args[2], payload); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func appendOne(dir, typ, payload string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	w, err := ledger.NewWriter(dir, ledger.DefaultLimits(), ledger.WriterOptions{})
	if err != nil {
		return err
	}
	if _, err := w.Append(typ, []byte(payload)); err != nil {
		return err
	}
	return w.Close()
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata", RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			for name, value := range map[string]string{
				"RUNNER_TEMP": e.WorkDir + "/temp", "GITHUB_ACTIONS": "", "GITHUB_OUTPUT": "", "GITHUB_ENV": "", "GITHUB_STEP_SUMMARY": "",
				"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "t", "GIT_AUTHOR_EMAIL": "t@example.invalid",
				"GIT_COMMITTER_NAME": "t", "GIT_COMMITTER_EMAIL": "t@example.invalid", "LEDGER_UNTRUSTED_JOB": "", "GORACE": quickExit,
			} {
				e.Setenv(name, value)
			}
			return os.Mkdir(e.WorkDir+"/temp", 0o755)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": status, "mode": mode, "nowhere": nowhere},
	})
}

// status runs setup, which must exit with the given code, print one line on
// standard error that matches, and leave nothing in RUNNER_TEMP:
//
//	status CODE REGEXP
//
// The line is kept in the file said.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: status code regexp")
	}
	var exit *exec.ExitError
	if err := ts.Exec("agent-ledger", "setup"); !errors.As(err, &exit) || fmt.Sprint(exit.ExitCode()) != args[0] {
		ts.Fatalf("got %v, want exit status %s", err, args[0])
	}
	said := ts.ReadFile("stderr")
	ts.Check(os.WriteFile(ts.MkAbs("said"), []byte(said), 0o644))
	if !regexp.MustCompile(args[1]).MatchString(said) || strings.Count(said, "\n") != 1 {
		ts.Fatalf("standard error is %q, want one line like %q", said, args[1])
	}
	left, err := os.ReadDir(ts.MkAbs("temp"))
	ts.Check(err)
	if len(left) != 0 {
		ts.Fatalf("%s is left behind", left[0])
	}
}

func TestTheDeclarationIsSound(t *testing.T) {
	if err := role.Check(); err != nil {
		t.Fatal(err)
	}
	if _, err := action.ParseHelp(role.Help()); err != nil {
		t.Fatal(err)
	}
}
