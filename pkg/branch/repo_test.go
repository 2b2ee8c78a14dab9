package branch

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// repo is a bare repository made with the git command line.
type repo struct {
	t   testing.TB
	dir string
	now int
}

func newRepo(t testing.TB) *repo {
	t.Helper()
	r := &repo{t: t, dir: filepath.Join(t.TempDir(), "remote.git"), now: 1_700_000_000}
	r.run("", "init", "-q", "--bare", "--initial-branch=main", r.dir)
	r.git("config", "http.receivepack", "true")
	return r
}

func (r *repo) run(stdin string, args ...string) string {
	r.t.Helper()
	cmd, clean, err := Command(context.Background(), args...)
	if err != nil {
		r.t.Fatal(err)
	}
	defer clean()
	cmd.Env = append(cmd.Env, "GIT_AUTHOR_NAME=T", "GIT_AUTHOR_EMAIL=t@x.invalid", "GIT_COMMITTER_NAME=T", "GIT_COMMITTER_EMAIL=t@x.invalid")
	cmd.Stdin = strings.NewReader(stdin)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, complaint.String())
	}
	return strings.TrimSpace(out.String())
}

func (r *repo) git(args ...string) string {
	r.t.Helper()
	return r.run("", append([]string{"-C", r.dir}, args...)...)
}

// commit puts a commit on a reference. A change's key is a path, its value the
// content; "-" deletes, a value beginning with "120000:" or "160000:" sets that
// mode. Parents default to the reference's present commit.
func (r *repo) commit(ref string, changes map[string]string, parents ...string) string {
	r.t.Helper()
	r.now += 60
	var s strings.Builder
	fmt.Fprintf(&s, "commit %s\ncommitter T <t@x.invalid> %d +0000\ndata 1\nm\n", ref, r.now)
	for i, p := range parents {
		fmt.Fprintf(&s, "%s %s\n", []string{"from", "merge"}[min(i, 1)], p)
	}
	if len(parents) == 0 {
		if out := r.git("for-each-ref", "--format=%(objectname)", ref); out != "" {
			fmt.Fprintf(&s, "from %s\n", out)
		}
	}
	for path, text := range changes {
		mode := "100644"
		if rest, ok := strings.CutPrefix(text, "120000:"); ok {
			mode, text = "120000", rest
		}
		if rest, ok := strings.CutPrefix(text, "100755:"); ok {
			mode, text = "100755", rest
		}
		switch rest, submodule := strings.CutPrefix(text, "160000:"); {
		case submodule:
			fmt.Fprintf(&s, "M 160000 %s %s\n", rest, path)
		case text == "-":
			fmt.Fprintf(&s, "D %s\n", path)
		default:
			fmt.Fprintf(&s, "M %s inline %s\ndata %d\n%s\n", mode, path, len(text), text)
		}
	}
	r.run(s.String(), "-C", r.dir, "fast-import", "--quiet", "--force")
	return r.git("rev-parse", ref)
}

// object writes a loose object of a kind and returns its id.
func (r *repo) object(kind, content string) string {
	r.t.Helper()
	return r.run(content, "-C", r.dir, "hash-object", "--literally", "-w", "-t", kind, "--stdin")
}

// server serves a repository over https with git's own backend.
type server struct {
	*httptest.Server
	mu       sync.Mutex
	requests []*http.Request
	// wrap, when set, stands between the network and git.
	wrap func(w http.ResponseWriter, q *http.Request, next http.Handler)
}

func serve(t testing.TB, r *repo) *server {
	t.Helper()
	cmd, clean, err := Command(context.Background(), "http-backend")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(clean)
	backend := &cgi.Handler{
		Path:   cmd.Path,
		Args:   []string{"http-backend"},
		Dir:    cmd.Dir,
		Stderr: io.Discard,
		Env: append(cmd.Env, "GIT_PROJECT_ROOT="+filepath.Dir(r.dir), "GIT_HTTP_EXPORT_ALL=1",
			"REMOTE_USER=tester"),
	}
	s := &server{}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		s.mu.Lock()
		s.requests = append(s.requests, q.Clone(context.Background()))
		s.mu.Unlock()
		// CGI wants a length.
		body, err := io.ReadAll(q.Body)
		if err != nil {
			return
		}
		q.Body, q.ContentLength, q.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
		if s.wrap != nil {
			s.wrap(w, q, backend)
			return
		}
		backend.ServeHTTP(w, q)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *server) remote(t testing.TB, token string) Remote {
	t.Helper()
	r, err := ParseRemote(s.URL+"/remote.git", token, s.URL)
	if err != nil {
		t.Fatal(err)
	}
	r.Transport = s.Client().Transport
	return r
}

func (r *repo) remote() Remote {
	r.t.Helper()
	remote, err := ParseRemote(r.dir, "", "")
	if err != nil {
		r.t.Fatal(err)
	}
	return remote
}
