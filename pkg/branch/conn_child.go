package branch

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
)

// childWire is a conversation with a git child that serves a local path.
type childWire struct {
	cmd    *exec.Cmd
	clean  func()
	stdin  io.WriteCloser
	stdout *bufio.Reader
	stderr *firstBytes
	once   sync.Once
	result error
}

func newChildWire(ctx context.Context, r Remote, service string) (*childWire, error) {
	if _, err := os.Stat(r.URL); err != nil {
		return nil, fmt.Errorf("%w: there is nothing at the remote's path", ErrNotFound)
	}
	cmd, clean, err := Command(ctx, strings.TrimPrefix(service, "git-"), r.URL)
	if err != nil {
		return nil, err
	}
	w := &childWire{cmd: cmd, clean: clean, stderr: &firstBytes{limit: maxDiagnosticBytes}}
	cmd.Stderr = w.stderr
	stdin, err1 := cmd.StdinPipe()
	stdout, err2 := cmd.StdoutPipe()
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		clean()
		return nil, fmt.Errorf("%w: git cannot be started", ErrUnavailable)
	}
	w.stdin, w.stdout = stdin, bufio.NewReaderSize(stdout, 64<<10)
	return w, nil
}

func (w *childWire) advertisement(context.Context) (io.ReadCloser, error) {
	return io.NopCloser(w.stdout), nil
}

func (w *childWire) call(_ context.Context, request []byte) (io.ReadCloser, error) {
	// In a goroutine, because git may answer before it has read everything. A
	// failed write shows as an answer that ends early.
	go func() {
		w.stdin.Write(request)
		w.stdin.Close()
	}()
	return &childAnswer{w}, nil
}

// childAnswer waits, when it has been read to its end, for the child, whose exit
// tells whether it was satisfied.
type childAnswer struct{ w *childWire }

func (a *childAnswer) Read(p []byte) (int, error) { return a.w.stdout.Read(p) }

func (a *childAnswer) Close() error {
	io.Copy(io.Discard, io.LimitReader(a.w.stdout, maxAdvertisementBytes))
	return a.w.wait()
}

func (w *childWire) wait() error {
	w.once.Do(func() {
		w.stdin.Close()
		w.result = w.cmd.Wait()
		if errors.Is(w.result, exec.ErrWaitDelay) {
			w.result = nil // the child itself was satisfied; something it left behind holds a pipe
		}
		w.clean()
	})
	return w.result
}

// explain names why a child ended without an answer. What it wrote may hold
// paths, so it is recognized, never repeated.
func (w *childWire) explain(err error) error {
	status := w.wait()
	said := string(w.stderr.text)
	switch {
	case strings.Contains(said, "dubious ownership"):
		return fmt.Errorf("%w: git does not trust the repository at the remote's path, because another user owns it: run as that user", ErrUnauthorized)
	case strings.Contains(said, "not appear to be a git repository"), strings.Contains(said, "not a git repository"):
		return fmt.Errorf("%w: what is at the remote's path is not a git repository", ErrNotFound)
	case strings.Contains(said, "ermission denied"):
		return fmt.Errorf("%w: the remote's path may not be read", ErrUnauthorized)
	case status != nil:
		return fmt.Errorf("%w: git ended without an answer (%v)", ErrUnavailable, status)
	}
	return err
}

// close waits for a child whose context has ended.
func (w *childWire) close() {
	w.once.Do(func() {
		w.stdin.Close()
		w.result = w.cmd.Wait()
		w.clean()
	})
}
