package actions_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// suite is a folder with what a consumer's jobs use of this repository: the actions
// and the reusable workflows. It is no release. act copies it for each step.
var suite = sync.OnceValues(func() (string, error) {
	return copyOf("suite", "actions", filepath.Join(".github", "workflows"))
})

// source is suite with what binaries are built from.
var source = sync.OnceValues(func() (string, error) {
	return copyOf("source", "actions", filepath.Join(".github", "workflows"), "cmd", "pkg", "go.mod", "go.sum")
})

// copyOf copies parts of this repository, without its tests, into a folder.
func copyOf(name string, parts ...string) (string, error) {
	dir := filepath.Join(scratch, name)
	for _, from := range parts {
		err := filepath.WalkDir(filepath.Join(root(), from), func(path string, d os.DirEntry, err error) error {
			if err == nil && d.Name() == "testdata" {
				return fs.SkipDir
			}
			if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") || d.Name() == "checksums.txt" {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(root(), path)
			if err != nil {
				return err
			}
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, rel)), 0o755); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, rel), text, info.Mode().Perm())
		})
		if err != nil {
			return "", err
		}
	}
	return dir, nil
}

// alone is how a program is kept off every network, where this process may: no
// test needs one, and none would get through.
var alone = sync.OnceValue(func() []string {
	if os.Geteuid() == 0 && exec.Command("unshare", "-n", "true").Run() == nil {
		return []string{"unshare", "-n", "--"}
	}
	return nil
})

// token is what the runner gives the jobs. It must be seen nowhere, and act is
// told not to hide it.
const token = "ghs_0123456789TheTokenOfTheTests9876543210"

// recorder is a folder with a program for each role that runs the role's binary
// and keeps a copy of what it printed: of a step that fails, act can lose the end.
var recorder = sync.OnceValues(func() (string, error) {
	bin, err := built()
	if err != nil {
		return "", err
	}
	dir := filepath.Join(scratch, "recorder")
	script := "#!/bin/sh\nrole=${0##*/}\nprinted=$('" + bin + "'/\"$role\" \"$@\" 2>&1)\ncode=$?\n" +
		"printf '%s\\n' \"$printed\" | tee -a \"$RECORDS/$GITHUB_JOB,${CASE:-},$role\"\nexit $code\n"
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	for _, r := range theMatrix().Actions {
		if err := os.WriteFile(filepath.Join(dir, r.Name), []byte(script), 0o755); err != nil {
			return "", err
		}
	}
	return dir, nil
})

// consumer is a repository that uses the actions, with a bare repository as the
// remote that holds its ledgers.
type consumer struct {
	dir       string // workspace
	remote    string
	artifacts string
	home      string
	records   string // of what the roles printed
	event     string
	path      []string // folders before those of PATH
	server    string   // with a slash; "" is GitHub
	suite     string   // the actions; "" is suite, which is no release
}

func newConsumer(t testing.TB) *consumer {
	t.Helper()
	dir := t.TempDir()
	t.Cleanup(func() { removeAll(dir) })
	c := &consumer{filepath.Join(dir, "workspace"), filepath.Join(dir, "remote.git"), filepath.Join(dir, "artifacts"), filepath.Join(dir, "home"), filepath.Join(dir, "records"), "workflow_dispatch", nil, "", ""}
	for _, folder := range []string{c.dir, c.artifacts, c.home, c.records} {
		if err := os.Mkdir(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	command(t, dir, "git", "init", "-q", "--bare", "-b", "main", c.remote)
	for _, name := range []string{"agent.mjs", "tamper.mjs", "race.sh"} {
		write(t, filepath.Join(c.dir, name), read(t, "testdata", "act", name))
	}
	if err := os.Chmod(filepath.Join(c.dir, "race.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	return c
}

// commit makes the workspace a repository, as the checkout finds it.
func (c *consumer) commit(t testing.TB) {
	t.Helper()
	command(t, c.dir, "git", "init", "-q", "-b", "main")
	command(t, c.dir, "git", "add", "-A")
	command(t, c.dir, "git", "commit", "-q", "-m", "consumer")
	command(t, c.dir, "git", "remote", "add", "origin", "https://github.com/octo/consumer.git")
}

// act runs a workflow of testdata/workflows in the consumer's repository, with
// the payload of its event.
func (c *consumer) act(t testing.TB, workflow, payload string, more ...string) run {
	t.Helper()
	return c.run(t, workflow, read(t, "testdata", "workflows", workflow), payload, more...)
}

// run runs any workflow.
func (c *consumer) run(t testing.TB, workflow, text, payload string, more ...string) run {
	t.Helper()
	act, err := actTool()
	if err != nil {
		t.Fatal(err)
	}
	ours, err := c.suite, error(nil)
	if ours == "" {
		ours, err = suite()
	}
	if err != nil {
		t.Fatal(err)
	}
	roles, err := recorder()
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(c.dir, ".github", "workflows", workflow), text)
	if _, err := os.Stat(filepath.Join(c.dir, ".git")); err != nil {
		c.commit(t)
	}
	file := filepath.Join(c.home, "event.json")
	write(t, file, payload)
	doubles := filepath.Join(root(), "testdata", "act")
	var args []string
	if c.server == "" {
		args = slices.Clone(alone())
	}
	args = append(args, act, c.event, "--json", "-W", filepath.Join(".github", "workflows", workflow), "-e", file,
		"-P", "ubuntu-latest=-self-hosted", "--no-cache-server", "--rm", "--insecure-secrets", "-s", "GITHUB_TOKEN="+token,
		"--env", "STUB_ARTIFACTS="+c.artifacts, "--env", "RECORDS="+c.records, "--env", "GITHUB_RUN_ID=42",
		"--var", "LEDGER_BIN="+roles, "--var", "LEDGER_REMOTE="+c.remote)
	for _, local := range [][2]string{
		{"OWNER/ledger@v1", ours}, {strings.TrimPrefix(module, "github.com/") + "@v1", ours},
		{"actions/upload-artifact@" + pins["actions/upload-artifact"], filepath.Join(doubles, "upload-artifact")},
		{"actions/download-artifact@" + pins["actions/download-artifact"], filepath.Join(doubles, "download-artifact")},
	} {
		args = append(args, "--local-repository", c.server+local[0]+"="+local[1])
	}
	if c.server != "" {
		args = append(args, "--env", "GITHUB_SERVER_URL="+strings.TrimSuffix(c.server, "/"))
	}
	cmd := exec.Command(args[0], append(args[1:], more...)...)
	cmd.Dir = c.dir
	cmd.Env = []string{"PATH=" + strings.Join(append(c.path, os.Getenv("PATH")), string(os.PathListSeparator)), "HOME=" + c.home, "TMPDIR=" + os.TempDir()}
	var stderr bytes.Buffer
	var stdout stamped
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	out := stdout.text
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	r := run{code: cmd.ProcessState.ExitCode(), log: string(out) + stderr.String()}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 8<<20)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatalf("act printed what is no event: %v: %s", err, lines.Bytes())
		}
		e.At = stdout.times[len(r.events)]
		r.events = append(r.events, e)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(r.log, token) {
		t.Errorf("the token stands in the log")
	}
	if len(r.events) == 0 {
		t.Fatalf("act ran nothing:\n%s", stderr.String())
	}
	return r
}

// printed is what a role printed in a job, for the CASE that the job has in its
// environment; "" when it did not run there.
func (c *consumer) printed(t *testing.T, job, of, role string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(c.records, job+","+of+","+role))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return string(text)
}

// ledger runs the operator's command line on the consumer's remote.
func (c *consumer) ledger(t *testing.T, args ...string) string {
	t.Helper()
	return command(t, c.dir, binary(t, "ledger"), append(args, "--remote", c.remote, "--ledger", "memory")...)
}

// head is the commit that a branch of the remote stands at, "" without one.
func (c *consumer) head(t *testing.T, branch string) string {
	t.Helper()
	return strings.TrimSpace(command(t, c.remote, "git", "for-each-ref", "--format=%(objectname)", "refs/heads/"+branch))
}

// files are the paths that a branch of the remote holds.
func (c *consumer) files(t *testing.T, branch string) []string {
	t.Helper()
	return strings.Fields(command(t, c.remote, "git", "ls-tree", "-r", "--name-only", "refs/heads/"+branch))
}

// history is all that the remote holds, as text.
func (c *consumer) history(t *testing.T) string {
	t.Helper()
	return command(t, c.remote, "git", "log", "--all", "--patch", "--format=raw", "--text")
}

// seed makes a branch of the remote with these files, and returns its head.
func (c *consumer) seed(t *testing.T, branch string, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for path, text := range files {
		write(t, filepath.Join(dir, path), text)
	}
	command(t, dir, "git", "init", "-q", "-b", "seed")
	command(t, dir, "git", "add", "-A")
	command(t, dir, "git", "-c", "core.autocrlf=false", "commit", "-q", "-m", "seed")
	command(t, dir, "git", "push", "-q", c.remote, "HEAD:refs/heads/"+branch)
	return c.head(t, branch)
}
