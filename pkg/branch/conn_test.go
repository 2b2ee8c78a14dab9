package branch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// authorizations lists what a server was sent.
func (s *server) authorizations() []string {
	var all []string
	for _, q := range s.requests {
		all = append(all, q.Header.Values("Authorization")...)
		for name, values := range q.Header {
			if strings.Contains(fmt.Sprint(name, values, q.URL), "sekret") {
				all = append(all, "in "+name)
			}
		}
	}
	return all
}

func TestTheTokenGoesToItsServerOnly(t *testing.T) {
	r := newRepo(t)
	r.commit(testRef, map[string]string{"a": "a"})
	s := serve(t, r)
	for name, c := range map[string]struct {
		server string
		sent   bool
	}{
		"the remote's own server":    {s.URL, true},
		"the same in other spelling": {strings.ToUpper(s.URL[:5]) + s.URL[5:] + "/", true},
		"another host":               {"https://github.com", false},
		"another port of the host":   {"https://127.0.0.1:1", false},
		"the default server":         {"", false},
	} {
		t.Run(name, func(t *testing.T) {
			s.requests = nil
			remote, err := ParseRemote(s.URL+"/remote.git", "sekret", c.server)
			if err != nil {
				t.Fatal(err)
			}
			remote.Transport = s.Client().Transport
			read(t, remote)
			got := s.authorizations()
			if !c.sent && len(got) > 0 {
				t.Errorf("sent %q", got)
			}
			// base64 of x-access-token:sekret
			if c.sent && (len(got) != 2 || got[0] != "Basic eC1hY2Nlc3MtdG9rZW46c2VrcmV0") {
				t.Errorf("sent %q", got)
			}
		})
	}
}

func TestNoRedirectIsFollowed(t *testing.T) {
	r := newRepo(t)
	r.commit(testRef, map[string]string{"a": "a"})
	for _, code := range []int{301, 302, 303, 307, 308} {
		for _, at := range []string{"/info/refs", "/git-upload-pack"} {
			for _, to := range []string{"foreign host", "same host"} {
				t.Run(fmt.Sprint(code, at, " to ", to), func(t *testing.T) {
					s, foreign := serve(t, r), serve(t, r)
					hops := 0
					s.wrap = func(w http.ResponseWriter, q *http.Request, next http.Handler) {
						if !strings.HasSuffix(q.URL.Path, at) {
							next.ServeHTTP(w, q)
							return
						}
						hops++
						target := map[string]string{"foreign host": foreign.URL, "same host": s.URL}[to]
						http.Redirect(w, q, target+q.URL.Path+"?"+q.URL.RawQuery, code)
					}
					remote := s.remote(t, "sekret")
					_, err := Read(context.Background(), remote, testName, Limits{})
					if !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), "redirects are not followed") {
						t.Errorf("got %v", err)
					}
					if len(foreign.requests) > 0 || hops != 1 {
						t.Errorf("followed: %d foreign requests, %d hops", len(foreign.requests), hops)
					}
					if strings.Contains(err.Error(), "sekret") || strings.Contains(err.Error(), "service=") {
						t.Errorf("got %v", err)
					}
				})
			}
		}
	}
}

func TestAnswersOfAServerAreSortedByWhatToDo(t *testing.T) {
	for name, c := range map[string]struct {
		code        int
		contentType string
		body        string
		kind        error
	}{
		"401":                             {401, "", "", ErrUnauthorized},
		"403":                             {403, "", "Write access to repository not granted.", ErrUnauthorized},
		"404":                             {404, "", "", ErrNotFound},
		"410":                             {410, "", "", ErrNotFound},
		"429":                             {429, "", "", ErrThrottled},
		"403 for the rate":                {403, "", "API Rate Limit exceeded", ErrThrottled},
		"500":                             {500, "", "", ErrUnavailable},
		"502":                             {502, "", "", ErrUnavailable},
		"a web page":                      {200, "text/html", "<html>", ErrNotFound},
		"a dumb server":                   {200, "text/plain", "", ErrNotFound},
		"nothing":                         {200, "application/x-git-upload-pack-advertisement", "", ErrUnavailable},
		"an error line":                   {200, "application/x-git-upload-pack-advertisement", "0011ERR go away\n", ErrUnavailable},
		"an error line for no repository": {200, "application/x-git-upload-pack-advertisement", "001cERR Repository not found", ErrNotFound},
		"noise":                           {200, "application/x-git-upload-pack-advertisement", "\xff\xff\xff\xff\xff", ErrUnavailable},
		"sha256": {200, "application/x-git-upload-pack-advertisement",
			"006c" + strings.Repeat("0", 64) + " capabilities^{}\x00object-format=sha256\n0000", ErrMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, newRepo(t))
			s.wrap = func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
				w.Header().Set("Content-Type", c.contentType)
				w.WriteHeader(c.code)
				w.Write([]byte(c.body))
			}
			_, err := Read(context.Background(), s.remote(t, "sekret"), testName, Limits{})
			if !errors.Is(err, c.kind) {
				t.Errorf("got %v, want %v", err, c.kind)
			}
			if err != nil && strings.ContainsAny(err.Error(), "\n\ufffd") {
				t.Errorf("not one printable line: %q", err)
			}
		})
	}
}

func TestARepositoryWithLongerIdsIsRefusedByName(t *testing.T) {
	r := newRepo(t)
	r.dir = filepath.Join(t.TempDir(), "remote.git")
	r.run("", "init", "-q", "--bare", "--object-format=sha256", r.dir)
	// An empty repository of that kind tells a reader nothing about itself.
	r.commit(testRef, map[string]string{"a": "a"})
	for name, remote := range map[string]Remote{"path": r.remote(), "https": serve(t, r).remote(t, "")} {
		if _, err := Read(context.Background(), remote, testName, Limits{}); !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), "sha256") {
			t.Errorf("by %s: %v", name, err)
		}
	}
}

func TestAPackThatBreaksOffIsNoAnswer(t *testing.T) {
	r := newRepo(t)
	r.commit(testRef, map[string]string{"a": strings.Repeat("0123456789", 100)})
	s := serve(t, r)
	var whole []byte
	s.wrap = func(w http.ResponseWriter, q *http.Request, next http.Handler) {
		if q.Method != http.MethodPost {
			next.ServeHTTP(w, q)
			return
		}
		rec := httptest.NewRecorder()
		next.ServeHTTP(rec, q)
		whole = rec.Body.Bytes()
		w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
		w.Write(whole)
	}
	read(t, s.remote(t, ""))
	for n := range len(whole) - 4 { // the last 4 bytes end the answer, after the pack
		s.wrap = func(w http.ResponseWriter, q *http.Request, next http.Handler) {
			if q.Method != http.MethodPost {
				next.ServeHTTP(w, q)
				return
			}
			w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
			w.Write(whole[:n])
		}
		if n%7 != 0 {
			continue
		}
		if _, err := Read(context.Background(), s.remote(t, ""), testName, Limits{}); !errors.Is(err, ErrUnavailable) && !errors.Is(err, ErrMalformed) {
			t.Errorf("cut at %d of %d: %v", n, len(whole), err)
		}
	}
}

func TestAFlippedBitIsFound(t *testing.T) {
	r := newRepo(t)
	r.commit(testRef, map[string]string{"a": strings.Repeat("0123456789", 100)})
	s := serve(t, r)
	s.wrap = func(w http.ResponseWriter, q *http.Request, next http.Handler) {
		if q.Method != http.MethodPost {
			next.ServeHTTP(w, q)
			return
		}
		rec := httptest.NewRecorder()
		next.ServeHTTP(rec, q)
		b := rec.Body.Bytes()
		b[len(b)-16] ^= 1 // in the pack's checksum
		w.Header().Set("Content-Type", "application/x-git-upload-pack-result")
		w.Write(b)
	}
	if _, err := Read(context.Background(), s.remote(t, ""), testName, Limits{}); !errors.Is(err, ErrMalformed) {
		t.Errorf("got %v", err)
	}
}

func TestAnEndedContextEndsTheConversation(t *testing.T) {
	r := newRepo(t)
	r.commit(testRef, map[string]string{"a": "a"})
	s := serve(t, r)
	ctx, cancel := context.WithCancel(context.Background())
	s.wrap = func(_ http.ResponseWriter, q *http.Request, _ http.Handler) {
		cancel()
		<-q.Context().Done()
	}
	if _, err := Read(ctx, s.remote(t, ""), testName, Limits{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := Read(ctx, r.remote(), testName, Limits{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestAChildInheritsNothingAndLeavesNothing(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	t.Setenv("GIT_DIR", "/nowhere")
	t.Setenv("GIT_SSH_COMMAND", "false")
	t.Setenv("LEDGER_SECRET", "sekret")
	t.Setenv("GITHUB_TOKEN", "sekret")
	t.Setenv("LD_PRELOAD", "")
	cmd, clean, err := Command(context.Background(), "version")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range cmd.Env {
		name, value, _ := strings.Cut(e, "=")
		names = append(names, name)
		if strings.Contains(value, "sekret") {
			t.Errorf("%s", e)
		}
	}
	slices.Sort(names)
	want := "[GIT_ATTR_NOSYSTEM GIT_CONFIG_GLOBAL GIT_CONFIG_NOSYSTEM GIT_CONFIG_SYSTEM GIT_TERMINAL_PROMPT HOME LC_ALL PATH XDG_CONFIG_HOME]"
	if fmt.Sprint(names) != want {
		t.Errorf("environment %v", names)
	}
	if inside, err := os.ReadDir(cmd.Dir); err != nil || len(inside) != 0 {
		t.Errorf("home holds %v, %v", inside, err)
	}
	clean()
	r := newRepo(t)
	r.commit(testRef, map[string]string{"a": "a"})
	read(t, r.remote())
	if err := History(context.Background(), r.remote(), testName, "", Limits{}, func(Commit) error { return errors.New("stop") }); err == nil {
		t.Error("the visitor's error was lost")
	}
	Read(context.Background(), Remote{URL: tmp}, testName, Limits{})
	if left, err := filepath.Glob(filepath.Join(tmp, "ledger-*")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestThisPackageCannotPublish(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	deps := strings.Fields(string(out))
	if !slices.Contains(deps, "github.com/repo-memory/ledger/pkg/branch") {
		t.Fatalf("not the list of dependencies: %d", len(deps))
	}
	for _, d := range deps {
		for _, writer := range []string{"publish", "persist", "compaction"} {
			if d == "github.com/repo-memory/ledger/pkg/"+writer {
				t.Errorf("depends on %s", d)
			}
		}
		if d == "github.com/go-git/go-git/v5" {
			t.Error("depends on go-git's porcelain, which reads the user's configuration")
		}
	}
}
