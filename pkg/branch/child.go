package branch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// Command is a git child that no configuration outside the repository it
// serves can reach: its environment holds PATH (and on Windows what processes
// need to start), the C locale, an empty home directory, and git's switches
// against system and global configuration, system attributes and prompts.
// Nothing named GIT_* is inherited, so neither are tokens, askpass programs,
// repository redirections or configuration from the environment. When ctx ends
// the child is asked to stop and then killed. The returned function removes
// the home; call it once the child has ended.
func Command(ctx context.Context, args ...string) (*exec.Cmd, func(), error) {
	git, err := exec.LookPath("git")
	if err != nil {
		return nil, nil, fmt.Errorf("%w: no usable git on PATH: install git", ErrUnavailable)
	}
	home, err := os.MkdirTemp("", "ledger-home-")
	if err != nil {
		return nil, nil, fmt.Errorf("%w: no temporary directory for git can be made", ErrUnavailable)
	}
	cmd := exec.CommandContext(ctx, git, args...)
	cmd.Env = environment(home)
	cmd.Dir = home
	cmd.WaitDelay = childGrace
	cmd.Cancel = func() error {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return cmd.Process.Kill()
		}
		return nil
	}
	return cmd, func() { os.RemoveAll(home) }, nil
}

func environment(home string) []string {
	env := []string{
		"HOME=" + home,
		"XDG_CONFIG_HOME=" + home,
		"LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_SYSTEM=" + os.DevNull,
		"GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_ATTR_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0",
	}
	inherit := []string{"PATH"}
	if runtime.GOOS == "windows" {
		env = append(env, "USERPROFILE="+home)
		inherit = append(inherit, "SystemRoot", "SystemDrive", "PATHEXT", "TEMP", "TMP")
	}
	for _, name := range inherit {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// firstBytes keeps the beginning of what is written to it: a child's complaint,
// the head of a stream.
type firstBytes struct {
	limit int
	text  []byte
}

func (f *firstBytes) Write(p []byte) (int, error) {
	if room := f.limit - len(f.text); room > 0 {
		f.text = append(f.text, p[:min(room, len(p))]...)
	}
	return len(p), nil
}
