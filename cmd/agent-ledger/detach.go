package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/regular"
)

const (
	// startTime is how long the server may take to open its ledger and listen; the
	// largest ledger takes some seconds.
	startTime = time.Minute
	// maxReadyLine bounds the line in which it says where it listens.
	maxReadyLine = 512
	// maxServerLog bounds what is read of the server's log to say why it failed.
	maxServerLog = 64 << 10
)

// inherited are the variables that the detached server gets of the step's. With
// RUNNER_TRACKING_ID the runner finds it when the job ends, and ends it; the others
// are what the system itself needs.
var inherited = []string{"RUNNER_TRACKING_ID", "SYSTEMROOT", "TMPDIR", "TMP", "TEMP"}

// logPath is where the detached server of the folder dir writes what went wrong.
func logPath(dir string) string { return filepath.Clean(dir) + ".server.log" }

// detached is a server that outlives this process.
type detached struct {
	process    *os.Process
	url, token string
}

// detach starts a server of the folder over HTTP that the step leaves behind, and
// returns once it listens. It has a session of its own, none of this process's
// files, and of its environment only what it needs.
func detach(ctx context.Context, a *action.Action, dir string) (*detached, error) {
	token, err := accessToken(a, dir)
	if err != nil {
		return nil, err
	}
	a.AddMask(token)
	self, err := os.Executable()
	if err != nil {
		return nil, errors.New("failed to find out where this program stands")
	}
	log, err := os.OpenFile(logPath(dir), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, errors.New("failed to make the log of the server")
	}
	defer log.Close()
	command := exec.Command(self, "serve")
	command.Dir, command.Stderr, command.SysProcAttr = filepath.Dir(dir), log, ofItsOwn()
	for name, value := range serveEnv(a, dir) {
		command.Env = append(command.Env, name+"="+value)
	}
	for _, in := range inputsTransport {
		if in.Kind != action.Secret { // it reads the token from its file
			command.Env = append(command.Env, in.Variable()+"="+a.GetInput(in.Name))
		}
	}
	for _, name := range inherited {
		if value := a.Getenv(name); value != "" {
			command.Env = append(command.Env, name+"="+value)
		}
	}
	out, err := command.StdoutPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		return nil, errors.New("the server cannot be started")
	}
	kill := func() { _ = command.Process.Kill() }
	defer context.AfterFunc(ctx, kill)()
	defer time.AfterFunc(startTime, kill).Stop()

	line, err := bufio.NewReader(io.LimitReader(out, maxReadyLine)).ReadBytes('\n')
	var ready struct {
		URL string `json:"url"`
	}
	if err == nil {
		err = canonical.Decode(line, &ready)
	}
	if err != nil || ready.URL == "" {
		kill()
		_ = command.Wait()
		return nil, fmt.Errorf("the server did not start: %s", whyNot(dir))
	}
	_ = out.Close()
	return &detached{command.Process, ready.URL, token}, nil
}

// whyNot is the last line that the server printed.
func whyNot(dir string) string {
	text, err := regular.ReadFile(logPath(dir), maxServerLog)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if last := lines[len(lines)-1]; err == nil && last != "" {
		return strings.TrimPrefix(last, role.Name+": ")
	}
	return "it said nothing within " + strconv.Itoa(int(startTime.Seconds())) + " seconds"
}

func (d *detached) kill() { _ = d.process.Kill() }

// report sets what clients need to reach the server; without one all of it is
// empty.
func (d *detached) report(a *action.Action, dir string) {
	var url, token, file string
	if d != nil {
		url, token, file = d.url, d.token, tokenPath(dir)
	}
	a.SetOutput("url", url)
	a.SetOutput("access-token", token)
	a.SetOutput("access-token-file", file)
}
