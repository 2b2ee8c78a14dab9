package actions_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// releaseTool is the program that makes releases.
var releaseTool = sync.OnceValues(func() (string, error) {
	path := filepath.Join(scratch, "release")
	cmd := exec.Command("go", "-C", filepath.Join(root(), ".github", "tools"), "build", "-o", path, "./release")
	cmd.Env = append(os.Environ(), "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return string(out), err
	}
	return path, nil
})

// smallModule is a folder with a module of two roles on two platforms, as small as the
// program takes it, under git.
func smallModule(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "a module")
	for path, text := range map[string]string{
		"go.mod":                "module github.com/repo-memory/ledger\n\ngo 1.26\n",
		"go.sum":                "",
		"action-matrix.yml":     "actions:\n  - {name: one, binary: cmd/one, trust: untrusted}\n  - {name: two, binary: cmd/two}\nplatforms:\n  - {os: linux, arch: amd64}\n  - {os: windows, arch: arm64}\n",
		"actions/run.sh":        "",
		"cmd/one/main.go":       "package main\n\nimport \"github.com/repo-memory/ledger/pkg/action\"\n\nfunc main() { println(action.Version()) }\n",
		"cmd/two/main.go":       "package main\n\nimport \"github.com/repo-memory/ledger/pkg/action\"\n\nfunc main() { println(action.Version(), 2) }\n",
		"pkg/action/action.go":  "package action\n\nvar version string\n\nfunc Version() string { return version }\n",
		"pkg/action/a_test.go":  "package action\n",
		"pkg/testdata/anything": "",
	} {
		write(t, filepath.Join(dir, path), text)
	}
	command(t, dir, "git", "init", "-q")
	command(t, dir, "git", "add", "-A")
	command(t, dir, "git", "commit", "-q", "-m", "all")
	return dir
}

// releasing runs the program on a module; it must fail and say why, or say nothing of it.
func releasing(t *testing.T, module, why string, args ...string) {
	t.Helper()
	tool, err := releaseTool()
	if err != nil {
		t.Fatalf("the program cannot be built: %v\n%s", err, tool)
	}
	out, err := exec.Command(tool, append([]string{"-root", module}, args...)...).CombinedOutput()
	if (err != nil) != (why != "") || !strings.Contains(string(out), why) {
		t.Errorf("release %v: %v, want %q\n%s", args, err, why, out)
	}
}

func TestAReleaseIsPreparedVerifiedAndCheckedAgainstItsOwnSource(t *testing.T) {
	m := smallModule(t)
	releasing(t, m, "", "check") // of a commit that is no release
	releasing(t, m, "there is no actions/checksums.txt: this commit is no release", "verify", "v1.2.3", t.TempDir())
	releasing(t, m, `"1.2.3" is no version: give one like v1.2.3`, "prepare", "1.2.3")
	releasing(t, m, "is no version", "prepare", "v1.2.3/..")
	write(t, filepath.Join(m, "left"), "")
	releasing(t, m, "the working tree has changes: a release is made of a commit", "prepare", "v1.2.3")
	if err := os.Remove(filepath.Join(m, "left")); err != nil {
		t.Fatal(err)
	}
	releasing(t, m, "", "prepare", "v1.2.3")
	path := filepath.Join(m, "actions", "checksums.txt")
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(good), "\n")
	if len(lines) != 8 || lines[0] != "# release v1.2.3" || !strings.HasPrefix(lines[1], "# toolchain go1.") || !strings.HasSuffix(lines[3], "  one-linux-amd64") || !strings.HasSuffix(lines[6], "  two-windows-arm64.exe") {
		t.Fatalf("it wrote\n%s", good)
	}
	if !strings.Contains(read(t, ".github", "workflows", "release.yml"), `go-version: "`+strings.TrimPrefix(lines[1], "# toolchain go")+`"`) {
		t.Errorf("release.yml sets up another Go than %s", lines[1])
	}
	releasing(t, m, "", "check")
	out := filepath.Join(t.TempDir(), "out")
	releasing(t, m, "", "verify", "v1.2.3", out)
	command(t, out, "sha256sum", "--check", "--strict", "SHA256SUMS")
	if got := command(t, out, filepath.Join(out, "one-linux-amd64")); got != "v1.2.3\n" {
		t.Errorf("its version is %q", got)
	}
	releasing(t, m, "is not empty", "verify", "v1.2.3", out)
	releasing(t, m, "checksums.txt is of release v1.2.3, not v1.2.4", "verify", "v1.2.4", t.TempDir())

	wrong := strings.Repeat("0", 64)
	for name, c := range map[string]struct{ old, new, check, verify string }{
		"a digest that is another": {lines[4][:64], wrong, "", "one-windows-arm64.exe: built " + lines[4][:64] + ", pinned " + wrong},
		"a binary less":            {lines[4] + "\n", "", "checksums.txt pins", "checksums.txt pins"},
		"a binary more":            {lines[6], lines[6] + "\n" + wrong + "  zzz", "checksums.txt pins", "checksums.txt pins"},
		"another order":            {lines[3] + "\n" + lines[4], lines[4] + "\n" + lines[3], "was not written by this program", "was not written by this program"},
		"another toolchain":        {lines[1], "# toolchain go1.1", "was made with go1.1", "was made with go1.1"},
		"a line that is no digest": {lines[3], "x" + lines[3], "is no digest and name", "is no digest and name"},
	} {
		t.Log(name)
		bad := strings.Replace(string(good), c.old, c.new, 1)
		if bad == string(good) {
			t.Fatal("nothing to change")
		}
		write(t, path, bad)
		releasing(t, m, c.check, "check")
		releasing(t, m, c.verify, "verify", "v1.2.3", t.TempDir())
	}
	write(t, path, string(good))
	write(t, filepath.Join(m, "pkg", "action", "a_test.go"), "package action // changed\n")
	write(t, filepath.Join(m, "pkg", "testdata", "more"), "")
	releasing(t, m, "", "check") // no build reads them
	write(t, filepath.Join(m, "pkg", "action", "more.go"), "package action\n")
	releasing(t, m, "checksums.txt is of other source: remove it, only the commit of a release has one", "check")
}

// TestAReleasedWorkflowUsesTheActionsOfItsOwnRelease: whoever pins a workflow by its
// commit has pinned the actions in it.
func TestAReleasedWorkflowUsesTheActionsOfItsOwnRelease(t *testing.T) {
	m := smallModule(t)
	path := filepath.Join(m, ".github", "workflows", "agent.yml")
	const before = "jobs:\n  a:\n    steps:\n      - uses: actions/checkout@v4\n      - uses: repo-memory/ledger/actions/one@v1\n      - id: x\n        uses: repo-memory/ledger/actions/two@v1\n"
	write(t, path, before)
	commit := func(what string) string {
		command(t, m, "git", "add", "-A")
		command(t, m, "git", "commit", "-q", "-m", what)
		return strings.TrimSpace(command(t, m, "git", "rev-parse", "HEAD"))
	}
	commit("workflow")
	releasing(t, m, "this commit is no release", "pin", "v1.2.3")
	releasing(t, m, "", "prepare", "v1.2.3")
	releasing(t, m, "the working tree has changes", "pin", "v1.2.3")
	digests := commit("digests")
	releasing(t, m, "agent.yml uses an action at v1, which can be moved", "verify", "v1.2.3", t.TempDir())
	releasing(t, m, "is of release v1.2.3, not v1.2.4", "pin", "v1.2.4")
	releasing(t, m, "", "pin", "v1.2.3")
	want := strings.ReplaceAll(before, "@v1\n", "@"+digests+" # v1.2.3\n")
	if text, err := os.ReadFile(path); err != nil || string(text) != want {
		t.Fatalf("%v\n%s", err, text)
	}
	commit("release")
	releasing(t, m, "", "verify", "v1.2.3", filepath.Join(t.TempDir(), "out"))
	for name, c := range map[string]struct{ text, why string }{
		"one that can be moved":  {strings.Replace(want, digests+" # v1.2.3", "main", 1), "uses an action at main"},
		"one in quotes":          {want + "      - uses: \"repo-memory/ledger/actions/one@v1\"\n", "in a way that is not understood"},
		"two commits":            {strings.Replace(want, digests, strings.Repeat("1", 40), 1), "actions of 2 commits"},
		"one that is not here":   {strings.ReplaceAll(want, digests, strings.Repeat("1", 40)), "which is not here"},
		"one with other actions": {strings.ReplaceAll(want, digests, strings.TrimSpace(command(t, m, "git", "rev-parse", "HEAD~2"))), "are not those of this commit"},
	} {
		t.Log(name)
		write(t, path, c.text)
		releasing(t, m, c.why, "verify", "v1.2.3", t.TempDir())
	}
}

// TestDigestsArePinnedInTheCommitOfARelease finds a list that was left behind, or
// that lacks a binary.
func TestDigestsArePinnedInTheCommitOfARelease(t *testing.T) {
	releasing(t, root(), "", "check")
}

// TestTwoIndependentBuildsOfOneCommitAreTheSame builds one role in two folders,
// each with a cache of its own that is empty, under environments that differ.
func TestTwoIndependentBuildsOfOneCommitAreTheSame(t *testing.T) {
	ours, err := source()
	if err != nil {
		t.Fatal(err)
	}
	tool, err := releaseTool()
	if err != nil {
		t.Fatalf("the program cannot be built: %v\n%s", err, tool)
	}
	modules := strings.TrimSpace(command(t, root(), "go", "env", "GOMODCACHE"))
	var digests, infos [2]string
	for i, env := range [2][]string{
		{"GOFLAGS=-tags=nonsense", "GOAMD64=v3", "CGO_ENABLED=1", "TZ=Asia/Tokyo"},
		{"GOFLAGS=-race", "GOEXPERIMENT=jsonv2", "GODEBUG=asyncpreemptoff=1", "LC_ALL=C", "GOOS=plan9"},
	} {
		dir := filepath.Join(t.TempDir(), strings.Repeat("deeper/", i)+"a copy")
		if err := os.CopyFS(dir, os.DirFS(ours)); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, "action-matrix.yml"), read(t, "action-matrix.yml"))
		cmd := exec.Command(tool, "-root", dir, "build", "v1.2.3", filepath.Join(dir, "out"), "ledger-mutation", "linux/amd64")
		cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GOCACHE=" + filepath.Join(dir, "cache"), "GOMODCACHE=" + modules}, env...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		binary := filepath.Join(dir, "out", "ledger-mutation-linux-amd64")
		text, err := os.ReadFile(binary)
		if err != nil {
			t.Fatal(err)
		}
		digests[i] = digestOf(string(text))
		infos[i] = strings.ReplaceAll(command(t, dir, "go", "version", "-m", binary), binary, "")
		if strings.Contains(string(text), dir) {
			t.Errorf("the folder %s stands in it", dir)
		}
	}
	if digests[0] != digests[1] || infos[0] != infos[1] {
		t.Errorf("they differ: %v\n%s\n%s", digests, infos[0], infos[1])
	}
	for _, want := range []string{": go1.26.8\n", "\tbuild\t-trimpath=true\n", "\tbuild\tCGO_ENABLED=0\n", "\tbuild\tGOAMD64=v1\n"} {
		if !strings.Contains(infos[0], want) {
			t.Errorf("go version -m lacks %q: %s", want, infos[0])
		}
	}
	if strings.Contains(infos[0], "vcs") || strings.Contains(infos[0], "DefaultGODEBUG") {
		t.Errorf("go version -m: %s", infos[0])
	}
}
