package main

import (
	"bufio"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/txlog"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"ledger-mutation": main, "entries": entries})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata", RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			for name, value := range map[string]string{
				"GITHUB_ACTIONS": "", "GITHUB_OUTPUT": "", "GITHUB_ENV": "", "GITHUB_STEP_SUMMARY": "",
				"LEDGER_UNTRUSTED_JOB": "", "GH_AW_AGENT_OUTPUT": "", "GORACE": "atexit_sleep_ms=0",
			} {
				e.Setenv(name, value)
			}
			return nil
		},
	})
}

// entries prints one entry of a safe-output file for each type in its arguments.
func entries() {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for i, typ := range os.Args[1:] {
		r, err := ledger.Seal(ledger.Draft{ID: fmt.Sprintf("ldg-00000000-0000-4000-8000-%012d", i), Payload: []byte(`"confidential"`),
			Timestamp: "2026-11-30T05:00:00.000Z", Type: typ})
		if err != nil {
			fmt.Fprintln(os.Stderr, "entries:", err)
			os.Exit(1)
		}
		fmt.Fprintf(out, "%s\n", txlog.EventOf(r, time.Date(2026, 11, 30, 5, 0, 0, 0, time.UTC)).Entry())
	}
}
