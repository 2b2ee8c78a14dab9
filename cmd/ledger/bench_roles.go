package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/repo-memory/ledger/pkg/branch"
	"github.com/repo-memory/ledger/pkg/ledger"
)

const (
	serveRuns      = 11
	persistRuns    = 5
	persistRecords = 50
)

// serving measures how long a server takes from its start to its answer to
// initialize, on an empty ledger.
func (b *bench) serving() error {
	shop, err := newWorkshop(b.ctx, b.dir, "agent-ledger", "persist")
	if err != nil {
		return err
	}
	b.shop = shop
	dir, err := b.folder("serve/memory")
	if err != nil {
		return err
	}
	var times []time.Duration
	for range serveRuns {
		d, err := timed(func() error { return b.initialize(dir) })
		if err != nil {
			return err
		}
		times = append(times, d)
	}
	b.within("serve: process start to the answer to initialize", median(times), 20)
	return nil
}

func (b *bench) initialize(dir string) error {
	serve := exec.CommandContext(b.ctx, b.shop.binary("agent-ledger"), "serve")
	serve.Env = []string{"INPUT_DIRECTORY=" + dir}
	in, err := serve.StdinPipe()
	if err != nil {
		return err
	}
	out, err := serve.StdoutPipe()
	if err != nil {
		return err
	}
	if err := serve.Start(); err != nil {
		return err
	}
	fmt.Fprintln(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err == nil && !strings.Contains(line, `"serverInfo"`) {
		err = errors.New("the server did not answer initialize")
	}
	in.Close()
	go func() { _ = serve.Wait() }()
	return err
}

// persisting measures publishing records onto a large branch, against what git
// itself needs for a fetch, a commit without a checkout, and a push.
func (b *bench) persisting() error {
	snap, err := b.fixture.snapshot(b.records, b.limits, b.fixture.text)
	if err != nil {
		return err
	}
	remote := filepath.Join(b.dir, "remote.git")
	if err := b.publish(snap, remote); err != nil {
		return err
	}
	var ours, plain []time.Duration
	for i := range persistRuns {
		took, err := b.persist(remote, i)
		if err != nil {
			return err
		}
		ours = append(ours, took)
		if took, err = b.plainGit(remote, i); err != nil {
			return err
		}
		plain = append(plain, took)
	}
	b.against(fmt.Sprintf("persist %d records onto %d / git fetch, commit, push", persistRecords, b.records), median(ours), median(plain), 1.5)
	return nil
}

// git runs a git command in a repository without anybody's configuration.
func (b *bench) git(repository string, args ...string) (string, error) {
	command, clean, err := branch.Command(b.ctx, append([]string{"-C", repository}, args...)...)
	if err != nil {
		return "", err
	}
	defer clean()
	command.Env = append(command.Env, "GIT_AUTHOR_NAME=bench", "GIT_AUTHOR_EMAIL=bench@localhost", "GIT_COMMITTER_NAME=bench", "GIT_COMMITTER_EMAIL=bench@localhost")
	out, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("git %s failed: %w", args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}

// publish makes a bare repository whose branch holds the snapshot.
func (b *bench) publish(snap ledger.Snapshot, remote string) error {
	work, err := b.folder("work")
	if err != nil {
		return err
	}
	defer removeAll(work)
	if err := write(snap, work); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"init", "-q", "--bare", remote}, {"init", "-q", "-b", "ledgers/memory"}, {"add", "-A"}, {"commit", "-q", "-m", "ledger"},
		{"push", "-q", remote, "ledgers/memory"},
	} {
		if _, err := b.git(work, args...); err != nil {
			return err
		}
	}
	_, err = b.git(remote, "gc", "-q")
	return err
}

// persist stages records as an agent does, and times the role that publishes
// them.
func (b *bench) persist(remote string, run int) (time.Duration, error) {
	j, err := b.shop.job("bench", fmt.Sprint(run))
	if err != nil {
		return 0, err
	}
	defer removeAll(j.temp)
	setup, err := j.do("agent-ledger", []string{"setup"}, map[string]string{"remote": remote})
	if err != nil {
		return 0, err
	}
	dir := setup.outputs["directory"]
	w, err := ledger.NewWriter(dir, b.limits, ledger.WriterOptions{})
	if err != nil {
		return 0, err
	}
	for i := range persistRecords {
		if _, err := w.Append("note", b.fixture.text(i)); err != nil {
			return 0, err
		}
	}
	if err := w.Close(); err != nil {
		return 0, err
	}
	var s step
	took, err := timed(func() error {
		s, err = j.do("persist", nil, map[string]string{"remote": remote, "directory": dir, "base-commit": setup.outputs["base-commit"]})
		return err
	})
	if err != nil {
		return 0, err
	}
	return took, expect("the number of records published", s.outputs["accepted"], persistRecords)
}

// plainGit does the least that git needs for one more file on the branch.
func (b *bench) plainGit(remote string, run int) (time.Duration, error) {
	clone, err := b.folder("clone")
	if err != nil {
		return 0, err
	}
	defer removeAll(clone)
	if _, err := b.git(clone, "init", "-q"); err != nil {
		return 0, err
	}
	file := filepath.Join(clone, "shard")
	var content []byte
	for i := range persistRecords {
		content = append(append(content, b.fixture.text(i)...), make([]byte, 240)...)
	}
	if err := os.WriteFile(file, content, 0o644); err != nil {
		return 0, err
	}
	return timed(func() error {
		if _, err := b.git(clone, "fetch", "-q", "--depth", "1", remote, "ledgers/memory"); err != nil {
			return err
		}
		if _, err := b.git(clone, "read-tree", "FETCH_HEAD"); err != nil {
			return err
		}
		blob, err := b.git(clone, "hash-object", "-w", file)
		if err != nil {
			return err
		}
		if _, err := b.git(clone, "update-index", "--add", "--cacheinfo", "100644,"+blob+fmt.Sprintf(",bench-%d", run)); err != nil {
			return err
		}
		tree, err := b.git(clone, "write-tree")
		if err != nil {
			return err
		}
		commit, err := b.git(clone, "commit-tree", "-p", "FETCH_HEAD", "-m", "bench", tree)
		if err != nil {
			return err
		}
		_, err = b.git(clone, "push", "-q", remote, commit+":refs/heads/ledgers/memory")
		return err
	})
}
