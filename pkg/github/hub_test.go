package github

import (
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/github/githubtest"
)

const octo = "octo/consumer"

// hub is a client of a GitHub with one repository that has a commit on main.
func hub(t *testing.T, permissions githubtest.Permissions) (*githubtest.Server, *Client, string) {
	t.Helper()
	s := githubtest.New(t, githubtest.Options{})
	s.Token(token, permissions)
	dir := s.Repo(octo)
	tree := git(t, dir, "mktree")
	head := git(t, dir, "-c", "user.name=T", "-c", "user.email=t@x.invalid", "commit-tree", "-m", "first", tree)
	git(t, dir, "update-ref", "refs/heads/main", head)
	env := map[string]string{}
	for _, pair := range s.Env(octo) {
		name, value, _ := strings.Cut(pair, "=")
		env[name] = value
	}
	c, err := FromEnv(func(name string) string { return env[name] }, token, Options{Transport: s.Transport()})
	if err != nil {
		t.Fatal(err)
	}
	return s, c, head
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestACommitIsMadeOnlyAtTheExpectedHead(t *testing.T) {
	s, c, head := hub(t, githubtest.Permissions{"contents": "write"})
	commit := Commit{Repository: octo, Branch: "main", Expected: head, Message: "role: a\n\nb\n", Add: map[string][]byte{"f": []byte("\x00\xff")}}
	id, err := c.CommitOnBranch(t.Context(), commit)
	if err != nil {
		t.Fatal(err)
	}
	if got := git(t, s.Repo(octo), "rev-parse", "main", "main^"); got != id+"\n"+head {
		t.Errorf("got %s", got)
	}
	if _, err := c.CommitOnBranch(t.Context(), commit); !errors.Is(err, ErrStale) {
		t.Errorf("the second time: %v", err)
	}
	commit.Expected, commit.Delete, commit.Add = id, []string{"absent"}, nil
	if _, err := c.CommitOnBranch(t.Context(), commit); !errors.Is(err, ErrPathGone) {
		t.Errorf("deleting what is not there: %v", err)
	}
	commit.Branch = "absent"
	if _, err := c.CommitOnBranch(t.Context(), commit); !errors.Is(err, ErrNotFound) {
		t.Errorf("on no branch: %v", err)
	}
	for _, expected := range []string{"", "main", strings.ToUpper(id)} {
		commit.Expected = expected
		if _, err := c.CommitOnBranch(t.Context(), commit); !errors.Is(err, ErrConfig) {
			t.Errorf("expecting %q: %v", expected, err)
		}
	}
}

func TestABranchIsMadeOnlyWhereThereIsNone(t *testing.T) {
	s, c, head := hub(t, githubtest.Permissions{"contents": "write"})
	commit := Commit{Repository: octo, Branch: "ledgers/memory", Message: "m", Add: map[string][]byte{"a/b": []byte("1"), "c": nil}}
	id, err := c.CreateBranch(t.Context(), commit)
	if err != nil {
		t.Fatal(err)
	}
	if got := git(t, s.Repo(octo), "ls-tree", "-r", "--name-only", id); got != "a/b\nc" {
		t.Errorf("got %s", got)
	}
	if _, err := c.CreateBranch(t.Context(), commit); !errors.Is(err, ErrExists) {
		t.Errorf("the second time: %v", err)
	}
	commit.Expected = head
	if _, err := c.CreateBranch(t.Context(), commit); !errors.Is(err, ErrConfig) {
		t.Errorf("with a head: %v", err)
	}
}

func TestARepositoryAndAnAccountAreAskedFor(t *testing.T) {
	s, c, _ := hub(t, githubtest.Permissions{"contents": "read"})
	if r, err := c.GetRepository(t.Context(), octo); err != nil || r.DefaultBranch != "main" || r.ID != s.RepoID(octo) {
		t.Errorf("got %+v, %v", r, err)
	}
	if _, err := c.GetRepository(t.Context(), "octo/absent"); !errors.Is(err, ErrNotFound) {
		t.Errorf("one that is not there: %v", err)
	}
	if _, err := c.GetRepository(t.Context(), "octo/../x"); !errors.Is(err, ErrConfig) {
		t.Errorf("no name: %v", err)
	}
	if _, err := c.CurrentUser(t.Context()); !errors.Is(err, ErrForbidden) {
		t.Errorf("a workflow's token: %v", err)
	}
	s.Token(token, githubtest.Permissions{"contents": "read"}, githubtest.Account{ID: 7, Login: "mona", Type: "User"})
	if u, err := c.CurrentUser(t.Context()); err != nil || u != (User{7, "mona", "User"}) {
		t.Errorf("got %+v, %v", u, err)
	}
}

func TestAReadOnlyTokenIsToldWhatItNeeds(t *testing.T) {
	_, c, head := hub(t, githubtest.Permissions{"contents": "read"})
	_, err := c.CommitOnBranch(t.Context(), Commit{Repository: octo, Branch: "main", Expected: head, Message: "m"})
	_, err2 := c.CreateBranch(t.Context(), Commit{Repository: octo, Branch: "new", Message: "m"})
	err3 := c.DispatchWorkflow(t.Context(), octo, "maintenance.yml", "main", nil)
	for err, needs := range map[error]string{err: "contents: write", err2: "contents: write", err3: "actions: write"} {
		if !errors.Is(err, ErrForbidden) || !strings.Contains(err.Error(), "permissions: {"+needs+"}") {
			t.Errorf("got %v, want %s", err, needs)
		}
	}
}
