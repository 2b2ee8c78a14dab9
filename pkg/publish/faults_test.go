package publish

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/repo-memory/ledger/pkg/branch"
)

// isPush tells whether a request carries a pack to the server.
func isPush(q *http.Request) bool {
	return q.Method == http.MethodPost && strings.HasSuffix(q.URL.Path, "/git-receive-pack")
}

// once runs a wrapper for the first request that matches, git for the rest.
func once(match func(*http.Request) bool, f func(w http.ResponseWriter, q *http.Request, next http.Handler)) func(http.ResponseWriter, *http.Request, http.Handler) {
	done := false
	return func(w http.ResponseWriter, q *http.Request, next http.Handler) {
		if !done && match(q) {
			done = true
			f(w, q, next)
			return
		}
		next.ServeHTTP(w, q)
	}
}

func TestALostReplySettlesItselfByReadingAgain(t *testing.T) {
	for name, c := range map[string]struct {
		fault   func(w http.ResponseWriter, q *http.Request, next http.Handler)
		applied bool
	}{
		"applied, connection dropped": {func(w http.ResponseWriter, q *http.Request, next http.Handler) {
			next.ServeHTTP(httptest.NewRecorder(), q)
			panic(http.ErrAbortHandler)
		}, true},
		"applied, empty answer": {func(w http.ResponseWriter, q *http.Request, next http.Handler) {
			next.ServeHTTP(httptest.NewRecorder(), q)
			w.Header().Set("Content-Type", "application/x-git-receive-pack-result")
		}, true},
		"applied, answer cut off": {func(w http.ResponseWriter, q *http.Request, next http.Handler) {
			rec := httptest.NewRecorder()
			next.ServeHTTP(rec, q)
			w.Header().Set("Content-Type", "application/x-git-receive-pack-result")
			w.Write(rec.Body.Bytes()[:20])
		}, true},
		"applied, gateway error": {func(w http.ResponseWriter, q *http.Request, next http.Handler) {
			next.ServeHTTP(httptest.NewRecorder(), q)
			w.WriteHeader(http.StatusBadGateway)
		}, true},
		"applied, an answer that is none": {func(w http.ResponseWriter, q *http.Request, next http.Handler) {
			next.ServeHTTP(httptest.NewRecorder(), q)
			w.Write([]byte("<html>"))
		}, true},
		"not applied, connection dropped": {func(http.ResponseWriter, *http.Request, http.Handler) {
			panic(http.ErrAbortHandler)
		}, false},
		"not applied, server error": {func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			w.WriteHeader(http.StatusInternalServerError)
		}, false},
	} {
		for _, start := range []string{"on a branch", "on none"} {
			t.Run(name+", "+start, func(t *testing.T) {
				r := newRepo(t)
				before := ""
				if start == "on a branch" {
					before = r.commit(testRef, map[string]string{"a": "a"})
				}
				s := serve(t, r)
				s.Config.ErrorLog = quiet()
				s.wrap = once(isPush, c.fault)
				got, err := Update(context.Background(), s.remote(t, ""), testName, quick(Options{}), add("mine", "m"))
				if err != nil {
					t.Fatal(err)
				}
				want := Result{Before: before, After: r.git("rev-parse", testRef), Attempts: 2,
					Empty: c.applied, Settled: c.applied, Created: !c.applied && before == ""}
				if got != want {
					t.Errorf("got %+v, want %+v", got, want)
				}
				if log := r.git("log", "--format=%s", testRef, "--", "mine"); log != "ledger: add mine" {
					t.Errorf("the record is there %q", log)
				}
			})
		}
	}
}

func TestARefusalWithoutCauseForHopeStopsAtOnce(t *testing.T) {
	status := func(code int) func(http.ResponseWriter, *http.Request, http.Handler) {
		return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) { w.WriteHeader(code) }
	}
	read := func(q *http.Request) bool { return strings.Contains(q.URL.RawQuery, "git-upload-pack") }
	write := func(q *http.Request) bool { return strings.Contains(q.URL.RawQuery, "git-receive-pack") }
	for name, c := range map[string]struct {
		at     func(*http.Request) bool
		code   int
		kind   error
		reason string
		hint   string
	}{
		"401 on reading":          {read, 401, ErrUnauthorized, "unauthorized", "contents: read"},
		"403 on reading":          {read, 403, ErrUnauthorized, "unauthorized", "contents: read"},
		"404 on reading":          {read, 404, ErrNotFound, "not_found", "check the remote"},
		"401 before the push":     {write, 401, ErrUnauthorized, "unauthorized", "contents: write"},
		"403 before the push":     {write, 403, ErrUnauthorized, "unauthorized", "contents: write"},
		"404 before the push":     {write, 404, ErrNotFound, "not_found", ""},
		"403 for the push":        {isPush, 403, ErrUnauthorized, "unauthorized", "contents: write"},
		"413 for the push":        {isPush, 413, ErrTooLarge, "too_large", "no pack of this size"},
		"a redirect for the pack": {isPush, 307, ErrNotFound, "not_found", "redirects are not followed"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t)
			head := r.commit(testRef, map[string]string{"a": "a"})
			s := serve(t, r)
			s.wrap = once(c.at, status(c.code))
			got, err := Update(context.Background(), s.remote(t, "sekret-token"), testName, quick(Options{}), add("mine", "m"))
			if !errors.Is(err, c.kind) || Reason(err) != c.reason || got.Attempts != 1 || !strings.Contains(err.Error(), c.hint) {
				t.Errorf("got %+v, %q: %v", got, Reason(err), err)
			}
			if strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), "sekret") {
				t.Errorf("the token is in %#v", err)
			}
			if r.git("rev-parse", testRef) != head {
				t.Error("something was written")
			}
		})
	}
}

func TestAServerThatIsBusyIsAskedAgainAfterAsLongAsItWants(t *testing.T) {
	for name, c := range map[string]struct {
		code        int
		after, body string
		times       int
		want        time.Duration
		fails       bool
	}{
		"429 with seconds":          {429, "7", "", 2, 7 * time.Second, false},
		"403 with seconds":          {403, "30", "", 1, 30 * time.Second, false},
		"403 that says rate limit":  {403, "", "You have exceeded a secondary rate limit.", 1, 0, false},
		"an absurd wait is bounded": {429, "999999", "", 1, maxRetryAfter, false},
		"a wait that is no number":  {429, "soon", "", 1, 0, false},
		"503":                       {503, "", "", 3, 0, false},
		"429 for ever":              {429, "1", "", 99, time.Second, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t)
			s := serve(t, r)
			left := c.times
			s.wrap = func(w http.ResponseWriter, q *http.Request, next http.Handler) {
				if left--; left >= 0 {
					if c.after != "" {
						w.Header().Set("Retry-After", c.after)
					}
					w.WriteHeader(c.code)
					w.Write([]byte(c.body))
					return
				}
				next.ServeHTTP(w, q)
			}
			var pauses []time.Duration
			opts := quick(Options{})
			opts.Sleep = func(_ context.Context, d time.Duration) error { pauses = append(pauses, d); return nil }
			got, err := Update(context.Background(), s.remote(t, ""), testName, opts, add("mine", "m"))
			if c.fails {
				if !errors.Is(err, ErrThrottled) || Reason(err) != "throttled" || got.Attempts != maxThrottled {
					t.Errorf("got %+v, %v", got, err)
				}
			} else if err != nil || got.Attempts != c.times+1 {
				t.Errorf("got %+v, %v", got, err)
			}
			for _, p := range pauses {
				if p != c.want {
					t.Errorf("paused %v, want %v", p, c.want)
				}
			}
		})
	}
}

func TestARuleOfTheServerIsNamedAndNotArguedWith(t *testing.T) {
	for _, transport := range []string{"path", "https"} {
		t.Run(transport, func(t *testing.T) {
			r := newRepo(t)
			head := r.commit(testRef, map[string]string{"a": "a"})
			hook := "#!/bin/sh\necho 'error: GH013: only through a pull request \x1b[31m' >&2\nexit 1\n"
			if err := os.WriteFile(filepath.Join(r.dir, "hooks", "pre-receive"), []byte(hook), 0o755); err != nil {
				t.Fatal(err)
			}
			got, err := Update(context.Background(), remotes(t, r)[transport], testName, quick(Options{}), add("mine", "m"))
			if !errors.Is(err, ErrRejected) || got.Attempts != 1 || Reason(err) != "rejected" {
				t.Fatalf("got %+v, %v", got, err)
			}
			if !strings.Contains(err.Error(), "GH013") || strings.ContainsRune(err.Error(), 0x1b) {
				t.Errorf("got %q", err)
			}
			if r.git("rev-parse", testRef) != head {
				t.Error("something was written")
			}
		})
	}
}

func TestAnotherReferenceInTheWayIsRefusedBeforeAnythingIsSent(t *testing.T) {
	for ref, name := range map[string]string{
		"refs/tags/memory/x": "memory/x", "refs/heads/memory": "memory/x", "refs/heads/memory/x/y": "memory/x",
	} {
		r := newRepo(t)
		r.commit(ref, map[string]string{"a": "a"})
		_, err := Update(context.Background(), r.remote(), name, quick(Options{}), add("mine", "m"))
		if !errors.Is(err, ErrNameTaken) || Reason(err) != "name_taken" {
			t.Errorf("%s: %v", ref, err)
		}
		if refs := r.git("for-each-ref", "--format=%(refname)"); refs != ref {
			t.Errorf("%s: now %s", ref, refs)
		}
	}
}

func TestAReferenceThatGetsInTheWayMeanwhileIsNamedToo(t *testing.T) {
	r := newRepo(t)
	got, err := Update(context.Background(), r.remote(), "memory/x", quick(Options{}), between(add("mine", "m"), func(int) {
		r.commit("refs/heads/memory", map[string]string{"a": "a"})
	}))
	if !errors.Is(err, ErrNameTaken) || got.Attempts != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestAnEmptyRepositoryWithLongerIdsIsRefused(t *testing.T) {
	r := newRepo(t)
	r.dir = filepath.Join(t.TempDir(), "remote.git")
	r.run("", "init", "-q", "--bare", "--object-format=sha256", r.dir)
	for name, remote := range remotes(t, r) {
		got, err := Update(context.Background(), remote, testName, quick(Options{}), add("mine", "m"))
		if !errors.Is(err, ErrMalformed) || got.Attempts != 1 || !strings.Contains(err.Error(), "sha256") {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestNamesThatAreNoLedgerBranchReachNoRemote(t *testing.T) {
	r := newRepo(t)
	for _, name := range []string{"", "main", "ledgers/", "ledgers/a/b", "refs/heads/ledgers/a", "ledgers/a b", "ledgers/a\n", "-x", "ledgers/-a", "memory/a..b", "ledgers/a.lock", "Ledgers/a"} {
		got, err := Update(context.Background(), r.remote(), name, quick(Options{}), add("mine", "m"))
		if !errors.Is(err, ErrName) || got.Attempts != 0 || Reason(err) != "bad_name" {
			t.Errorf("%q: %+v, %v", name, got, err)
		}
	}
}

// TestNoConfigurationOfTheUserHasAnEffect plants everything that a hostile or
// merely unusual account could hold, and first shows that plain git falls for it.
func TestNoConfigurationOfTheUserHasAnEffect(t *testing.T) {
	r := newRepo(t)
	base := r.commit(testRef, map[string]string{"a": "a"})
	s := serve(t, r)
	ask := serve(t, r)
	ask.wrap = func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		w.WriteHeader(http.StatusUnauthorized)
	}

	home := t.TempDir()
	fired := filepath.Join(home, "fired")
	trap := filepath.Join(home, "trap")
	hooks := filepath.Join(home, "hooks")
	decoy := filepath.Join(home, "decoy.git")
	r.run("", "init", "-q", "--bare", "--initial-branch=main", decoy)
	(&repo{t: t, dir: decoy}).commit("refs/heads/main", map[string]string{"decoy": "x"})
	script := "#!/bin/sh\necho \"$0 $*\" >> " + fired + "\n[ $# -gt 1 ] && exec \"$@\"\nexit 0\n"
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(trap, []byte(script), 0o755))
	must(os.Mkdir(hooks, 0o755))
	for _, h := range []string{"pre-receive", "update", "post-receive", "post-update", "reference-transaction", "pre-push"} {
		must(os.WriteFile(filepath.Join(hooks, h), []byte("#!/bin/sh\necho hook >> "+fired+"\n"), 0o755))
	}
	config := fmt.Sprintf(`[url %q]
	insteadOf = %s
	insteadOf = file://%s
	insteadOf = %s
[credential]
	helper = %s
[core]
	hooksPath = %s
	fsmonitor = %s
	askPass = %s
	sshCommand = %s
	attributesFile = %s/attributes
[uploadpack]
	packObjectsHook = %s
[receive]
	denyCurrentBranch = refuse
	fsckObjects = true
	maxInputSize = 1
[http]
	proxy = http://127.0.0.1:1
	extraHeader = "X-Hostile: 1"
[transfer]
	hideRefs = refs/heads/ledgers
[user]
	name = hostile
[commit]
	gpgSign = true
[init]
	templateDir = %s
`, decoy, r.dir, r.dir, s.URL, trap, hooks, trap, trap, trap, home, trap, hooks)
	must(os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o644))
	must(os.MkdirAll(filepath.Join(home, "xdg", "git"), 0o755))
	must(os.WriteFile(filepath.Join(home, "xdg", "git", "config"), []byte(config), 0o644))
	must(os.WriteFile(filepath.Join(home, "attributes"), []byte("* ident text eol=crlf\n"), 0o644))
	for name, value := range map[string]string{
		"HOME": home, "USERPROFILE": home, "XDG_CONFIG_HOME": filepath.Join(home, "xdg"),
		"GIT_CONFIG_GLOBAL": filepath.Join(home, ".gitconfig"), "GIT_CONFIG_SYSTEM": filepath.Join(home, ".gitconfig"),
		"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "uploadpack.packObjectsHook", "GIT_CONFIG_VALUE_0": trap,
		"GIT_CONFIG_PARAMETERS": "'core.hookspath=" + hooks + "'",
		"GIT_DIR":               decoy, "GIT_NAMESPACE": "decoy", "GIT_OBJECT_DIRECTORY": filepath.Join(decoy, "objects"),
		"GIT_ASKPASS": trap, "SSH_ASKPASS": trap, "GIT_SSH_COMMAND": trap, "GIT_PROXY_COMMAND": trap,
		"GIT_TRACE": filepath.Join(home, "trace"), "GIT_TRACE_PACKET": filepath.Join(home, "trace"), "GIT_PROTOCOL": "version=2",
		"GIT_AUTHOR_NAME": "hostile", "GIT_COMMITTER_EMAIL": "hostile@x.invalid", "GIT_TEMPLATE_DIR": hooks,
	} {
		t.Setenv(name, value)
	}

	control, clean, err := branch.Command(context.Background(), "clone", "-q", "--bare", "file://"+r.dir+"/.", filepath.Join(home, "clone"))
	must(err)
	defer clean()
	control.Env = append(slices.DeleteFunc(control.Env, func(e string) bool { return strings.HasPrefix(e, "GIT_CONFIG") }), "HOME="+home)
	control.Run()
	if _, err := os.Stat(fired); err != nil {
		t.Fatal("the traps do not work, so this test would show nothing")
	}
	must(os.Remove(fired))

	opts := quick(Options{Base: base})
	for name, remote := range map[string]branch.Remote{"path": r.remote(), "https": s.remote(t, "")} {
		path := "ledger/" + name + ".jsonl"
		if _, err := Update(context.Background(), remote, testName, opts, add(path, "$Id$\n")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got, err := branch.Read(context.Background(), remote, testName, branch.Limits{})
		if err != nil || string(got.Files[path]) != "$Id$\n" {
			t.Errorf("%s: %q, %v", name, got.Files[path], err)
		}
		if ok, err := branch.Contains(context.Background(), remote, testName, base, branch.Limits{}); !ok || err != nil {
			t.Errorf("%s: contains: %v, %v", name, ok, err)
		}
		if err := branch.History(context.Background(), remote, testName, "", branch.Limits{}, func(branch.Commit) error { return nil }); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := branch.Read(context.Background(), ask.remote(t, ""), testName, branch.Limits{}); !errors.Is(err, ErrUnauthorized) {
		t.Errorf("a server that asks for a password: %v", err)
	}
	for _, trace := range []string{fired, filepath.Join(home, "trace")} {
		if text, err := os.ReadFile(trace); err == nil {
			t.Errorf("something fired: %s", text)
		}
	}
	for _, q := range s.requests {
		if q.Header.Get("X-Hostile") != "" || q.Header.Get("Git-Protocol") != "" {
			t.Errorf("headers %v", q.Header)
		}
	}
	if authors := r.git("log", "--format=%an %ce", base+".."+testRef); strings.Contains(authors, "hostile") {
		t.Errorf("authors %s", authors)
	}
}
