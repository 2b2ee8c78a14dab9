package githubtest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const (
	repo   = "octo/consumer"
	writer = "ghs_writer"
	reader = "ghs_reader"
)

// newServer has one repository with one commit on main and on ledgers/memory.
func newServer(t *testing.T) (*Server, string) {
	t.Helper()
	s := New(t, Options{})
	s.Token(writer, Permissions{"contents": "write", "actions": "write"})
	s.Token(reader, Permissions{"contents": "read"})
	dir := s.Repo(repo)
	work := t.TempDir()
	client(t, s, work, "init", "-q", "-b", "main")
	for path, text := range map[string]string{"a": "a", "dir/b": "b", "run.sh": "#!/bin/sh\n"} {
		put(t, filepath.Join(work, path), text)
	}
	client(t, s, work, "add", "-A")
	client(t, s, work, "update-index", "--chmod=+x", "run.sh")
	client(t, s, work, "commit", "-q", "-m", "first")
	client(t, s, work, "push", "-q", dir, "HEAD:refs/heads/main", "HEAD:refs/heads/ledgers/memory")
	return s, dir
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// try runs the git command line, which trusts the server's authority.
func try(s *Server, dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = s.environment("GIT_SSL_CAINFO="+s.CertFile, "GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.org", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.org")
	out, err := cmd.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func client(t *testing.T, s *Server, dir string, args ...string) string {
	t.Helper()
	out, err := try(s, dir, args...)
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// with is a git option that sends a token as the runner's checkout does.
func with(token string) string {
	return "http.extraHeader=Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("x-access-token:"+token))
}

// send makes an API request; the answer's JSON is decoded.
func (s *Server) send(t *testing.T, method, path, token string, body any, headers ...string) (*http.Response, map[string]any) {
	t.Helper()
	res, text, err := s.attempt(method, path, token, body, headers...)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if len(text) > 0 && text[0] == '{' {
		if err := json.Unmarshal(text, &out); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	}
	return res, out
}

func (s *Server) attempt(method, path, token string, body any, headers ...string) (*http.Response, []byte, error) {
	var text []byte
	if body != nil {
		text, _ = json.Marshal(body)
	}
	q, err := http.NewRequest(method, s.URL+path, bytes.NewReader(text))
	if err != nil {
		return nil, nil, err
	}
	if token != "" {
		q.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(headers); i += 2 {
		q.Header.Set(headers[i], headers[i+1])
	}
	c := s.Client()
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	res, err := c.Do(q)
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	out, err := io.ReadAll(res.Body)
	return res, out, err
}

// mutation is a call of createCommitOnBranch.
func mutation(head string, additions map[string]string, deletions ...string) object {
	var add, del []any
	for path, text := range additions {
		add = append(add, object{"path": path, "contents": base64.StdEncoding.EncodeToString([]byte(text))})
	}
	for _, path := range deletions {
		del = append(del, object{"path": path})
	}
	changes := object{}
	if add != nil {
		changes["additions"] = add
	}
	if del != nil {
		changes["deletions"] = del
	}
	return object{"query": `mutation($input: CreateCommitOnBranchInput!) { createCommitOnBranch(input: $input) { commit { oid } } }`,
		"variables": object{"input": object{
			"branch":  object{"repositoryNameWithOwner": repo, "branchName": "ledgers/memory"},
			"message": object{"headline": "headline", "body": "body"}, "expectedHeadOid": head, "fileChanges": changes}}}
}

// errorsOf are the type and message of the first error, "" without one.
func errorsOf(answer object) (kind, message string) {
	list, _ := answer["errors"].([]any)
	if len(list) == 0 {
		return "", ""
	}
	first := list[0].(object)
	kind, _ = first["type"].(string)
	return kind, first["message"].(string)
}

func TestAMutationIsARealCommit(t *testing.T) {
	s, dir := newServer(t)
	head := client(t, s, dir, "rev-parse", "ledgers/memory")
	body := mutation(head, map[string]string{"a": "new \"a\"\n", "n/ü \"q\"\\": "", "run.sh": "#!/bin/sh\nexit\n"}, "dir/b")
	res, out := s.send(t, "POST", "/api/graphql", writer, body)
	if kind, message := errorsOf(out); res.StatusCode != 200 || kind+message != "" {
		t.Fatalf("%d %s %s", res.StatusCode, kind, message)
	}
	oid := out["data"].(object)["createCommitOnBranch"].(object)["commit"].(object)["oid"].(string)
	if now := client(t, s, dir, "rev-parse", "ledgers/memory"); now != oid {
		t.Errorf("the branch is at %s, the answer says %s", now, oid)
	}
	want := map[string]string{"a": "100644", "n/ü \"q\"\\": "100644", "run.sh": "100755"}
	if got, err := s.modes(s.lookup(repo), oid); err != nil || !maps.Equal(got, want) {
		t.Errorf("the tree is %v, %v", got, err)
	}
	if got := client(t, s, dir, "cat-file", "blob", oid+":a"); got != "new \"a\"" {
		t.Errorf("a is %q", got)
	}
	if got := client(t, s, dir, "log", "-1", "--format=%P|%an|%ae|%cn|%B", oid); got != head+"|github-actions[bot]|41898282+github-actions[bot]@users.noreply.github.com|GitHub|headline\n\nbody" {
		t.Errorf("the commit is %q", got)
	}
	client(t, s, dir, "fsck", "--strict")
	if got := s.Commits(repo); len(got) != 1 || got[0] != (Landed{"ledgers/memory", oid, "mutation", head, head, writer}) {
		t.Errorf("recorded %+v", got)
	}
}

func TestOfManyMutationsOnOneHeadOneWins(t *testing.T) {
	s, dir := newServer(t)
	head := client(t, s, dir, "rev-parse", "ledgers/memory")
	var wins, stales int
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			_, text, err := s.attempt("POST", "/api/graphql", writer, mutation(head, map[string]string{fmt.Sprint(i): "x"}))
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				t.Error(err)
			case strings.Contains(string(text), `"oid"`):
				wins++
			case strings.Contains(string(text), `"STALE_DATA"`) && strings.Contains(string(text), `Expected branch to point to \"`+head+`\" but it did not.  Pull and try again.`):
				stales++
			default:
				t.Errorf("answered %s", text)
			}
		})
	}
	wg.Wait()
	if wins != 1 || stales != 7 {
		t.Errorf("%d wins, %d stale", wins, stales)
	}
	if n := client(t, s, dir, "rev-list", "--count", "ledgers/memory"); n != "2" {
		t.Errorf("%s commits", n)
	}
}

func TestGitFetchesAndPushesOverTLS(t *testing.T) {
	s, _ := newServer(t)
	work := filepath.Join(t.TempDir(), "work")
	url := s.URL + "/" + repo
	client(t, s, ".", "-c", with(reader), "clone", "-q", "-b", "main", url, work)
	put(t, filepath.Join(work, "big"), strings.Repeat("0123456789abcdef", 200_000)) // chunked: over http.postBuffer when it does not compress
	put(t, filepath.Join(work, "c"), "c")
	client(t, s, work, "add", "-A")
	client(t, s, work, "commit", "-q", "-m", "second")
	head := client(t, s, work, "rev-parse", "HEAD~")
	if out, err := try(s, work, "-c", with(reader), "push", url, "HEAD:main"); err == nil || !strings.Contains(out, "403") || !strings.Contains(out, "denied to github-actions[bot]") {
		t.Errorf("a token that only reads: %v %s", err, out)
	}
	if out, err := try(s, work, "-c", with("ghs_stranger"), "fetch", url); err == nil || !strings.Contains(out, "Authentication failed") && !strings.Contains(out, "could not read") {
		t.Errorf("an unknown token: %v %s", err, out)
	}
	if out, err := try(s, work, "fetch", url); err == nil {
		t.Errorf("no token: %s", out)
	}
	client(t, s, work, "-c", with(writer), "-c", "http.postBuffer=1000", "-c", "core.compression=0", "push", "-q", url+".git", "HEAD:main")
	want := Landed{"main", client(t, s, work, "rev-parse", "HEAD"), "push", head, head, writer}
	if got := s.Commits(repo); len(got) != 1 || got[0] != want {
		t.Errorf("recorded %+v, want %+v", got, want)
	}
	for _, r := range s.Requests() {
		if r.Authorization != (r.Token != "") || r.Status == 0 {
			t.Errorf("recorded %+v", r)
		}
	}
}
