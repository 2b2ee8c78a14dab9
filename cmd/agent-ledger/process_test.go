package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/staging"
)

// process is a server process and the SDK's client of it.
type process struct {
	*mcp.ClientSession
	command *exec.Cmd
}

// start starts the command, whose environment is nothing of this process's but env. The test's own
// program is a server when its argument is serve.
func start(t *testing.T, env map[string]string, name string, args ...string) *process {
	t.Helper()
	command := exec.Command(name, args...)
	command.Env = []string{"GORACE=" + quickExit}
	for _, key := range slices.Sorted(maps.Keys(env)) {
		command.Env = append(command.Env, key+"="+env[key])
	}
	command.Stderr = os.Stderr
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: command}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return &process{session, command}
}

// serveDir starts a server of the folder dir with limits that do not get in the
// way.
func serveDir(t *testing.T, dir string) *process {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return start(t, map[string]string{"INPUT_DIRECTORY": dir, "INPUT_MAX_PATCH_KB": "10240"}, self, "serve")
}

// reply calls a tool and returns the JSON of its result, which must be the same as
// text and structured.
func (p *process) reply(ctx context.Context, tool string, arguments any) (string, error) {
	result, err := p.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		return "", err
	}
	text := result.Content[0].(*mcp.TextContent).Text
	if result.IsError {
		return "", fmt.Errorf("%s refused: %s", tool, text)
	}
	var parsed any
	if err := json.Unmarshal([]byte(text), &parsed); err != nil {
		return "", err
	}
	a, _ := json.Marshal(parsed)
	if b, _ := json.Marshal(result.StructuredContent); string(a) != string(b) {
		return "", fmt.Errorf("%s: text %s, structured %s", tool, a, b)
	}
	return text, nil
}

func (p *process) must(t *testing.T, tool string, arguments any) string {
	t.Helper()
	text, err := p.reply(t.Context(), tool, arguments)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestAnAgentUsesTheLedgerThroughTheConfigurationThatSetupWrote(t *testing.T) {
	temp := t.TempDir()
	remote := filepath.Join(temp, "remote.git")
	if out, err := exec.Command("git", "init", "-q", "--bare", remote).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	dir := filepath.Join(temp, "it's a folder", "memory")
	inputs := map[string]string{"INPUT_REMOTE": remote, "INPUT_DIRECTORY": dir, "INPUT_MAX_RECORD_KB": "64"}
	if code := action.Run(t.Context(), role, []string{"setup"}, run, action.WithEnv(inputs), action.WithWriter(io.Discard)); code != 0 {
		t.Fatalf("setup exits with %d", code)
	}
	text, err := os.ReadFile(staging.ConfigPath(dir))
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		MCPServers map[string]struct {
			Command string
			Args    []string
			Env     map[string]string
		}
	}
	if err := json.Unmarshal(text, &config); err != nil || len(config.MCPServers) != 1 {
		t.Fatal(err, string(text))
	}
	server := config.MCPServers["ledger"]
	p := start(t, server.Env, server.Command, server.Args...)

	tools, err := p.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 4 {
		t.Fatalf("%d tools, %v", len(tools.Tools), err)
	}
	large := strings.Repeat("x", 40<<10) // over the default, within what setup was given
	record := p.must(t, "ledger_append", map[string]any{"type": "note", "payload": map[string]any{"html": "<b>&\u2028\u007f", "text": large}})
	var r struct{ ID, SHA string }
	if err := json.Unmarshal([]byte(record), &r); err != nil {
		t.Fatal(err)
	}
	for _, arguments := range []map[string]any{{"id": r.ID}, {"sha": r.SHA}} {
		if got := p.must(t, "ledger_get", arguments); got != record {
			t.Errorf("get by %v gives another text", arguments)
		}
	}
	page := p.must(t, "ledger_query", map[string]any{"where": map[string]any{"payload.html": map[string]any{"prefix": "<b>"}}})
	if !strings.Contains(page, record) || !strings.Contains(page, `"hasMore":false`) {
		t.Errorf("the page does not hold the record: %.200s", page)
	}
	if status := p.must(t, "ledger_status", nil); !strings.Contains(status, `"records":1`) {
		t.Errorf("status %s", status)
	}
	if _, err := p.reply(t.Context(), "ledger_append", map[string]any{"type": "memory.ref", "payload": 1}); err == nil || !strings.Contains(err.Error(), "reserved-type") {
		t.Errorf("a reserved type: %v", err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	log, err := os.ReadFile(staging.LogPath(dir))
	if err != nil || strings.Count(string(log), "\n") != 1 || !strings.Contains(string(log), r.SHA) || strings.Contains(string(log), "xxx") {
		t.Errorf("transaction log: %v %.300s", err, log)
	}
	files, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(ledger.ShardDir), "*"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if shard, err := os.ReadFile(files[0]); err != nil || string(shard) != record+"\n" {
		t.Errorf("the shard is not the record's line: %v", err)
	}
}
