package main

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/staging"
)

// prepared is a folder as setup leaves it for a server.
func prepared(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "a folder", "memory")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// try runs try as the role's setup and returns the exit code and all that was
// printed.
func try(t *testing.T, env map[string]string, try func(ctx context.Context, a *action.Action) error) (code int, printed string) {
	t.Helper()
	var out strings.Builder
	code = action.Run(t.Context(), role, []string{"setup"}, try, action.WithEnv(env), action.WithWriter(&out), action.WithErrorWriter(&out))
	return code, out.String()
}

type withToken string

func (token withToken) RoundTrip(q *http.Request) (*http.Response, error) {
	q = q.Clone(q.Context())
	q.Header.Set("Authorization", "Bearer "+string(token))
	return http.DefaultTransport.RoundTrip(q)
}

// overHTTP connects the SDK's client to a server.
func overHTTP(ctx context.Context, url, token string) (*mcp.ClientSession, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	return client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: withToken(token)}, DisableStandaloneSSE: true}, nil)
}

func TestADetachedServerIsReachedWithTheConfigurationAndHasNoTokenOfGitHub(t *testing.T) {
	dir := prepared(t)
	env := map[string]string{"INPUT_REMOTE": dir, "INPUT_DIRECTORY": dir, "INPUT_TRANSPORT": "http", "INPUT_TOKEN": "ghs_token_of_github",
		"GITHUB_ACTIONS": "true", "GITHUB_OUTPUT": filepath.Join(filepath.Dir(dir), "out"), "RUNNER_TRACKING_ID": "github_1", "SECRET": "of the step"}
	code, printed := try(t, env, func(ctx context.Context, a *action.Action) error {
		server, err := detach(ctx, a, dir)
		if err != nil {
			return err
		}
		defer func() {
			server.kill()
			_, _ = server.process.Wait()
		}()
		if err := writeConfig(a, dir, "", server); err != nil {
			return err
		}
		server.report(a, dir)
		return errors.Join(a.Err(), useAsConfigured(ctx, dir), noSecretIn(server.process.Pid))
	})
	if code != 0 {
		t.Fatalf("exit %d: %s", code, printed)
	}
	token, err := os.ReadFile(tokenPath(dir))
	if err != nil || len(strings.TrimSpace(string(token))) != 43 {
		t.Fatalf("%v: %d bytes", err, len(token))
	}
	if want := "::add-mask::" + strings.TrimSpace(string(token)) + "\n"; !strings.Contains(printed, want) || strings.Count(printed, strings.TrimSpace(string(token))) != 1 {
		t.Errorf("printed %q", printed)
	}
	if log, err := os.ReadFile(staging.LogPath(dir)); err != nil || strings.Count(string(log), "\n") != 1 {
		t.Errorf("transaction log %q, %v", log, err)
	}
	for _, path := range []string{tokenPath(dir), staging.ConfigPath(dir), logPath(dir)} {
		if info, err := os.Stat(path); err != nil || onlyForItsOwner && info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", filepath.Base(path), info.Mode(), err)
		}
	}
}

// useAsConfigured appends through the server that the configuration names.
func useAsConfigured(ctx context.Context, dir string) error {
	text, err := os.ReadFile(staging.ConfigPath(dir))
	if err != nil {
		return err
	}
	var config struct {
		MCPServers map[string]struct {
			Type, URL string
			Headers   map[string]string
		}
	}
	if err := json.Unmarshal(text, &config); err != nil {
		return err
	}
	server := config.MCPServers["ledger"]
	if server.Type != "http" {
		return errors.New("type is " + server.Type)
	}
	if _, err := overHTTP(ctx, server.URL, "x"); err == nil {
		return errors.New("another token is taken")
	}
	session, err := overHTTP(ctx, server.URL, strings.TrimPrefix(server.Headers["Authorization"], "Bearer "))
	if err != nil {
		return err
	}
	defer session.Close()
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "ledger_append", Arguments: map[string]any{"type": "note", "payload": 1}})
	if err == nil && result.IsError {
		err = errors.New("append was refused")
	}
	return err
}

func TestAServerThatCannotStartSaysWhy(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	dir := prepared(t)
	env := map[string]string{"INPUT_REMOTE": dir, "INPUT_DIRECTORY": dir, "INPUT_TRANSPORT": "http",
		"INPUT_PORT": strconv.Itoa(taken.Addr().(*net.TCPAddr).Port)}
	code, printed := try(t, env, func(ctx context.Context, a *action.Action) error {
		_, err := detach(ctx, a, dir)
		return err
	})
	if code != 1 || !strings.Contains(printed, "the server did not start: input port: cannot be listened on") || strings.Contains(printed, dir) {
		t.Errorf("exit %d: %s", code, printed)
	}
}

func TestWhatWouldOpenTheServerToOthersIsBadInputBeforeAnythingIsLeft(t *testing.T) {
	for _, test := range []struct{ name, value string }{
		{"listen", "0.0.0.0"}, {"listen", "::"}, {"listen", "::ffff:0.0.0.0"}, {"listen", "::ffff:224.0.0.1"}, {"listen", "localhost"}, {"listen", "224.0.0.1"}, {"listen", "fe80::1%eth0"}, {"listen", "127.0.0.1:80"},
		{"port", "65536"}, {"port", "-1"}, {"allowed-hosts", "*"}, {"allowed-hosts", "a, b:80"}, {"access-token", "short"},
		{"access-token", strings.Repeat("x", 1025)}, {"access-token", strings.Repeat("x", 40) + "\""}, {"transport", "sse"},
	} {
		dir := filepath.Join(t.TempDir(), "memory")
		env := map[string]string{"INPUT_REMOTE": t.TempDir(), "INPUT_DIRECTORY": dir, "INPUT_TRANSPORT": "http"}
		in := map[string]string{"listen": "INPUT_LISTEN", "port": "INPUT_PORT", "allowed-hosts": "INPUT_ALLOWED_HOSTS", "access-token": "INPUT_ACCESS_TOKEN", "transport": "INPUT_TRANSPORT"}
		env[in[test.name]] = test.value
		code, printed := try(t, env, run)
		if left, _ := os.ReadDir(filepath.Dir(dir)); code != 2 || !strings.Contains(printed, "input "+test.name+": ") || len(left) > 0 {
			t.Errorf("%s %q: exit %d, %s%v", test.name, test.value, code, printed, left)
		}
	}
}

func TestATokenThatIsGivenIsTheOneAndAFileThatHoldsNoneIsNotUsed(t *testing.T) {
	dir := prepared(t)
	given := strings.Repeat("t", 40)
	take := func(value string) (token string, failed error) {
		env := map[string]string{"INPUT_REMOTE": dir, "INPUT_DIRECTORY": dir, "INPUT_ACCESS_TOKEN": value}
		code, printed := try(t, env, func(_ context.Context, a *action.Action) (err error) {
			token, err = accessToken(a, dir)
			return err
		})
		if code != 0 {
			return "", errors.New(printed)
		}
		return token, nil
	}
	if token, err := take(given); token != given {
		t.Errorf("%q, %v", token, err)
	}
	if token, err := take(""); token != given {
		t.Errorf("from the file: %q, %v", token, err)
	}
	if err := os.WriteFile(tokenPath(dir), []byte("x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if token, err := take(""); err == nil || strings.Contains(err.Error(), dir) {
		t.Errorf("%q, %v", token, err)
	}
}

func TestAServerEndsWhenItsFolderIsGoneOrAnother(t *testing.T) {
	for name, change := range map[string]func(dir string) error{
		"gone": os.RemoveAll,
		"another": func(dir string) error {
			return errors.Join(os.Rename(dir, dir+".was"), os.Mkdir(dir, 0o755))
		},
	} {
		dir := prepared(t)
		look, ended := make(chan time.Time), make(chan bool)
		go func() {
			untilGone(t.Context(), dir, look)
			close(ended)
		}()
		look <- time.Time{}
		select {
		case look <- time.Time{}:
		case <-ended:
			t.Errorf("%s: it ended before", name)
			continue
		}
		if err := change(dir); err != nil {
			t.Fatal(err)
		}
		select {
		case look <- time.Time{}:
		case <-ended: // the look before came late enough to see it
		}
		<-ended
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	untilGone(stopped, t.TempDir(), nil)
}
