package script

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func init() { helpers["loop"] = loopHelper }

// loopHelper runs an endless script, prints the id of its process once node has
// taken it over, and stays until it is killed.
func loopHelper() int {
	go func() {
		b := sandbox{node: os.Getenv("LEDGER_TEST_NODE"), mode: decodeMode(os.Getenv("LEDGER_TEST_MODE")), flags: []string{"--input-type=commonjs"}}
		b.run(context.Background(), "process.title = 'endless'; for (;;);", nil, MaxTimeout)
		os.Exit(1)
	}()
	for {
		stats, _ := filepath.Glob("/proc/[0-9]*/stat")
		for _, path := range stats {
			text, _ := os.ReadFile(path)
			// pid (name) state ppid …
			head, rest, _ := strings.Cut(string(text), " (endless) ")
			if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == strconv.Itoa(os.Getpid()) {
				fmt.Println(head)
				select {}
			}
		}
	}
}

func TestAScriptDiesWithItsParent(t *testing.T) {
	for _, m := range layers(t) {
		t.Run(m.String(), func(t *testing.T) {
			cmd := exec.Command("/proc/self/exe")
			cmd.Env = []string{helperVariable + "=loop", "LEDGER_TEST_NODE=" + testNode(t), "LEDGER_TEST_MODE=" + m.encode()}
			stdout, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(stdout).ReadString('\n')
			if err != nil {
				cmd.Process.Kill()
				t.Fatal("the script did not start")
			}
			child, err := strconv.Atoi(strings.TrimSpace(line))
			if err != nil {
				t.Fatal(err)
			}
			fd, err := unix.PidfdOpen(child, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer unix.Close(fd)
			cmd.Process.Kill()
			cmd.Wait()
			poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
			for {
				n, err := unix.Poll(poll, int(time.Minute/time.Millisecond))
				if err == unix.EINTR {
					continue
				}
				if err != nil || n != 1 {
					unix.Kill(child, unix.SIGKILL)
					t.Fatalf("the script outlived its parent (%v)", err)
				}
				return
			}
		})
	}
}

func TestTheStrongestLayersThatThisMachineOffersAreUsed(t *testing.T) {
	report, err := Validate(context.Background(), patient(t), []byte("1"), ValidationInput{})
	if want := layers(t)[0].notices(); err != nil || !slices.Equal(report.Notices, want) {
		t.Fatalf("got %q, %v; want %q", report.Notices, err, want)
	}
	o := patient(t)
	o.modes = []mode{{filter: true}}
	report, err = Validate(context.Background(), o, []byte("1"), ValidationInput{})
	if err != nil || len(report.Notices) != 2 {
		t.Fatalf("got %q, %v; want a notice for each layer that is missing", report.Notices, err)
	}
}

func TestTheCanaryRunsOnceForAnExecutableAndItsLayers(t *testing.T) {
	running.Lock()
	before := known
	known = make(map[string]sandbox)
	running.Unlock()
	defer func() {
		running.Lock()
		known = before
		running.Unlock()
	}()
	o := patient(t)
	run := func() string {
		t.Helper()
		report, err := Validate(context.Background(), o, []byte("1"), ValidationInput{})
		if err != nil {
			t.Fatal(err)
		}
		return report.Node
	}
	run()
	running.Lock()
	for key, box := range known {
		box.version.patch += 1000
		known[key] = box
	}
	running.Unlock()
	if got := run(); len(got) < len("v20.0.1000") {
		t.Fatalf("got %s: the canary ran again", got)
	}
	o.modes = []mode{{filter: true}}
	if got := run(); len(got) >= len("v20.0.1000") {
		t.Fatalf("got %s: other layers had no canary", got)
	}
}

func TestAScriptDoesNotRunUnlessItsCanaryIsStopped(t *testing.T) {
	none := box(t, mode{}, true)
	for _, c := range []struct {
		name  string
		modes []mode
		says  string
	}{
		{"no layer of the kernel", []mode{{}}, "signal the parent"},
		{"no layer at all", []mode{}, "could not be set up"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := patient(t)
			o.modes = c.modes
			_, err := Validate(context.Background(), o, []byte("1"), ValidationInput{})
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("got %v, want an error with %q", err, c.says)
			}
		})
	}
	for _, c := range []struct {
		name  string
		flags []string
		says  []string
	}{
		{"no permission model", []string{"--input-type=commonjs"}, []string{"read a file", "write a file", "spawn a process", "start a thread", "signal the parent"}},
		{"a flag that node does not know", append([]string{"--permissions-of-tomorrow"}, none.flags...), []string{"node does not run in it"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			running.Lock()
			defer running.Unlock()
			b := none
			b.flags = c.flags
			err := b.canary(context.Background())
			for _, says := range c.says {
				if err == nil || !strings.Contains(err.Error(), says) {
					t.Errorf("got %v, want an error with %q", err, says)
				}
			}
		})
	}
}
