package actions_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Public programs that know the protocol from elsewhere judge our server: the
// conformance suite and the inspector's command line. testdata/conformance pins
// them and a Node that is new enough for both; its lock file names digests and no
// host. An optional addon for Windows that is not published everywhere is replaced
// there by a package that does nothing.

// nodePackages is a folder with the packages of testdata/conformance, installed
// once and kept beside the caches of other tools.
var nodePackages = sync.OnceValues(func() (string, error) {
	from := filepath.Join(root(), "testdata", "conformance")
	sum := sha256.New()
	files := map[string][]byte{}
	for _, name := range []string{"package.json", "package-lock.json"} {
		text, err := os.ReadFile(filepath.Join(from, name))
		if err != nil {
			return "", err
		}
		files[name] = text
		sum.Write(text)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = scratch
	}
	cache = filepath.Join(cache, "ledger-tests")
	dir := filepath.Join(cache, "conformance-"+hex.EncodeToString(sum.Sum(nil))[:20]+"-"+runtime.GOOS+"-"+runtime.GOARCH)
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return "", err
	}
	temp, err := os.MkdirTemp(cache, "installing-")
	if err != nil {
		return "", err
	}
	defer removeAll(temp)
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(temp, name), text, 0o644); err != nil {
			return "", err
		}
	}
	install := exec.Command("npm", "ci", "--ignore-scripts", "--omit=dev", "--no-audit", "--no-fund", "--loglevel=error")
	install.Dir = temp
	if out, err := install.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm ci: %w\n%s", err, out)
	}
	// Whole or not at all; another run may have been first.
	if err := os.Rename(temp, dir); err != nil && !errors.Is(err, fs.ErrExist) {
		if _, there := os.Stat(dir); there != nil {
			return "", err
		}
	}
	return dir, nil
})

// nodeProgram runs a program of the pinned packages and returns its exit code and
// what it printed.
func nodeProgram(t *testing.T, program string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	dir, err := nodePackages()
	if err != nil {
		t.Fatal(err)
	}
	arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	bin := filepath.Join(dir, "node_modules", "node-"+runtime.GOOS+"-"+arch, "bin")
	cmd := exec.Command(filepath.Join(bin, "node"), append([]string{filepath.Join(dir, "node_modules", filepath.FromSlash(program))}, args...)...)
	var out, said strings.Builder
	cmd.Dir, cmd.Stdout, cmd.Stderr = t.TempDir(), &out, &said
	cmd.Env = []string{"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + t.TempDir(), "MCP_INSPECTOR_SECRET_STORE=memory"}
	err = cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v", program, err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), said.String()
}

// prepare runs agent-ledger setup for a ledger of a new remote, and returns its
// outputs. A server that it leaves ends when the test's folders are gone.
func prepare(t *testing.T, inputs map[string]string) map[string]string {
	t.Helper()
	dir := t.TempDir()
	remote := filepath.Join(dir, "remote.git")
	command(t, dir, "git", "init", "-q", "--bare", remote)
	outputs := filepath.Join(dir, "outputs")
	cmd := exec.Command(binary(t, "agent-ledger"), "setup")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "RUNNER_TEMP=" + dir, "GITHUB_OUTPUT=" + outputs, "INPUT_REMOTE=" + remote}
	for _, name := range slices.Sorted(maps.Keys(inputs)) {
		cmd.Env = append(cmd.Env, "INPUT_"+strings.ToUpper(name)+"="+inputs[name])
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("setup: %v\n%s", err, out)
	}
	text, err := os.ReadFile(outputs)
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "="); ok {
			values[name] = value
		}
	}
	return values
}

// withAccess is a server that adds the token to requests, for clients that cannot.
func withAccess(t *testing.T, to, token string) string {
	t.Helper()
	target, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	path := target.Path
	target.Path = ""
	proxy := httptest.NewServer(&httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(q *httputil.ProxyRequest) {
		q.SetURL(target)
		q.Out.Host = q.In.Host
		q.Out.Header.Set("Authorization", "Bearer "+token)
	}})
	t.Cleanup(func() {
		proxy.CloseClientConnections() // streams last until the server ends
		proxy.Close()
	})
	return proxy.URL + path
}

// fitting are the scenarios that fit a server of tools alone.
var fitting = []string{"server-initialize", "logging-set-level", "ping", "tools-list", "server-sse-multiple-streams", "resources-list", "prompts-list", "dns-rebinding-protection"}

func TestTheConformanceSuitePassesOverHTTP(t *testing.T) {
	outputs := prepare(t, map[string]string{"transport": "http"})
	code, stdout, stderr := nodeProgram(t, "@modelcontextprotocol/conformance/dist/index.js", "server",
		"--url", withAccess(t, outputs["url"], outputs["access-token"]),
		"--suite", "active", "--expected-failures", filepath.Join(root(), "testdata", "conformance", "expected-failures.yml"))
	if code != 0 {
		t.Fatalf("exit %d\n%s%s", code, stdout, stderr)
	}
	for _, name := range fitting {
		if !strings.Contains(stdout, "✓ "+name+": ") {
			t.Errorf("%s did not pass\n%s", name, stdout)
		}
	}
}

// TestTheInspectorsCommandLineWorksWithTheConfigurationOfSetup gives it the file
// that setup wrote for MCP clients, and nothing else.
func TestTheInspectorsCommandLineWorksWithTheConfigurationOfSetup(t *testing.T) {
	for _, transport := range []string{"stdio", "http"} {
		outputs := prepare(t, map[string]string{"transport": transport})
		inspect := func(args ...string) (int, string) {
			code, stdout, stderr := nodeProgram(t, ".bin/mcp-inspector", append([]string{"--cli", "--config", outputs["mcp-config"], "--server", "ledger"}, args...)...)
			return code, stdout + stderr
		}
		code, out := inspect("--method", "tools/list", "--strict")
		if code != 0 || strings.Count(out, `"inputSchema"`) != 4 {
			t.Errorf("%s: tools/list exits with %d: %s", transport, code, out)
		}
		code, out = inspect("--method", "tools/call", "--tool-name", "ledger_append", "--tool-arg", "type=note", "--tool-arg", `payload={"a":[1,"<&>"]}`)
		if code != 0 || !strings.Contains(out, `\"payload\":{\"a\":[1,\"<&>\"]}`) {
			t.Errorf("%s: ledger_append exits with %d: %s", transport, code, out)
		}
		code, out = inspect("--method", "tools/call", "--tool-name", "ledger_get")
		if code != 5 || !strings.Contains(out, "give either id or sha") {
			t.Errorf("%s: a refusal exits with %d: %s", transport, code, out)
		}
		if transport == "http" {
			if code, stdout, _ := nodeProgram(t, ".bin/mcp-inspector", "--cli", outputs["url"], "--transport", "http", "--method", "tools/list"); code == 0 || strings.Contains(stdout, "inputSchema") {
				t.Errorf("without the token tools/list exits with %d: %s", code, stdout)
			}
		}
	}
}

func TestThePinnedPackagesNameDigestsAndNoHost(t *testing.T) {
	var lock struct {
		Packages map[string]struct{ Version, Resolved, Integrity string }
	}
	text := read(t, "testdata", "conformance", "package-lock.json")
	if err := json.Unmarshal([]byte(text), &lock); err != nil || len(lock.Packages) < 100 {
		t.Fatalf("%v: %d packages", err, len(lock.Packages))
	}
	for name, p := range lock.Packages {
		if name != "" && !strings.HasPrefix(p.Integrity, "sha512-") || p.Resolved != "" {
			t.Errorf("%s: integrity %q, resolved %q", name, p.Integrity, p.Resolved)
		}
	}
	if strings.Contains(text, "://") {
		t.Error("the lock file names a host")
	}
}

// TestWithoutItsTokenNobodyGetsThroughTheProxy shows that the proxy of these tests
// is what lets the suite in.
func TestWithoutItsTokenNobodyGetsThroughTheProxy(t *testing.T) {
	outputs := prepare(t, map[string]string{"transport": "http"})
	for token, want := range map[string]int{outputs["access-token"]: http.StatusBadRequest, "x": http.StatusUnauthorized} {
		answer, err := http.Get(withAccess(t, outputs["url"], token))
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("%d, want %d", answer.StatusCode, want)
		}
	}
}
