// Package compactiontest gives scripts that test the maintenance binaries
// (rogpeppe/go-internal/testscript) a ledger on a real git remote. Its commands
// work on branch ledgers/memory of the repository at the path $INPUT_REMOTE:
//
//	seed FIRST COUNT [BYTES]   one commit that adds COUNT shards of one record each,
//	                           records number FIRST and on, of some BYTES bytes
//	put PATH FILE              one commit that writes a file
//	drop PATH                  one commit that deletes a file
//	history FILE               write all records, in order, to a file
//	shards N                   fail unless the branch has N shards
//	exits CODE COMMAND ARG...  fail unless the command ends with that exit code
package compactiontest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/repo-memory/ledger/pkg/branch"
	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/publish"
)

const branchName = "ledgers/memory"

// Commands returns the commands for testscript.Params.Cmds.
func Commands() map[string]func(ts *testscript.TestScript, neg bool, args []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"seed": seed, "put": put, "drop": drop, "history": history, "shards": shards, "exits": exits,
	}
}

// Setup points the inputs of a script's binaries at its own remote and a
// runner's temporary folder.
func Setup(env *testscript.Env) error {
	env.Setenv("INPUT_REMOTE", env.WorkDir+"/remote.git")
	env.Setenv("RUNNER_TEMP", env.WorkDir+"/tmp")
	return exec.Command("git", "init", "-q", "--bare", env.WorkDir+"/remote.git").Run()
}

// Note returns record n, with a payload that makes its line some size bytes
// long.
func Note(n, size int) (ledger.Record, error) {
	return ledger.Seal(ledger.Draft{
		ID:        fmt.Sprintf("ldg-00000000-0000-4000-8000-%012d", n),
		Payload:   fmt.Appendf(nil, `{"n":%d,"text":%q}`, n, strings.Repeat("x", max(0, size-260))),
		Timestamp: ledger.FormatTime(time.Date(2026, 10, 1, 0, 0, 0, n*int(time.Millisecond), time.UTC)), Type: "note",
	})
}

func remote(ts *testscript.TestScript) branch.Remote {
	r, err := branch.ParseRemote(ts.Getenv("INPUT_REMOTE"), "", "")
	ts.Check(err)
	return r
}

func commit(ts *testscript.TestScript, change ledger.Change) {
	change.Message = "test"
	_, err := publish.Update(context.Background(), remote(ts), branchName, publish.Options{}, func(ledger.Snapshot) (ledger.Change, error) {
		return change, nil
	})
	ts.Check(err)
}

func number(ts *testscript.TestScript, text string) int {
	n, err := strconv.Atoi(text)
	ts.Check(err)
	return n
}

func seed(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: seed FIRST COUNT [BYTES]")
	}
	first, count, size := number(ts, args[0]), number(ts, args[1]), 400
	if len(args) == 3 {
		size = number(ts, args[2])
	}
	change := ledger.Change{Add: map[string][]byte{}}
	for n := first; n < first+count; n++ {
		r, err := Note(n, size)
		ts.Check(err)
		path := ledger.ShardPath(fmt.Sprintf("00000000-0000-4000-8000-%012d", n))
		change.Add[path] = append(bytes.Clone(r.Line()), '\n')
	}
	commit(ts, change)
}

func put(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: put PATH FILE")
	}
	commit(ts, ledger.Change{Add: map[string][]byte{args[0]: []byte(ts.ReadFile(args[1]))}})
}

func drop(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: drop PATH")
	}
	commit(ts, ledger.Change{Delete: []string{args[0]}})
}

func read(ts *testscript.TestScript) ledger.Snapshot {
	snap, err := branch.Read(context.Background(), remote(ts), branchName, branch.Limits{})
	ts.Check(err)
	return snap
}

func history(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: history FILE")
	}
	limits := ledger.DefaultLimits()
	limits.MaxShards = ledger.MaxReadShards
	var b bytes.Buffer
	for r := range ledger.OpenSnapshot(read(ts), limits).Records() {
		b.Write(r.Line())
		b.WriteByte('\n')
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b.Bytes(), 0o644))
}

func shards(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: shards N")
	}
	n := 0
	for path := range read(ts).Files {
		if strings.HasPrefix(path, ledger.ShardDir+"/") {
			n++
		}
	}
	if n != number(ts, args[0]) {
		ts.Fatalf("the branch has %d shards", n)
	}
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ARG...")
	}
	code := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if code != number(ts, args[0]) {
		ts.Fatalf("%s ended with exit code %d", args[1], code)
	}
}
