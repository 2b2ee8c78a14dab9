package githubtest

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Seed commits files, path to content, on top of a branch or as its first commit,
// behind the server's back: nothing is recorded. It returns the new head.
func (s *Server) Seed(repo, branch string, files map[string]string) string {
	s.t.Helper()
	s.Repo(repo)
	r := s.lookup(repo)
	ref := "refs/heads/" + branch
	head := s.resolve(r, ref)
	var b bytes.Buffer
	fmt.Fprintf(&b, "feature done\ncommit refs/heads/made\nmark :1\ncommitter Seed <seed@example.org> %d +0000\ndata 4\nseed\n", s.opts.Now().Unix())
	if head != "" {
		fmt.Fprintf(&b, "from %s\n", head)
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(&b, "M 100644 inline %s\ndata %d\n%s\n", quote(path), len(files[path]), files[path])
	}
	b.WriteString("\nget-mark :1\ndone\n")
	oid, err := s.importCommit(r, b.Bytes())
	if err == nil {
		old := head
		if old == "" {
			old = strings.Repeat("0", 40)
		}
		err = s.move(r, ref, oid, old)
	}
	if err != nil {
		s.t.Fatalf("githubtest: seed %s: %v", branch, err)
	}
	return oid
}

// Head is the commit that a branch stands at, "" without one.
func (s *Server) Head(repo, branch string) string {
	s.t.Helper()
	s.Repo(repo)
	return s.resolve(s.lookup(repo), "refs/heads/"+branch)
}

// SetHead puts a branch anywhere, as a force push would; "" deletes it.
func (s *Server) SetHead(repo, branch, oid string) {
	s.t.Helper()
	s.Repo(repo)
	r := s.lookup(repo)
	args := []string{"update-ref", "refs/heads/" + branch, oid}
	if oid == "" {
		args = []string{"update-ref", "-d", "refs/heads/" + branch}
	}
	if _, err := s.in(r, args...); err != nil {
		s.t.Fatalf("githubtest: %s: %v", branch, err)
	}
}
