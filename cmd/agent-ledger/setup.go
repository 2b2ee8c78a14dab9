package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/branch"
	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/memoryrun"
	"github.com/repo-memory/ledger/pkg/staging"
	"github.com/repo-memory/ledger/pkg/txlog"
)

// setup restores the branch and leaves everything that the server, the merge
// step and the persistence job look for. On failure it leaves none of it.
func setup(ctx context.Context, a *action.Action) (err error) {
	limits, err := ledger.ParseLimits(a.GetInput)
	if err != nil {
		return action.BadInput("max-record-kb", "%v", err)
	}
	dir, err := filepath.Abs(a.GetInput("directory"))
	if err != nil {
		return action.BadInput("directory", "is no path here")
	}
	remote, err := branch.ParseRemote(a.GetInput("remote"), a.GetInput("token"), a.Getenv("GITHUB_SERVER_URL"))
	if err != nil {
		return action.BadInput("remote", "%v", err)
	}
	if _, err := payloadSchema(a); err != nil {
		return err
	}
	remembered, why, err := configuredMemory(a, memoryrun.ReadAgent)
	if err != nil {
		return err
	}
	if why != "" {
		a.Warningf("there are no memory tools: %s", why)
	}
	http := a.GetInput("transport") == "http"
	if http {
		if _, _, _, err := address(a); err != nil {
			return err
		}
	}
	if err := mustBeFree(dir); err != nil {
		return err
	}
	snap, err := branch.Read(ctx, remote, a.GetInput("branch"), branch.Limits{})
	if err != nil {
		return fmt.Errorf("failed to restore the ledger: %w", err)
	}
	restored := ledger.OpenSnapshot(snap, limits)
	if err := restored.Whole(); errors.Is(err, ledger.ErrDirectory) {
		return fmt.Errorf("failed to restore the ledger: %w", err)
	}
	_, absent := os.Lstat(filepath.Dir(dir))
	defer func() {
		if err != nil {
			discard(dir)
			if absent != nil {
				_ = os.Remove(filepath.Dir(dir))
			}
		}
	}()
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return errors.New("directory: the folder that it stands in cannot be made")
	}
	if err := branch.Export(snap, dir); err != nil {
		return fmt.Errorf("failed to restore the ledger: %w", err)
	}
	if err := leaveManifest(a, dir, snap.Head); err != nil {
		return err
	}
	if err := staging.WriteRestored(dir, snap); err != nil {
		return err
	}
	log, err := txlog.OpenWriter(staging.LogPath(dir))
	if err != nil {
		return err
	}
	if err := log.Close(); err != nil {
		return fmt.Errorf("transaction log cannot be made: %w", err)
	}
	pinned, err := writeContext(a, remembered, dir, limits)
	if err != nil {
		return err
	}
	var server *detached
	if http {
		if server, err = detach(ctx, a, dir); err != nil {
			return err
		}
		defer func() {
			if err != nil {
				server.kill()
			}
		}()
	}
	self, err := os.Executable()
	if err != nil {
		return errors.New("failed to find out where this program stands")
	}
	if err := writeConfig(a, dir, self, server); err != nil {
		return err
	}
	// From here on roles that hold a write token refuse to start in this job.
	a.MarkUntrustedJob()
	report(a, dir, snap, restored)
	a.SetOutput("program", self)
	pinned.report(a)
	server.report(a, dir)
	return a.Err() // an output that is lost is a failure too
}

// mustBeFree refuses a folder that holds something already: restored over it,
// the two could not be told apart.
func mustBeFree(dir string) error {
	if info, err := os.Lstat(dir); err == nil {
		entries, err := os.ReadDir(dir)
		switch {
		case !info.IsDir() || err != nil:
			return action.BadInput("directory", "is no folder that can be read, or a link; give another one")
		case len(entries) > 0:
			return action.BadInput("directory", "is not empty; give another one, or remove what an earlier run left there")
		}
	}
	for _, file := range beside(dir) {
		if _, err := os.Lstat(file); err == nil {
			return action.BadInput("directory", "was prepared already: its manifest, log or configuration stands beside it; give another one")
		}
	}
	return nil
}

// beside names the files that stand beside the folder.
func beside(dir string) []string {
	return []string{staging.ManifestPath(dir), staging.LogPath(dir), staging.ConfigPath(dir), staging.RestoredPath(dir), tokenPath(dir), logPath(dir)}
}

// discard removes what a failed preparation left.
func discard(dir string) {
	_ = os.RemoveAll(dir)
	for _, file := range beside(dir) {
		_ = os.Remove(file)
	}
}

func leaveManifest(a *action.Action, dir, head string) error {
	run, err := a.Context()
	if err != nil {
		return err
	}
	writer, err := ledger.NewUUID(rand.Reader)
	if err != nil {
		return err
	}
	m := staging.Manifest{Ledger: a.GetInput("ledger"), Branch: a.GetInput("branch"), Base: head, Attempt: int(run.RunAttempt), Writer: writer}
	if run.RunID != 0 {
		m.Run = strconv.FormatInt(run.RunID, 10)
	}
	return staging.Write(dir, m)
}

// serveEnv are the inputs of the server. It has no use for GitHub's token: one in
// the client's environment is hidden from it.
func serveEnv(a *action.Action, dir string) map[string]string {
	env := map[string]string{"INPUT_LEDGER": a.GetInput("ledger"), "INPUT_DIRECTORY": dir, "INPUT_TOKEN": ""}
	// Clients start the server in a folder of their own.
	if path := a.GetInput("payload-schema"); path != "" {
		if whole, err := filepath.Abs(path); err == nil {
			env[action.InputPayloadSchema.Variable()] = whole
		}
	}
	memoryEnv(a, env)
	for _, limit := range action.InputsLimits {
		env[limit.Variable()] = a.GetInput(limit.Name)
	}
	return env
}

// writeConfig tells MCP clients how to start the server, or where it is. All that
// they need stands in there; only the owner may read a token.
func writeConfig(a *action.Action, dir, self string, running *detached) error {
	type server struct {
		Type    string            `json:"type"`
		Command string            `json:"command,omitempty"`
		Args    []string          `json:"args,omitempty"`
		Env     map[string]string `json:"env,omitempty"`
		URL     string            `json:"url,omitempty"`
		Headers map[string]string `json:"headers,omitempty"`
	}
	var s server
	mode := os.FileMode(0o644)
	if running != nil {
		s = server{Type: "http", URL: running.url, Headers: map[string]string{"Authorization": "Bearer " + running.token}}
		mode = 0o600
	} else {
		s = server{Type: "stdio", Command: self, Args: []string{"serve"}, Env: serveEnv(a, dir)}
	}
	text, err := json.MarshalIndent(map[string]any{"mcpServers": map[string]server{"ledger": s}}, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(staging.ConfigPath(dir), append(text, '\n'), mode); err != nil {
		return errors.New("failed to write the configuration for MCP clients")
	}
	return nil
}

func report(a *action.Action, dir string, snap ledger.Snapshot, restored *ledger.Ledger) {
	status := restored.Status()
	a.SetOutput("directory", dir)
	a.SetOutput("base-commit", snap.Head)
	a.SetOutput("mcp-config", staging.ConfigPath(dir))
	a.SetOutput("transaction-log", staging.LogPath(dir))
	a.SetOutput("artifact-paths", strings.Join([]string{dir, staging.ManifestPath(dir), staging.LogPath(dir)}, "\n"))
	a.SetOutput("records", strconv.Itoa(restored.Len()))
	a.SetOutput("heads", strconv.Itoa(len(status.Heads)))
	if err := restored.Whole(); err != nil {
		a.Warningf("%v", err)
	}
	if n := len(status.Diagnostics); n > 0 {
		a.Warningf("%d diagnostics in the restored ledger, the first one: %v", n, status.Diagnostics[0])
	}
	summary := action.NewSummary("Ledger %s restored: %d records", a.GetInput("ledger"), restored.Len())
	at := snap.Head
	if at == "" {
		at = "none: the branch begins with what this run adds"
	}
	summary.Table([]string{"", ""},
		[]any{action.Markdown("branch"), a.GetInput("branch")},
		[]any{action.Markdown("commit"), at},
		[]any{action.Markdown("shards"), status.Shards},
		[]any{action.Markdown("heads"), len(status.Heads)},
		[]any{action.Markdown("diagnostics"), len(status.Diagnostics)})
	a.AddStepSummary(summary.String())
}
