package actions_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// releases stands for the host of releases, and for the proxy to every other.
type releases struct {
	url   string
	mu    sync.Mutex
	files map[string]string // what it has, by path
	// answer, where it is set, answers instead.
	answer   func(w http.ResponseWriter, q *http.Request)
	requests []string // method and URL of what was asked for
	secrets  int      // requests that carried a credential
	close    func()
}

func (h *releases) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.requests = append(h.requests, q.Method+" "+q.RequestURI)
	for name, values := range q.Header {
		if name == "Authorization" || name == "Cookie" || strings.Contains(strings.Join(values, ""), token) {
			h.secrets++
		}
	}
	text, ok := h.files[q.URL.Path]
	switch {
	case q.Method == http.MethodConnect:
		w.WriteHeader(http.StatusBadGateway)
	case h.answer != nil:
		h.answer(w, q)
	case !ok:
		http.NotFound(w, q)
	default:
		_, _ = io.WriteString(w, text)
	}
}

// asked returns what was asked for since the last call.
func (h *releases) asked() (list []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	list, h.requests = h.requests, nil
	return list
}

// runner is a machine that has an action and runs its step, the way that GitHub's
// runner does it: what earlier steps left is in the environment, what the step
// itself sets wins over that, and what the runner says of itself wins over all.
type runner struct {
	dir    string // of the action's repository
	temp   string
	work   string // the workspace
	host   *releases
	job    map[string]string // environment from earlier steps
	inputs map[string]string
	github map[string]string
	script func(run string) string // changes the step's line, where it is set
}

const (
	thisRelease = "v1.2.3"
	thatBinary  = "#!/bin/sh\necho \"ran $0 $* ledger=$INPUT_LEDGER PATH=$PATH\"\n"
)

// aRunner has the actions of a released version, every binary of which is the
// script above. No system program that a job calls is in its PATH.
func aRunner(t *testing.T) *runner {
	t.Helper()
	base := filepath.Join(t.TempDir(), "it's a $(folder)")
	r := &runner{filepath.Join(base, "_actions", "OWNER", "ledger", "v1"), filepath.Join(base, "temp"), filepath.Join(base, "work"),
		&releases{files: map[string]string{}}, map[string]string{"PATH": t.TempDir(), "HOME": t.TempDir()}, map[string]string{}, nil, nil}
	server := httptest.NewServer(r.host)
	t.Cleanup(server.Close)
	r.host.url, r.host.close = server.URL, server.Close
	r.job["https_proxy"] = server.URL
	r.github = map[string]string{"GITHUB_SERVER_URL": server.URL, "GITHUB_REPOSITORY": "octo/consumer", "RUNNER_OS": "Linux", "RUNNER_ARCH": "X64",
		"RUNNER_TEMP": r.temp, "RUNNER_TOOL_CACHE": filepath.Join(base, "the cache")}
	for _, folder := range []string{r.temp, r.work, r.github["RUNNER_TOOL_CACHE"]} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range append(names(t, "actions"), ".") {
		for _, file := range []string{"action.yml", "run.sh"} {
			if text, err := os.ReadFile(filepath.Join(root(), "actions", name, file)); err == nil {
				write(t, filepath.Join(r.dir, "actions", name, file), string(text))
			}
		}
	}
	r.release(t, "persist", "txlog-merge")
	return r
}

func digestOf(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// release pins the binaries of these roles and puts them on the host.
func (r *runner) release(t *testing.T, roles ...string) {
	t.Helper()
	pins := "# release " + thisRelease + "\n# toolchain go1.26.8\n"
	for _, role := range roles {
		for _, name := range []string{role + "-linux-amd64", role + "-darwin-arm64", role + "-windows-amd64.exe"} {
			pins += digestOf(thatBinary) + "  " + name + "\n"
			r.host.files["/OWNER/ledger/releases/download/"+thisRelease+"/"+name] = thatBinary
		}
	}
	r.pin(t, pins)
}

func (r *runner) pin(t *testing.T, text string) {
	t.Helper()
	write(t, filepath.Join(r.dir, "actions", "checksums.txt"), text)
}

// unreleased takes the pins away.
func (r *runner) unreleased(t *testing.T) {
	t.Helper()
	if err := os.Remove(filepath.Join(r.dir, "actions", "checksums.txt")); err != nil {
		t.Fatal(err)
	}
}

// cached is the path of a role's binary in the tool cache.
func (r *runner) cached(role string) string {
	return filepath.Join(r.github["RUNNER_TOOL_CACHE"], "ledger", digestOf(thatBinary), role)
}

// without takes programs away from run.sh, which calls those by their paths.
func (r *runner) without(t *testing.T, programs ...string) {
	t.Helper()
	path := filepath.Join(r.dir, "actions", "run.sh")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range programs {
		if !strings.Contains(string(text), program) {
			t.Fatalf("run.sh calls no %s", program)
		}
		text = []byte(strings.ReplaceAll(string(text), program, "/nonexistent"+program))
	}
	write(t, path, string(text))
}

// run runs the step of an action and returns what it printed and how it ended.
func (r *runner) run(t *testing.T, role string) (string, int) {
	t.Helper()
	c, err := parseAction(read(t, "actions", role, "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(c.Runs.Steps, func(s step) bool { return s.ID == stepID })
	s := c.Runs.Steps[i]
	env := maps.Clone(r.job)
	for name, value := range s.Env {
		env[name] = expression.ReplaceAllStringFunc(value, func(e string) string {
			input := reference.FindStringSubmatch(e)[2]
			if value, ok := r.inputs[input]; ok {
				return value
			}
			if def := c.Inputs[input].Default; def != nil && input != "token" {
				return *def
			}
			return ""
		})
	}
	maps.Copy(env, r.github)
	separator := "/"
	if r.github["RUNNER_OS"] == "Windows" {
		separator = `\`
	}
	env["GITHUB_ACTION_PATH"] = strings.Join([]string{r.dir, "actions", role}, separator)
	if r.script != nil {
		s.Run = r.script(s.Run)
	}
	script := filepath.Join(t.TempDir(), "script")
	write(t, script, s.Run+"\n")
	words := strings.Fields(expression.ReplaceAllString(s.Shell, "/bin/bash"))
	words[slices.Index(words, "{0}")] = script
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Dir = r.work
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// ran reports that the binary of the release ran, from a folder of the step alone.
func (r *runner) ran(t *testing.T, role string) string {
	t.Helper()
	out, code := r.run(t, role)
	if code != 0 || strings.Count(out, "ran "+r.temp+"/ledger-"+role+".") != 1 {
		t.Errorf("%s did not run: %d\n%s", role, code, out)
	}
	return out
}

// failed reports that nothing ran and that the last line says why.
func (r *runner) failed(t *testing.T, role string, code int, why string) string {
	t.Helper()
	out, got := r.run(t, role)
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if want := "::error title=" + role + "::" + why; got != code || lines[len(lines)-1] != want || strings.Contains(out, "ran ") {
		t.Errorf("%s: exit %d, want %d and %q\n%s", role, got, code, want, out)
	}
	return out
}

const (
	cannotFetch = "persist-linux-amd64 of release " + thisRelease + " of OWNER/ledger cannot be fetched: the lines above say why; check network and https_proxy, or give a folder of binaries as bin"
	notPinned   = "persist-linux-amd64 of release " + thisRelease + " of OWNER/ledger is not the binary that this version of the action pins, and was not run: tell the maintainers"
)

// TestAFreshRunnerDownloadsOnceAndThenTakesItFromItsCache also proves that no
// credential goes out and what the binary gets: its arguments, its inputs, and the
// job's PATH.
func TestAFreshRunnerDownloadsOnceAndThenTakesItFromItsCache(t *testing.T) {
	r := aRunner(t)
	r.inputs["ledger"], r.inputs["token"] = "notes", token
	out := r.ran(t, "persist")
	if !strings.Contains(out, "ledger=notes PATH="+r.job["PATH"]+"\n") || strings.Count(out, "\n") != 1 {
		t.Errorf("it printed %q", out)
	}
	want := "GET /OWNER/ledger/releases/download/" + thisRelease + "/persist-linux-amd64"
	if asked := r.host.asked(); !slices.Equal(asked, []string{want}) {
		t.Errorf("asked for %q, want %q", asked, want)
	}
	if r.ran(t, "persist"); len(r.host.asked()) != 0 || r.host.secrets != 0 {
		t.Errorf("the second run asked again, or a credential went out (%d)", r.host.secrets)
	}
	r.host.close()
	r.ran(t, "persist") // offline
	entries, err := os.ReadDir(r.temp)
	if err != nil || len(entries) != 3 {
		t.Errorf("folders of 3 steps: %v, %v", entries, err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: mode %v, want one that lets nobody else in", e.Name(), info.Mode())
		}
	}
}

func TestARedirectOfTheHostIsFollowedBecauseTheDigestDecides(t *testing.T) {
	r := aRunner(t)
	r.host.answer = func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path != "/elsewhere" {
			http.Redirect(w, q, "/elsewhere", http.StatusFound)
			return
		}
		_, _ = io.WriteString(w, thatBinary)
	}
	r.ran(t, "persist")
}

func TestWhatIsNotTheBinaryThatIsPinnedDoesNotRun(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"a wrong digest": {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "#!/bin/sh\necho ran evil\n") }, notPinned},
		"one byte more":  {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, thatBinary+"\n") }, notPinned},
		"nothing":        {func(http.ResponseWriter, *http.Request) {}, notPinned},
		"a truncated download, said to be longer": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(len(thatBinary)))
			_, _ = io.WriteString(w, thatBinary[:len(thatBinary)-5])
		}, cannotFetch},
		"a truncated download of unknown length": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Connection", "close")
			_, _ = io.WriteString(w, thatBinary[:len(thatBinary)-5])
			w.(http.Flusher).Flush()
		}, notPinned},
		"an unknown version":     {http.NotFound, cannotFetch},
		"a redirect without end": {func(w http.ResponseWriter, q *http.Request) { http.Redirect(w, q, q.URL.Path, http.StatusFound) }, cannotFetch},
		"a redirect to a file": {func(w http.ResponseWriter, q *http.Request) {
			http.Redirect(w, q, "file:///bin/true", http.StatusFound)
		}, cannotFetch},
		"a host that wants a name": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }, cannotFetch},
	} {
		r := aRunner(t)
		r.host.answer = c.answer
		t.Log(name)
		out := r.failed(t, "persist", 1, c.want)
		if _, err := os.Lstat(r.cached("persist")); err == nil {
			t.Errorf("%s: it stands in the cache", name)
		}
		// What a host does not have is looked for on github.com, through the proxy.
		connects := slices.Contains(r.host.asked(), "CONNECT github.com:443")
		if connects != (c.want == cannotFetch) {
			t.Errorf("%s: asked github.com: %v\n%s", name, connects, out)
		}
	}
}
