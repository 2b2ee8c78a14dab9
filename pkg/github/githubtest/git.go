package githubtest

import (
	"bytes"
	"io"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os/exec"
	"strconv"
	"strings"
)

// services are the last parts of the paths that git asks for.
var services = []string{"/info/refs", "/git-upload-pack", "/git-receive-pack"}

func isGit(path string) bool { _, ok := gitRepo(path); return ok }

// gitRepo is the OWNER/REPO of a path of git's.
func gitRepo(path string) (string, bool) {
	for _, service := range services {
		if name, ok := strings.CutSuffix(path, service); ok {
			name = strings.TrimSuffix(strings.TrimPrefix(name, "/"), ".git")
			return name, strings.Count(name, "/") == 1
		}
	}
	return "", false
}

// git serves smart HTTP with git's own backend.
func (s *Server) git(w http.ResponseWriter, q *http.Request, r *Request, body []byte) {
	name, _ := gitRepo(q.URL.Path)
	push := strings.HasSuffix(q.URL.Path, "/git-receive-pack") || q.URL.Query().Get("service") == "git-receive-pack"
	id, known := s.who(r)
	repo := s.lookup(name)
	switch {
	case id == nil || !known:
		w.Header().Set("WWW-Authenticate", `Basic realm="GitHub"`)
		plain(w, http.StatusUnauthorized, "Invalid username or token.")
		return
	case repo == nil:
		plain(w, http.StatusNotFound, "Repository not found.")
		return
	case !id.may("contents", "read"):
		plain(w, http.StatusForbidden, "Write access to repository not granted.")
		return
	case push && !id.may("contents", "write"):
		plain(w, http.StatusForbidden, "Permission to "+repo.name+".git denied to "+id.account.Login+".")
		return
	}
	git, err := exec.LookPath("git")
	if err != nil {
		plain(w, http.StatusInternalServerError, "no git")
		return
	}
	suffix := q.URL.Path[strings.LastIndex(q.URL.Path, name)+len(name):]
	q.URL.Path = "/" + repo.name + ".git" + strings.TrimPrefix(suffix, ".git")
	backend := &cgi.Handler{Path: git, Args: []string{"http-backend"}, Dir: s.home, Stderr: io.Discard,
		Env: s.environment("GIT_PROJECT_ROOT="+s.root, "GIT_HTTP_EXPORT_ALL=1", "REMOTE_USER="+id.account.Login)}
	if !strings.HasSuffix(q.URL.Path, "/git-receive-pack") {
		backend.ServeHTTP(w, q)
		return
	}
	answer := httptest.NewRecorder()
	backend.ServeHTTP(answer, q)
	for _, c := range commands(body) {
		if bytes.Contains(answer.Body.Bytes(), []byte("ok "+c.ref+"\n")) && !isZero(c.new) {
			if branch, ok := strings.CutPrefix(c.ref, "refs/heads/"); ok {
				s.landed(repo, Landed{Branch: branch, OID: c.new, How: "push", Expected: unzero(c.old), Parent: s.resolve(repo, c.new+"^"), Token: r.Token})
			}
		}
	}
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

type command struct{ old, new, ref string }

// commands reads the update commands that open the body of a push.
func commands(body []byte) (list []command) {
	for len(body) >= 4 {
		n, err := strconv.ParseUint(string(body[:4]), 16, 16)
		if err != nil || n < 4 || int(n) > len(body) {
			return list // 0000 ends them
		}
		line, _, _ := strings.Cut(string(body[4:n]), "\x00")
		if f := strings.Fields(line); len(f) == 3 {
			list = append(list, command{f[0], f[1], f[2]})
		}
		body = body[n:]
	}
	return list
}

func isZero(oid string) bool { return strings.Trim(oid, "0") == "" }

// plain answers as GitHub's git does: what the client prints after "remote:".
func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text+"\n")
}

// unzero makes the id that says "must not exist" the empty text.
func unzero(oid string) string {
	if isZero(oid) {
		return ""
	}
	return oid
}
