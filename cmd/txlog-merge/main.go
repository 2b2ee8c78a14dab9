// Command txlog-merge merges the ledger's transaction log into the safe-output
// file of the run, as a trusted step of the agent's job after the agent, and names
// what the artifact for the later jobs consists of (specification, section 5.2).
// Whatever the agent made of log and output, it ends with exit code 0.
package main

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/staging"
	"github.com/repo-memory/ledger/pkg/txlog"
)

var role = action.Role{
	Name:    "txlog-merge",
	Summary: "merge the ledger's transaction log into the safe-output file, after the agent.",
	Inputs: []action.Input{
		action.InputLedger,
		action.InputDirectory,
		{Name: "transaction-log", Kind: action.Path, Empty: "the one that agent-ledger made beside the directory",
			Help: "The transaction log.", Derived: func(a *action.Action) (string, error) { return staging.LogPath(a.GetInput("directory")), nil }},
		{Name: "safe-output", Kind: action.Path, Empty: "GH_AW_SAFE_OUTPUTS, and nothing is merged where that is not set",
			Help:    "The run's safe-output file, one JSON entry a line; it is made if it is missing.",
			Derived: func(a *action.Action) (string, error) { return a.Getenv("GH_AW_SAFE_OUTPUTS"), nil }},
	},
	Outputs: []action.Output{
		{Name: "merged", Help: "Number of events that were added to the safe-output file."},
		{Name: "artifact-paths", Lines: true, Help: "What threat detection and persist need, as paths of an artifact: the directory without restored shards that are unchanged, its manifest and the transaction log."},
	},
}

func main() {
	code := action.Run(context.Background(), role, os.Args[1:], run)
	if len(os.Args) == 1 {
		// Whatever went wrong was said; the merge never fails the workflow
		// (specification, section 5.2). Only a wrong call of the program does.
		code = 0
	}
	os.Exit(code)
}

func run(_ context.Context, a *action.Action) error {
	report := txlog.Merge(a.GetInput("transaction-log"), a.GetInput("safe-output"))
	for _, warning := range report.Warnings {
		a.Warningf("%s", warning)
	}
	if report.Info != "" {
		a.Infof("%s", report.Info)
	}
	a.SetOutput("merged", strconv.Itoa(report.Added))
	a.SetOutput("artifact-paths", strings.Join(artifactPaths(a.GetInput("directory")), "\n"))

	s := action.NewSummary("txlog-merge: %d events merged", report.Added)
	s.Table([]string{"", ""},
		[]any{action.Markdown("merged"), report.Added},
		[]any{action.Markdown("stood there already"), report.Present},
		[]any{action.Markdown("for a record seen before"), report.Duplicate},
		[]any{action.Markdown("dropped"), report.Dropped},
		[]any{action.Markdown("ids with two digests"), report.Conflicts})
	faults := make([][]any, len(report.Faults))
	for i, f := range report.Faults {
		faults[i] = []any{f.Line, f.Reason}
	}
	s.List("Dropped lines", "line %d: %s", faults...)
	a.AddStepSummary(s.String())
	return nil
}

// maxListBytes is how long the list of paths may become; a longer one would not
// be an output any more, and then the artifact has the unchanged shards too.
const maxListBytes = 60 << 10

// artifactPaths returns the paths of the artifact; a line that starts with ! is
// left out of it.
func artifactPaths(dir string) []string {
	dir = filepath.Clean(dir)
	whole := []string{dir, staging.ManifestPath(dir), staging.LogPath(dir)}
	paths, size := whole, 0
	for _, file := range staging.Unchanged(dir) {
		paths = append(paths, "!"+filepath.Join(dir, filepath.FromSlash(file)))
		if size += len(paths[len(paths)-1]) + 1; size > maxListBytes {
			return whole
		}
	}
	return paths
}
