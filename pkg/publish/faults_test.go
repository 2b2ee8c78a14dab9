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

func TestAHeadThatMovesWhileThePackIsOnItsWayIsSeenByTheServer(t *testing.T) {
	for _, start := range []string{"on a branch", "on none"} {
		t.Run(start, func(t *testing.T) {
			r := newRepo(t)
			want := []string{"100644 mine m", "100644 theirs t"}
			if start == "on a branch" {
				r.commit(testRef, map[string]string{"a": "a"})
				want = append([]string{"100644 a a"}, want...)
			}
			s := serve(t, r)
			s.wrap = once(isPush, func(w http.ResponseWriter, q *http.Request, next http.Handler) {
				r.commit(testRef, map[string]string{"theirs": "t"})
				next.ServeHTTP(w, q)
			})
			got, err := Update(context.Background(), s.remote(t, ""), testName, quick(Options{}), add("mine", "m"))
			if err != nil || got.Attempts != 2 || got.Created || got.Settled {
				t.Errorf("got %+v, %v", got, err)
			}
			if !slices.Equal(show(r, testRef), want) {
				t.Errorf("got %q", show(r, testRef))
			}
		})
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
			hook := "#!/bin/sh\necho 'error: GH013: only through a pull request \x1b[31m, not q8Zr1vT6yB3n' >&2\nexit 1\n"
			if err := os.WriteFile(filepath.Join(r.dir, "hooks", "pre-receive"), []byte(hook), 0o755); err != nil {
				t.Fatal(err)
			}
			got, err := Update(context.Background(), remotes(t, r)[transport], testName, quick(Options{}), add("mine", "is q8Zr1vT6yB3n"))
			if !errors.Is(err, ErrRejected) || got.Attempts != 1 || Reason(err) != "rejected" {
				t.Fatalf("got %+v, %v", got, err)
			}
			if !strings.Contains(err.Error(), "GH013") || strings.ContainsRune(err.Error(), 0x1b) || strings.Contains(err.Error(), "q8Zr1v") {
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
