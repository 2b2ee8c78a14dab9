package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// workshop runs the binaries of the roles as a workflow does, on a machine of
// its own: built once, with inputs as environment, outputs in a file, a runner's
// folders, and nothing of the environment that it was started in.
type workshop struct {
	ctx  context.Context
	dir  string // scratch
	bin  string // of the role binaries
	home string
}

// roles are the binaries that the demonstration and the measurements use.
var roles = []string{"agent-ledger", "txlog-merge", "ledger-mutation", "persist", "maintenance-plan", "maintenance-apply"}

// newWorkshop builds the roles from the source that this command was built from.
func newWorkshop(ctx context.Context, dir string, roles ...string) (*workshop, error) {
	w := &workshop{ctx: ctx, dir: dir, bin: filepath.Join(dir, "bin"), home: filepath.Join(dir, "home")}
	for _, folder := range []string{w.bin, w.home} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return nil, err
		}
	}
	source, err := moduleDir(ctx)
	if err != nil {
		return nil, err
	}
	args := []string{"build", "-C", source, "-o", w.bin + string(filepath.Separator)}
	for _, role := range roles {
		args = append(args, "./cmd/"+role)
	}
	build := exec.CommandContext(ctx, "go", args...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("failed to build the roles: %w\n%s", err, out)
	}
	return w, nil
}

// moduleDir returns the folder of this project's source.
func moduleDir(ctx context.Context) (string, error) {
	const module = "github.com/repo-memory/ledger"
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Path}} {{.Dir}}").Output()
	path, dir, ok := strings.Cut(strings.TrimSpace(string(out)), " ")
	if err != nil || !ok || path != module {
		return "", fmt.Errorf("run this in a clone of %s, with Go: it builds the roles from there", module)
	}
	return dir, nil
}

func (w *workshop) binary(role string) string {
	if runtime.GOOS == "windows" {
		role += ".exe"
	}
	return filepath.Join(w.bin, role)
}

// job is one job of a workflow run: its own temporary folder and identity.
type job struct {
	*workshop
	temp string
	run  string
}

func (w *workshop) job(name, run string) (*job, error) {
	j := &job{w, filepath.Join(w.dir, "run-"+run, name), run}
	return j, os.MkdirAll(j.temp, 0o755)
}

// environment returns the variables of a step.
func (j *job) environment(inputs map[string]string, more ...string) []string {
	env := append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + j.home, "RUNNER_TEMP=" + j.temp, "GITHUB_ACTIONS=true",
		"GITHUB_RUN_ID=" + j.run, "GITHUB_RUN_ATTEMPT=1", "GITHUB_WORKFLOW=demo", "GITHUB_REPOSITORY=octo/demo",
		"GITHUB_SERVER_URL=https://github.com",
	}, more...)
	if root := os.Getenv("SystemRoot"); root != "" {
		env = append(env, "SystemRoot="+root)
	}
	for name, value := range inputs {
		env = append(env, "INPUT_"+strings.ToUpper(strings.ReplaceAll(name, "-", "_"))+"="+value)
	}
	return env
}

// step is what a role did.
type step struct {
	exit    int
	outputs map[string]string
	summary string
	log     string
}

// do runs a role. An exit code other than those wanted (0 when none is given) is
// an error.
func (j *job) do(role string, args []string, inputs map[string]string, wanted ...int) (step, error) {
	files := map[string]string{}
	for _, name := range []string{"GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_ENV"} {
		f, err := os.CreateTemp(j.temp, strings.ToLower(name)+"-")
		if err != nil {
			return step{}, err
		}
		f.Close()
		defer os.Remove(f.Name())
		files[name] = f.Name()
	}
	command := exec.CommandContext(j.ctx, j.binary(role), args...)
	for name, file := range files {
		command.Env = append(command.Env, name+"="+file)
	}
	command.Env = append(command.Env, j.environment(inputs)...)
	command.Dir = j.temp
	var log bytes.Buffer
	command.Stdout, command.Stderr = &log, &log
	err := command.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return step{}, fmt.Errorf("failed to run %s: %w", role, err)
	}
	s := step{exit: command.ProcessState.ExitCode(), log: log.String()}
	if len(wanted) == 0 {
		wanted = []int{0}
	}
	ok := false
	for _, code := range wanted {
		ok = ok || code == s.exit
	}
	if !ok {
		return s, fmt.Errorf("%s ended with exit code %d:\n%s", role, s.exit, s.log)
	}
	outputs, err := os.ReadFile(files["GITHUB_OUTPUT"])
	if err != nil {
		return s, err
	}
	summary, err := os.ReadFile(files["GITHUB_STEP_SUMMARY"])
	s.outputs, s.summary = parseOutputs(string(outputs)), string(summary)
	return s, err
}

// parseOutputs reads a GITHUB_OUTPUT file as the runner does.
func parseOutputs(text string) map[string]string {
	outputs := map[string]string{}
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		if name, delimiter, ok := strings.Cut(lines[i], "<<"); ok && !strings.Contains(name, "=") {
			var value []string
			for i++; i < len(lines) && lines[i] != delimiter; i++ {
				value = append(value, lines[i])
			}
			outputs[name] = strings.Join(value, "\n")
		} else if name, value, ok := strings.Cut(lines[i], "="); ok {
			outputs[name] = value
		}
	}
	return outputs
}
