package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/repo-memory/ledger/pkg/branch"
	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/staging"
	"github.com/repo-memory/ledger/pkg/txlog"
)

// noWait keeps a process of the race detector from waiting a second at its end.
const noWait = "atexit_sleep_ms=0"

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"persist": main, "stage": stageMain, "stored": storedMain})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata", RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			for name, value := range map[string]string{
				"RUNNER_TEMP": e.WorkDir + "/temp", "INPUT_REMOTE": e.WorkDir + "/remote.git", "INPUT_DIRECTORY": e.WorkDir + "/a/memory",
				"GITHUB_ACTIONS": "", "GITHUB_OUTPUT": "", "GITHUB_ENV": "", "GITHUB_STEP_SUMMARY": "", "LEDGER_UNTRUSTED_JOB": "",
				"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_NOSYSTEM": "1", "GORACE": noWait,
			} {
				e.Setenv(name, value)
			}
			return os.Mkdir(e.WorkDir+"/temp", 0o755)
		},
		Condition: func(condition string) (bool, error) {
			return false, fmt.Errorf("unknown condition %q", condition)
		},
	})
}

// stageMain prepares a staging as an agent's job does and lets an agent append:
//
//	stage NAME N [REMOTE]
//
// leaves NAME/memory restored from the remote (remote.git) with N records more,
// their events in the log, and the manifest beside it. The records' payloads hold
// the word confidential.
func stageMain() {
	n, err := strconv.Atoi(os.Args[2])
	if err == nil {
		remote := "remote.git"
		if len(os.Args) > 3 {
			remote = os.Args[3]
		}
		_, err = stage(os.Args[1], remote, n)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "stage:", err)
		os.Exit(1)
	}
}

func stage(name, url string, n int) ([]ledger.Hash, error) {
	remote, err := branch.ParseRemote(url, "", "")
	if err != nil {
		return nil, err
	}
	snap, err := branch.Read(context.Background(), remote, "ledgers/memory", branch.Limits{})
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(name, "memory")
	if err := branch.Export(snap, dir); err != nil {
		return nil, err
	}
	m := staging.Manifest{Ledger: "memory", Branch: "ledgers/memory", Base: snap.Head, Run: "7", Attempt: 1, Writer: "00000000-0000-4000-8000-000000000001"}
	if err := staging.Write(dir, m); err != nil {
		return nil, err
	}
	w, err := ledger.NewWriter(dir, ledger.DefaultLimits(), ledger.WriterOptions{})
	if err != nil {
		return nil, err
	}
	defer w.Close()
	log, err := txlog.OpenWriter(staging.LogPath(dir))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	var shas []ledger.Hash
	for i := range n {
		r, err := w.Append("note", fmt.Appendf(nil, `{"confidential":%q,"n":%d}`, name, i))
		if err != nil {
			return nil, err
		}
		if err := log.Append(txlog.EventOf(r, time.Now())); err != nil {
			return nil, err
		}
		shas = append(shas, r.SHA())
	}
	return shas, nil
}

// storedMain prints what stands on the branch:  stored [REMOTE]
//
// first "records N heads N diagnostics N lines N", then the path of each file that
// is no shard, in order.
func storedMain() {
	url := "remote.git"
	if len(os.Args) > 1 {
		url = os.Args[1]
	}
	remote, err := branch.ParseRemote(url, "", "")
	if err == nil {
		var snap ledger.Snapshot
		if snap, err = branch.Read(context.Background(), remote, "ledgers/memory", branch.Limits{}); err == nil {
			l, lines := ledger.OpenSnapshot(snap, ledger.DefaultLimits()), 0
			var others []string
			for path, content := range snap.Files {
				if strings.HasPrefix(path, ledger.ShardDir+"/") {
					lines += strings.Count(string(content), "\n")
				} else {
					others = append(others, path)
				}
			}
			fmt.Printf("records %d heads %d diagnostics %d lines %d\n", l.Len(), len(l.Heads()), len(l.Diagnostics()), lines)
			fmt.Print(strings.Join(append(others, ""), "\n"))
			return
		}
	}
	fmt.Fprintln(os.Stderr, "stored:", err)
	os.Exit(1)
}
