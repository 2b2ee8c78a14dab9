package script

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func supported() error { return nil }

// run starts program in b, hands it stdin and waits for its end. An error means
// that the process did not start, or that ctx ended; a program that fails is an
// outcome.
func (b sandbox) run(ctx context.Context, program string, stdin []byte, timeout time.Duration) (outcome, error) {
	// The kernel sends the death signal when the thread that started the child
	// ends, so the thread has to stay.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	var out outcome
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var flooded, tampered atomic.Bool
	printed := &shared{over: func() { flooded.Store(true); cancel() }}
	result := counter{keep: maxResultBytes, limit: maxResultBytes, over: func() { tampered.Store(true); cancel() }}

	cmd := exec.CommandContext(limited, "/proc/self/exe")
	cmd.Args = append([]string{launcherName, b.mode.encode(), strconv.Itoa(cpuSeconds(timeout)), b.node}, b.flags...)
	cmd.Args = append(cmd.Args, "-e", program)
	cmd.Env, cmd.Dir = []string{}, "/"
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = printed, printed, drainTimeout
	cmd.SysProcAttr = b.mode.attributes()
	cmd.Cancel = func() error { return killGroup(cmd.Process.Pid) }
	read, write, err := os.Pipe()
	if err != nil {
		return out, fmt.Errorf("%w: no pipe for the result", errSetup)
	}
	defer read.Close()
	cmd.ExtraFiles = []*os.File{write}
	input, err := cmd.StdinPipe()
	if err != nil {
		write.Close()
		return out, fmt.Errorf("%w: no pipe for the input", errSetup)
	}
	err = cmd.Start()
	write.Close()
	if err != nil {
		input.Close()
		return out, fmt.Errorf("%w: no process in these namespaces", errSetup)
	}
	// Until stdin arrives the child is our own program and waits, so nothing of the
	// script runs before this process is closed. (It must be open until then: the
	// user namespace is mapped through /proc/<child>, which shares the setting.)
	defer closeToInspection()()
	go func() {
		input.Write(stdin) // a script that ends early does not read it all
		input.Close()
	}()
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		io.Copy(&result, read)
	}()

	awaitExit(cmd.Process.Pid)
	killGroup(cmd.Process.Pid) // before the leader is reaped, so that its number is still ours
	waitErr := cmd.Wait()
	read.SetReadDeadline(time.Now().Add(drainTimeout))
	<-drained

	out.result, out.printed = result.kept, printed.n.Load()
	out.flooded, out.tampered = flooded.Load(), tampered.Load()
	switch {
	case out.flooded || out.tampered:
	case ctx.Err() != nil:
		return out, fmt.Errorf("stopped: %w", ctx.Err())
	case limited.Err() != nil:
		out.late = true
	case errors.Is(waitErr, exec.ErrWaitDelay):
		out.late = true
	}
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if out.code = status.ExitStatus(); status.Signaled() {
		out.code = 128 + int(status.Signal())
	}
	return out, nil
}

// attributes ask for the namespaces and tie the child's life to ours.
func (m mode) attributes() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if m.namespaces {
		attr.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC | unix.CLONE_NEWNS
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	return attr
}

// closeToInspection keeps other processes of this user from reading the memory
// and the environment of this one until the returned function is called.
func closeToInspection() func() {
	before, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	return func() {
		if err == nil {
			unix.Prctl(unix.PR_SET_DUMPABLE, uintptr(before), 0, 0, 0)
		}
	}
}

func killGroup(leader int) error {
	err := unix.Kill(-leader, unix.SIGKILL)
	if err == unix.ESRCH {
		return os.ErrProcessDone
	}
	return err
}

// awaitExit returns when the process has ended, and leaves it to be reaped.
func awaitExit(pid int) {
	for unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

// cpuSeconds bounds processor time over all threads. It only matters when the
// parent is gone, so it is generous.
func cpuSeconds(timeout time.Duration) int { return 10 + 4*int(timeout/time.Second) }

// shared counts both output streams together.
type shared struct {
	n    atomic.Int64
	over func()
}

func (s *shared) Write(p []byte) (int, error) {
	if s.n.Add(int64(len(p))) > maxPrintedBytes {
		s.over()
		return 0, errors.New("too much output")
	}
	return len(p), nil
}
