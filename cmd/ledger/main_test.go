package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"regexp"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/repo-memory/ledger/pkg/ledger"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"ledger": main,
		"append": appendMain,
	})
}

// appendMain appends payloads, each by a writer of its own, so that every one
// stands in a shard of its own:  append DIR TYPE JSON...
func appendMain() {
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
	testscript.Run(t, testscript.Params{Dir: "testdata", RequireExplicitExec: true, RequireUniqueNames: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"found": found}})
}

// found sets a variable to what the one group of a pattern matches in standard
// output:  found NAME PATTERN
func found(ts *testscript.TestScript, _ bool, args []string) {
	m := regexp.MustCompile(args[1]).FindStringSubmatch(ts.ReadFile("stdout"))
	if m == nil {
		ts.Fatalf("standard output has no %s", args[1])
	}
	ts.Setenv(args[0], m[1])
}

// command runs the command line in this process.
func cli(stdin string, args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = run(context.Background(), args, streams{bytes.NewBufferString(stdin), &out, &err})
	return code, out.String(), err.String()
}
