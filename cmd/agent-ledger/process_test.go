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
	"sync"
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

// start starts the command, whose environment is nothing but env. The test's own
// program is a server when its argument is serve.
func start(t *testing.T, env map[string]string, name string, args ...string) *process {
	t.Helper()
	command := exec.Command(name, args...)
	command.Env = []string{}
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

const (
	appends = 20
	half    = appends / 2
)

// appendMany appends records of 8 KiB and returns the ids that were acknowledged,
// until an append fails.
func (p *process) appendMany(ctx context.Context, acknowledged func(n int)) (ids []string, err error) {
	for n := range appends {
		text, err := p.reply(ctx, "ledger_append", map[string]any{"type": "note", "payload": fmt.Sprint(n, strings.Repeat("é", 4<<10))})
		if err != nil {
			return ids, err
		}
		var r struct{ ID string }
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			return ids, err
		}
		ids = append(ids, r.ID)
		acknowledged(n + 1)
	}
	return ids, nil
}

// watch reads the folder again and again until done: no read may meet bytes of
// two records in one line.
func watch(dir string, done <-chan struct{}) error {
	for {
		l, err := ledger.Open(dir, ledger.DefaultLimits())
		if err != nil {
			return err
		}
		diagnostics := l.Diagnostics()
		l.Close()
		for _, d := range diagnostics {
			// A reader can meet a line half written, and a shard read before the
			// parent in it was there.
			if d.Code != ledger.TruncatedRecord && d.Code != ledger.MissingParent {
				return fmt.Errorf("a reader met %v", d)
			}
		}
		select {
		case <-done:
			return nil
		default:
		}
	}
}

func TestTwoServersOnOneFolderLoseAndMixNothing(t *testing.T) {
	for _, killed := range []bool{false, true} {
		t.Run(fmt.Sprintf("one is killed %v", killed), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "box")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			first, second := serveDir(t, dir), serveDir(t, dir)
			done, watched := make(chan struct{}), make(chan error, 1)
			go func() { watched <- watch(dir, done) }()
			var (
				wait                 sync.WaitGroup
				firstIDs, secondIDs  []string
				firstErr, secondErr  error
				together             = make(chan struct{})
				firstIsHalf, goneNow = make(chan struct{}), make(chan struct{})
			)
			wait.Go(func() {
				<-together
				firstIDs, firstErr = first.appendMany(t.Context(), func(n int) {
					if n == half {
						close(firstIsHalf)
					}
				})
			})
			wait.Go(func() {
				<-together
				secondIDs, secondErr = second.appendMany(t.Context(), func(n int) {
					if n == half {
						<-goneNow // so that the other half comes after the kill
					}
				})
			})
			close(together)
			<-firstIsHalf
			if killed {
				if err := first.command.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
			close(goneNow)
			wait.Wait()
			close(done)
			if err := <-watched; err != nil {
				t.Error(err)
			}
			if secondErr != nil || len(secondIDs) != appends {
				t.Errorf("the survivor acknowledged %d: %v", len(secondIDs), secondErr)
			}
			if !killed && (firstErr != nil || len(firstIDs) != appends) {
				t.Errorf("the first acknowledged %d: %v", len(firstIDs), firstErr)
			}

			l, err := ledger.Open(dir, ledger.DefaultLimits())
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			for _, id := range append(slices.Clone(firstIDs), secondIDs...) {
				if n := len(l.GetID(id)); n != 1 {
					t.Errorf("acknowledged record %s is there %d times", id, n)
				}
			}
			acknowledged := len(firstIDs) + len(secondIDs)
			// The one append that was on its way may stand too.
			if extra := l.Len() - acknowledged; extra < 0 || extra > 1 || extra == 1 && !killed {
				t.Errorf("%d records, %d acknowledged", l.Len(), acknowledged)
			}
			for _, d := range l.Diagnostics() {
				if !killed || d.Code != ledger.TruncatedRecord {
					t.Errorf("diagnostic %v", d)
				}
			}
			// Nothing that the killed one left behind blocks the next.
			third := serveDir(t, dir)
			if text := third.must(t, "ledger_append", map[string]any{"type": "note", "payload": nil}); !strings.Contains(text, `"payload":null`) {
				t.Error(text)
			}
		})
	}
}
