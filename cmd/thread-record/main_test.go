package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/repo-memory/ledger/pkg/action"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"thread-record": main}) }

func TestTheDeclarationIsSound(t *testing.T) {
	if err := role.Check(); err != nil {
		t.Fatal(err)
	}
	if _, err := action.ParseHelp(role.Help()); err != nil {
		t.Fatal(err)
	}
}

// TestScripts are inputs that are refused before anything is asked of a server.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata", RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			for _, name := range []string{"GITHUB_ACTIONS", "GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_STEP_SUMMARY", "GITHUB_EVENT_PATH", "GITHUB_REPOSITORY", "LEDGER_UNTRUSTED_JOB"} {
				e.Setenv(name, "")
			}
			e.Setenv("RUNNER_TEMP", e.WorkDir+"/temp")
			e.Setenv("INPUT_REMOTE", e.WorkDir+"/remote.git")
			e.Setenv("INPUT_TOKEN", "ghs_NeverPrinted")
			e.Setenv("INPUT_NUMBER", "1")
			return nil
		},
	})
}
