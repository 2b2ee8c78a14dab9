package publish

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/sideband"

	"github.com/repo-memory/ledger/pkg/branch"
	"github.com/repo-memory/ledger/pkg/github"
	"github.com/repo-memory/ledger/pkg/ledger"
)

// receivePack is the git service that takes objects.
const receivePack = "git-receive-pack"

// push is the way over git's own protocol.
type push struct {
	remote branch.Remote
	name   string
	now    func() time.Time
}

func (p *push) commit(ctx context.Context, tip *branch.Tip, change ledger.Change) (string, error) {
	id, made, ok, err := build(tip, change, p.now())
	if err != nil {
		return "", err
	}
	head := tip.Snapshot.Head
	if !ok {
		return head, nil
	}
	c, err := branch.Connect(ctx, p.remote, receivePack)
	if err != nil {
		return "", err
	}
	defer c.Close()
	// The server's own comparison is the guard; this one only saves sending.
	if now, err := c.Head(p.name); err != nil {
		return "", err
	} else if now != head {
		return "", fmt.Errorf("%w before the push", errMoved)
	}
	if !c.Supports("report-status") {
		return "", fmt.Errorf("%w: the server does not report what it did", ErrRejected)
	}
	// An old id of zero says that the branch must not exist.
	request, err := encode(c, &packp.Command{Name: plumbing.ReferenceName(branch.Ref(p.name)), Old: tip.Head(), New: id}, made)
	if err != nil {
		return "", err
	}
	private := github.Within(change.Add)
	if err := p.send(ctx, c, request, func(text string) string { return github.Redact(text, private) }); err != nil {
		return "", err
	}
	return id.String(), nil
}

// encode writes the update command and a pack with the new objects.
func encode(c *branch.Conn, command *packp.Command, made *objects) ([]byte, error) {
	req := packp.NewReferenceUpdateRequest()
	req.Commands = []*packp.Command{command}
	for _, name := range []capability.Capability{capability.ReportStatus, capability.Sideband64k, capability.Quiet} {
		if c.Supports(string(name)) {
			req.Capabilities.Set(name)
		}
	}
	if c.Supports("agent") {
		req.Capabilities.Set(capability.Agent, "git/repo-memory-ledger")
	}
	var b bytes.Buffer
	if err := req.Encode(&b); err != nil {
		return nil, fmt.Errorf("%w: the push cannot be encoded", ErrChange)
	}
	// A window of zero: no differences, whole objects.
	if _, err := packfile.NewEncoder(&b, made, false).Encode(made.order, 0); err != nil {
		return nil, fmt.Errorf("%w: the pack cannot be encoded", ErrChange)
	}
	return b.Bytes(), nil
}

// send makes the push and reads its report. From here on, an error that is not
// a plain refusal leaves open what the server did. hide takes out of what the
// server says what could be a secret.
func (p *push) send(ctx context.Context, c *branch.Conn, request []byte, hide func(string) string) error {
	in, err := c.Call(ctx, request, maxReportBytes)
	if err != nil {
		var status *branch.StatusError
		if errors.As(err, &status) && status.Code < 500 {
			return err // a refusal as a whole
		}
		return fmt.Errorf("%w: %w", errUnclear, err)
	}
	defer in.Close()
	report, talk := packp.NewReportStatus(), &talk{}
	var answer io.Reader = in
	if c.Supports("side-band-64k") {
		d := sideband.NewDemuxer(sideband.Sideband64k, in)
		d.Progress = talk
		answer = d
	}
	if err := report.Decode(answer); err != nil {
		return fmt.Errorf("%w: %s", errUnclear, branch.Printable(err.Error(), 200))
	}
	if report.UnpackStatus != "ok" {
		return fmt.Errorf("%w: the server could not unpack it: %s", errUnclear, branch.Printable(hide(report.UnpackStatus), 200))
	}
	for _, s := range report.CommandStatuses {
		if s.ReferenceName.String() == branch.Ref(p.name) {
			return refusal(s.Status, talk, hide)
		}
	}
	return fmt.Errorf("%w: the report does not name the branch", errUnclear)
}

// refusal reads the server's verdict on the branch. Most refusals mean that the
// branch moved, or that another push holds its lock; those that speak of a rule
// will not go away.
func refusal(status string, said *talk, hide func(string) string) error {
	if status == "ok" {
		return nil
	}
	why := branch.Printable(hide(status), 200)
	if strings.Contains(strings.ToLower(said.complaint()), "cannot lock ref") {
		why += ": another push, or one that was interrupted, holds the branch's lock"
	} else if line := said.complaint(); line != "" && !strings.Contains(line, "'/") {
		// A line with a path of the server's disk is for its owner's eyes.
		why += ": " + branch.Printable(hide(line), 300)
	}
	for _, word := range []string{"declined", "denied", "prohibited", "not allowed", "protected", "checked out", "funny refname", "rule violation"} {
		if strings.Contains(strings.ToLower(status), word) {
			return fmt.Errorf("%w: the server says %s", ErrRejected, why)
		}
	}
	return fmt.Errorf("%w: the server says %s", errMoved, why)
}

// talk keeps the beginning of what the server and its hooks print.
type talk struct{ text []byte }

func (t *talk) Write(p []byte) (int, error) {
	if room := maxTalkBytes - len(t.text); room > 0 {
		t.text = append(t.text, p[:min(room, len(p))]...)
	}
	return len(p), nil
}

// complaint is the first line that calls itself an error.
func (t *talk) complaint() string {
	for line := range strings.Lines(string(t.text)) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "error:") {
			return line
		}
	}
	return ""
}
