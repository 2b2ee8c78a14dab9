// Package actions_test keeps the composite actions, their READMEs, the action
// matrix and the workflows true: it compares them with the binaries, and runs
// them as a consumer would, with act in host mode and a bare repository as the
// remote. It builds what it needs; a missing tool is a failure.
package actions_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"
)

// update rewrites the generated parts of action.yml and README.md:
// go test ./actions -run Generated -update
var update = flag.Bool("update", false, "rewrite the generated parts of action.yml and README.md")

// scratch is removed when the tests end.
var scratch string

func TestMain(m *testing.M) {
	flag.Parse()
	var err error
	if scratch, err = os.MkdirTemp("", "ledger-actions-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	removeAll(scratch)
	os.Exit(code)
}

// removeAll removes a folder, read-only ones below it included.
func removeAll(dir string) {
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	_ = os.RemoveAll(dir)
}

// root is the folder of the module.
var root = sync.OnceValue(func() string {
	dir, err := filepath.Abs("..")
	if err != nil {
		panic(err)
	}
	return dir
})

// row is one action of action-matrix.yml.
type row struct {
	Name        string            `yaml:"name"`
	Binary      string            `yaml:"binary"`
	Job         string            `yaml:"job"`
	Trust       string            `yaml:"trust"`
	Permissions map[string]string `yaml:"permissions"`
	OwnJob      bool              `yaml:"own-job"`
	NeverLinks  []string          `yaml:"never-links"`
}

type matrix struct {
	Actions   []row `yaml:"actions"`
	Platforms []struct {
		OS   string `yaml:"os"`
		Arch string `yaml:"arch"`
	} `yaml:"platforms"`
}

// theMatrix reads action-matrix.yml; an unknown key is an error.
var theMatrix = sync.OnceValue(func() matrix {
	var m matrix
	text, err := os.ReadFile(filepath.Join(root(), "action-matrix.yml"))
	if err == nil {
		d := yaml.NewDecoder(bytes.NewReader(text))
		d.KnownFields(true)
		err = d.Decode(&m)
	}
	if err != nil || len(m.Actions) == 0 {
		panic(fmt.Sprintf("action-matrix.yml: %v", err))
	}
	return m
})

func rowOf(name string) (row, bool) {
	for _, r := range theMatrix().Actions {
		if r.Name == name {
			return r, true
		}
	}
	return row{}, false
}

// built is the folder with the binaries of all roles and of cmd/ledger.
var built = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(scratch, "the bin") // a space in a path is ordinary
	args := []string{"build", "-o", dir + string(filepath.Separator), "./cmd/ledger"}
	for _, r := range theMatrix().Actions {
		args = append(args, "./"+r.Binary)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = root(), append(os.Environ(), "CGO_ENABLED=0")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return dir, nil
})

func binaries(t testing.TB) string {
	t.Helper()
	dir, err := built()
	if err != nil {
		t.Fatalf("the binaries cannot be built: %v", err)
	}
	return dir
}

func binary(t testing.TB, name string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(binaries(t), name)
}

// tool returns the path of a tool of .github/tools, which Go builds once and
// keeps in its cache.
func tool(name string) (string, error) {
	cmd := exec.Command("go", "-C", filepath.Join(root(), ".github", "tools"), "tool", "-n", name)
	cmd.Env = append(os.Environ(), "GOFLAGS=")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s cannot be built from .github/tools: %w\n%s", name, err, stderr.Bytes())
	}
	return strings.TrimSpace(string(out)), nil
}

var actTool = sync.OnceValues(func() (string, error) { return tool("act") })

// command runs a program and returns its output; a failure is the test's.
func command(t testing.TB, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.org", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.org")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", filepath.Base(name), strings.Join(args, " "), err, out)
	}
	return string(out)
}

// read returns a file of the module.
func read(t testing.TB, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{root()}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
