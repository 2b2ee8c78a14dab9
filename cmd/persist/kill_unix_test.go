//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/repo-memory/ledger/pkg/branch"
	"github.com/repo-memory/ledger/pkg/ledger"
)

// git runs the command line in a repository.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd, clean, err := branch.Command(t.Context(), append([]string{"-C", dir}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	defer clean()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// asRole returns this test's program as the role, on a staging.
func asRole(t *testing.T, remote, dir string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Args[0] = "persist"
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir(), "INPUT_REMOTE=" + remote, "INPUT_DIRECTORY=" + dir, "GORACE=" + noWait}
	return cmd
}

// TestKilledAtAnyMomentItLeavesNothingUnreadableAndARerunCompletes kills eight
// runs that race each other, each again and again at random moments, and lets
// each end at last.
func TestKilledAtAnyMomentItLeavesNothingUnreadableAndARerunCompletes(t *testing.T) {
	const writers, each, kills = 8, 25, 5
	remote := filepath.Join(t.TempDir(), "remote.git")
	git(t, t.TempDir(), "init", "-q", "--bare", remote)
	var (
		want  []ledger.Hash
		dirs  []string
		group sync.WaitGroup
	)
	for i := range writers {
		name := filepath.Join(t.TempDir(), fmt.Sprint("writer", i))
		shas, err := stage(name, remote, each)
		if err != nil {
			t.Fatal(err)
		}
		want, dirs = append(want, shas...), append(dirs, filepath.Join(name, "memory"))
	}
	for i, dir := range dirs {
		random := rand.New(rand.NewPCG(uint64(i), 3))
		group.Go(func() {
			for range kills {
				cmd := asRole(t, remote, dir)
				if err := cmd.Start(); err != nil {
					t.Error(err)
					return
				}
				timer := time.AfterFunc(time.Duration(random.IntN(200))*time.Millisecond, func() { _ = cmd.Process.Kill() })
				_ = cmd.Wait()
				timer.Stop()
			}
			cmd := asRole(t, remote, dir)
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Run(); err != nil {
				t.Errorf("the last run of %d: %v\n%s", i, err, out.String())
			}
		})
	}
	group.Wait()
	git(t, remote, "fsck", "--full", "--strict")
	location, err := branch.ParseRemote(remote, "", "")
	if err != nil {
		t.Fatal(err)
	}
	snap, err := branch.Read(context.Background(), location, "ledgers/memory", branch.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	l := ledger.OpenSnapshot(snap, ledger.DefaultLimits())
	stored := 0
	for path, content := range snap.Files {
		if strings.HasPrefix(path, ledger.ShardDir) {
			stored += bytes.Count(content, []byte("\n"))
		}
	}
	if d := l.Diagnostics(); len(d) != 0 || l.Len() != len(want) || stored != len(want) {
		t.Errorf("%d records in %d lines, want %d; diagnostics %v", l.Len(), stored, len(want), d)
	}
	for _, sha := range want {
		if !l.Has(sha) {
			t.Errorf("record %s is lost", sha)
		}
	}
}
