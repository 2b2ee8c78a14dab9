package actions_test

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// released is the suite as a release, which pins the binaries of the tests.
var released = sync.OnceValues(func() (string, error) {
	ours, err := suite()
	if err != nil {
		return "", err
	}
	bin, err := built()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(scratch, "released")
	if err := os.CopyFS(dir, os.DirFS(ours)); err != nil {
		return "", err
	}
	pins := "# release v0.0.1\n"
	for _, r := range theMatrix().Actions {
		text, err := os.ReadFile(filepath.Join(bin, r.Name))
		if err != nil {
			return "", err
		}
		pins += digestOf(string(text)) + "  " + r.Name + "-" + runtime.GOOS + "-" + runtime.GOARCH + "\n"
	}
	return dir, os.WriteFile(filepath.Join(dir, "actions", "checksums.txt"), []byte(pins), 0o644)
})

// github serves the repositories below a folder with git's own backend, to those
// who have the token, and the binaries of the release to all. It counts who came
// without.
func github(t testing.TB, folder string, strangers *atomic.Int32) string {
	t.Helper()
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	backend := &cgi.Handler{Path: git, Args: []string{"http-backend"}, Stderr: io.Discard,
		Env: []string{"GIT_PROJECT_ROOT=" + folder, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER=job", "GIT_CONFIG_SYSTEM=/dev/null", "HOME=" + folder}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if rest, ok := strings.CutPrefix(q.URL.Path, "/OWNER/ledger/releases/download/v0.0.1/"); ok {
			if q.Header.Get("Authorization") != "" {
				t.Error("the host of the release got a token")
			}
			http.ServeFile(w, q, binary(t, strings.TrimSuffix(rest, "-"+runtime.GOOS+"-"+runtime.GOARCH)))
			return
		}
		if _, password, ok := q.BasicAuth(); !ok || password != token {
			strangers.Add(1)
			w.Header().Set("WWW-Authenticate", "Basic")
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		body, err := io.ReadAll(q.Body) // a CGI program wants to know the length
		if err != nil {
			return
		}
		q.Body, q.ContentLength, q.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
		backend.ServeHTTP(w, q)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/"
}

// TestTheWorkflowOfTheREADMERunsAsItStandsThere is the first one that anybody
// tries: no input is given, the binaries come from the release that the action is,
// and the remote is the run's own repository, reached with the job's own token.
func TestTheWorkflowOfTheREADMERunsAsItStandsThere(t *testing.T) {
	c := newConsumer(t)
	folder := filepath.Join(filepath.Dir(c.dir), "github")
	c.remote = filepath.Join(folder, "octo", "consumer")
	command(t, c.dir, "git", "init", "-q", "--bare", "-b", "main", c.remote)
	command(t, c.remote, "git", "config", "http.receivepack", "true")
	var strangers atomic.Int32
	c.server = github(t, folder, &strangers)

	write(t, filepath.Join(c.dir, "calls.jsonl"), firstCalls)
	tools := t.TempDir()
	write(t, filepath.Join(tools, "your-agent"), "#!/bin/sh\nexec node agent.mjs \"$2\" < calls.jsonl\n")
	if err := os.Chmod(filepath.Join(tools, "your-agent"), 0o755); err != nil {
		t.Fatal(err)
	}
	c.path = []string{tools}
	var err error
	if c.suite, err = released(); err != nil {
		t.Fatal(err)
	}

	r := c.run(t, "agent.yml", examples(read(t, "actions", "agent-ledger", "README.md"))[0], "{}")
	if want := map[string]string{"agent": "success", "persist": "success"}; r.code != 0 || !maps.Equal(r.jobs(), want) {
		t.Fatalf("exit %d, jobs %v\n%s", r.code, r.jobs(), r.readable())
	}
	r.contains(t, "persist", "### persist: 2 records and 0 files published")
	if log := c.ledger(t, "log"); strings.Count(log, "\n") != 2 {
		t.Errorf("the log is %s", log)
	}
	if n := strangers.Load(); n > 0 {
		t.Errorf("%d requests came without the token", n)
	}
}
