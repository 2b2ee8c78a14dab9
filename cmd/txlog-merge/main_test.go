package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/staging"
	"github.com/repo-memory/ledger/pkg/txlog"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"txlog-merge": main, "stage": stage})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata", RequireExplicitExec: true, RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			for name, value := range map[string]string{
				"RUNNER_TEMP": e.WorkDir + "/temp", "GITHUB_ACTIONS": "", "GITHUB_OUTPUT": "", "GITHUB_ENV": "", "GITHUB_STEP_SUMMARY": "",
				"LEDGER_UNTRUSTED_JOB": "1", "GH_AW_SAFE_OUTPUTS": e.WorkDir + "/safe.jsonl", "GORACE": "atexit_sleep_ms=0",
			} {
				e.Setenv(name, value)
			}
			return os.Mkdir(e.WorkDir+"/temp", 0o755)
		},
	})
}

// stage leaves an agent's folder in $RUNNER_TEMP/ledger/memory:
//
//	stage N M
//
// with N restored shards of one record each, and one shard of this run with M
// records, whose events are in the log. Payloads hold the word confidential.
func stage() {
	dir := filepath.Join(os.Getenv("RUNNER_TEMP"), "ledger", "memory")
	n, err := strconv.Atoi(os.Args[1])
	if err == nil {
		err = os.MkdirAll(dir, 0o755)
	}
	for i := 0; err == nil && i < n; i++ {
		_, err = appendTo(dir, 1)
	}
	var snap ledger.Snapshot
	if err == nil {
		snap, err = ledger.SnapshotFolder(dir)
	}
	if err == nil {
		err = staging.WriteRestored(dir, snap)
	}
	if err == nil {
		n, err = strconv.Atoi(os.Args[2])
	}
	var records []ledger.Record
	if err == nil {
		records, err = appendTo(dir, n)
	}
	var log *txlog.Writer
	if err == nil {
		log, err = txlog.OpenWriter(staging.LogPath(dir))
	}
	for _, r := range records {
		if err == nil {
			err = log.Append(txlog.EventOf(r, time.Now()))
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "stage:", err)
		os.Exit(1)
	}
}

func appendTo(dir string, n int) ([]ledger.Record, error) {
	w, err := ledger.NewWriter(dir, ledger.DefaultLimits(), ledger.WriterOptions{})
	if err != nil {
		return nil, err
	}
	defer w.Close()
	var records []ledger.Record
	for range n {
		r, err := w.Append("note", []byte(`"confidential"`))
		if err != nil {
			return nil, err
		}
		records = append(records, r)
	}
	return records, nil
}
