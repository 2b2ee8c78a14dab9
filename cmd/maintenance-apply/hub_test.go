package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/branch"
	"github.com/repo-memory/ledger/pkg/compaction/compactiontest"
	"github.com/repo-memory/ledger/pkg/github/githubtest"
	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/publish"
	"github.com/repo-memory/ledger/pkg/staging"
)

const (
	octo       = "octo/consumer"
	writeToken = "ghs_write0123456789abcdef"
	readToken  = "ghs_reads0123456789abcdef"
	hubBranch  = "ledgers/memory"
	seeded     = 40
)

// hub is a GitHub whose repository has a ledger that is worth compacting.
type hub struct {
	*githubtest.Server
	dir  string
	base string // the ledger's first commit
	bin  string // folder of the binaries
	temp string
}

func newHub(t *testing.T, bin string) *hub {
	t.Helper()
	s := githubtest.New(t, githubtest.Options{})
	s.Token(writeToken, githubtest.Permissions{"contents": "write"})
	s.Token(readToken, githubtest.Permissions{"contents": "read"})
	h := &hub{Server: s, dir: s.Repo(octo), bin: bin, temp: t.TempDir()}
	add := map[string][]byte{}
	for n := range seeded {
		r, err := compactiontest.Note(n+1, 400)
		if err != nil {
			t.Fatal(err)
		}
		add[ledger.ShardPath(fmt.Sprintf("00000000-0000-4000-8000-%012d", n+1))] = append(bytes.Clone(r.Line()), '\n')
	}
	h.base = h.commit(t, map[string][]byte{"notes.md": []byte("first")})
	h.commit(t, add)
	return h
}

// local is the repository without the server.
func (h *hub) local(t *testing.T) branch.Remote {
	t.Helper()
	remote, err := branch.ParseRemote(h.dir, "", "")
	if err != nil {
		t.Fatal(err)
	}
	return remote
}

func (h *hub) commit(t *testing.T, add map[string][]byte) string {
	t.Helper()
	result, err := publish.Update(t.Context(), h.local(t), hubBranch, publish.Options{}, func(ledger.Snapshot) (ledger.Change, error) {
		return ledger.Change{Add: add, Message: "test"}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return result.After
}

// move sets or, with "", deletes the branch.
func (h *hub) move(t *testing.T, to string) {
	args := []string{"-C", h.dir, "update-ref", "refs/heads/" + hubBranch, to}
	if to == "" {
		args = []string{"-C", h.dir, "update-ref", "-d", "refs/heads/" + hubBranch}
	}
	if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func (h *hub) read(t *testing.T) ledger.Snapshot {
	t.Helper()
	snap, err := branch.Read(t.Context(), h.local(t), hubBranch, branch.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return snap
}

// stage leaves a staging of n records, restored from the branch as it stands.
func (h *hub) stage(t *testing.T, writer, n int) (string, []ledger.Hash) {
	t.Helper()
	dir := filepath.Join(h.temp, fmt.Sprint("writer", writer), "memory")
	snap := h.read(t)
	if err := branch.Export(snap, dir); err != nil {
		t.Fatal(err)
	}
	m := staging.Manifest{Ledger: "memory", Branch: hubBranch, Base: snap.Head, Run: "7", Attempt: 1, Writer: fmt.Sprintf("00000000-0000-4000-8000-%012d", writer)}
	if err := staging.Write(dir, m); err != nil {
		t.Fatal(err)
	}
	w, err := ledger.NewWriter(dir, ledger.DefaultLimits(), ledger.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	var shas []ledger.Hash
	for i := range n {
		r, err := w.Append("note", fmt.Appendf(nil, `{"confidential":%d,"n":%d}`, writer, i))
		if err != nil {
			t.Fatal(err)
		}
		shas = append(shas, r.SHA())
	}
	return dir, shas
}

// run runs a binary in a job of the hub and returns its exit code and all it said.
func (h *hub) run(t *testing.T, role, token string, env ...string) (int, string) {
	path := filepath.Join(h.bin, role)
	if runtime.GOOS == "windows" {
		path += ".exe"
	}
	cmd := exec.Command(path)
	if role == "maintenance-apply" {
		self, err := os.Executable()
		if err != nil {
			t.Error(err)
			return -1, ""
		}
		cmd.Path, cmd.Args[0] = self, role
	}
	cmd.Env = append(append(h.Env(octo), "PATH="+os.Getenv("PATH"), "TMPDIR="+h.temp, "RUNNER_TEMP="+h.temp, "GORACE=atexit_sleep_ms=0",
		"GITHUB_RUN_ID=42", "GITHUB_RUN_ATTEMPT=2", "INPUT_TOKEN="+token), env...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Error(err)
		return -1, ""
	}
	if strings.Contains(string(out), token) || strings.Contains(string(out), "confidential") {
		t.Errorf("%s shows what it must not:\n%s", role, out)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// plan makes a plan with a token that can only read.
func (h *hub) plan(t *testing.T) {
	t.Helper()
	if code, out := h.run(t, "maintenance-plan", readToken); code != 0 || !strings.Contains(out, fmt.Sprintf("selected=%d\n", seeded)) {
		t.Fatalf("exit %d\n%s", code, out)
	}
}

// buildRoles builds the binaries that race with apply.
func buildRoles(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", dir+string(filepath.Separator), "../maintenance-plan", "../persist").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// guarded fails where a commit was made on another head than was expected, or by
// another way than the mutation, and counts them.
func (h *hub) guarded(t *testing.T) int {
	t.Helper()
	for _, c := range h.Commits(octo) {
		if c.How != "mutation" || c.Expected == "" || c.Expected != c.Parent || c.Branch != hubBranch || c.Token != writeToken {
			t.Errorf("a commit without its guard: %+v", c)
		}
	}
	return len(h.Commits(octo))
}
