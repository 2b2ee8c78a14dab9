package githubtest

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

type repository struct {
	name string // OWNER/REPO
	dir  string
	id   int64

	landed        []Landed
	dispatches    []Dispatch
	issues        map[int]*Issue
	collaborators map[string]string
}

// Repo returns the folder of the bare repository OWNER/REPO, which is made when it
// is asked for the first time. Its default branch is main. It takes pushes over
// HTTP, and cleans nothing up by itself.
func (s *Server) Repo(name string) string {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.repos[name]; r != nil {
		return r.dir
	}
	owner, repo, ok := strings.Cut(name, "/")
	if !ok || owner == "" || repo == "" || strings.Contains(repo, "/") || strings.HasSuffix(repo, ".git") {
		s.t.Fatalf("githubtest: %q is no OWNER/REPO", name)
	}
	s.sequence++
	r := &repository{name: name, dir: filepath.Join(s.root, owner, repo+".git"), id: int64(1_000_000 + s.sequence),
		issues: map[int]*Issue{}, collaborators: map[string]string{}}
	for _, args := range [][]string{
		{"init", "-q", "--bare", "--initial-branch=main", r.dir},
		{"-C", r.dir, "config", "http.receivepack", "true"},
		{"-C", r.dir, "config", "receive.autogc", "false"},
		{"-C", r.dir, "config", "gc.auto", "0"},
		// A writer that finds the branch locked waits and then loses; on a slow machine
		// the tenth of a second that is usual would make it fail instead.
		{"-C", r.dir, "config", "core.filesRefLockTimeout", "10000"},
		{"-C", r.dir, "config", "uploadpack.allowFilter", "true"},
	} {
		if _, err := s.run(nil, nil, args...); err != nil {
			s.t.Fatal(err)
		}
	}
	s.repos[name] = r
	return r.dir
}

// RepoID is the numeric id of a repository that [Server.Repo] made, 0 without one.
func (s *Server) RepoID(name string) int64 {
	if r := s.lookup(name); r != nil {
		return r.id
	}
	return 0
}

// lookup finds a repository, whose names are alike whatever the case.
func (s *Server) lookup(name string) *repository {
	s.mu.Lock()
	defer s.mu.Unlock()
	for known, r := range s.repos {
		if strings.EqualFold(known, name) {
			return r
		}
	}
	return nil
}

// gitError is a git command that failed, with what it complained.
type gitError struct {
	command   string
	complaint string
}

func (e *gitError) Error() string { return "git " + e.command + ": " + e.complaint }

// environment is that of every child: nothing of the user's or the system's.
func (s *Server) environment(more ...string) []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.home, "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_SYSTEM=" + os.DevNull, "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_TERMINAL_PROMPT=0"}, more...)
}

// run runs git to its end and returns what it printed, the last line feed cut.
func (s *Server) run(stdin []byte, env []string, args ...string) (string, error) {
	out, err := s.output(stdin, env, args...)
	return strings.TrimSuffix(string(out), "\n"), err
}

// raw is an object's content.
func (s *Server) raw(r *repository, oid string) ([]byte, error) {
	return s.output(nil, nil, "-C", r.dir, "cat-file", "blob", oid)
}

func (s *Server) output(stdin []byte, env []string, args ...string) ([]byte, error) {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Env, cmd.Dir = s.environment(env...), s.home
	cmd.Stdin = bytes.NewReader(stdin)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		return nil, &gitError{strings.Join(args, " "), strings.TrimSpace(complaint.String() + " " + err.Error())}
	}
	return out.Bytes(), nil
}

// in runs git in a repository.
func (s *Server) in(r *repository, args ...string) (string, error) {
	return s.run(nil, nil, append([]string{"-C", r.dir}, args...)...)
}

// resolve is the object that a full reference names, "" without one.
func (s *Server) resolve(r *repository, ref string) string {
	out, err := s.in(r, "rev-parse", "--verify", "--quiet", "--end-of-options", ref)
	if err != nil {
		return ""
	}
	return out
}

// validRef says whether git takes a full reference name.
func (s *Server) validRef(ref string) bool {
	_, err := s.run(nil, nil, "check-ref-format", ref)
	return err == nil
}

// move sets a reference, if it still stands at old; 40 zeros say that it must not
// exist.
func (s *Server) move(r *repository, ref, oid, old string) error {
	_, err := s.in(r, "update-ref", "--end-of-options", ref, oid, old)
	return err
}
