//go:build unix

package action

import (
	"bufio"
	"bytes"
	"syscall"
	"testing"
)

func TestASignalEndsTheRunWithOneLine(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		cmd := process(t, []string{"INPUT_REMOTE=/x", "INPUT_DIRECTORY=/x", "INPUT_STAGED_DIGEST=" + someDigest}, "wait")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if line, _ := bufio.NewReader(stdout).ReadString('\n'); line != "ready\n" {
			t.Errorf("said %q", line)
		}
		if err := cmd.Process.Signal(signal); err != nil {
			t.Error(err)
		}
		cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 1 || stderr.String() != "sample-role: stopped by a signal before it was done\n" {
			t.Errorf("%v: exit %d, %q", signal, code, stderr.String())
		}
	}
}
