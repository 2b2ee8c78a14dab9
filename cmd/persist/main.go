// Command persist publishes what an agent staged. It takes the whole staging
// directory for hostile: records pass the one admission and are written anew,
// memory files are judged by name, size and text, and what is left is one commit
// guarded by the head that it was made for (specification, sections 3, 5.5 and 8).
// It never compacts.
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/branch"
	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/persist"
	"github.com/repo-memory/ledger/pkg/publish"
	"github.com/repo-memory/ledger/pkg/script"
	"github.com/repo-memory/ledger/pkg/staging"
	"github.com/repo-memory/ledger/pkg/txlog"
)

func main() { action.Main(role, run) }

func run(ctx context.Context, a *action.Action) error {
	p, err := newPersister(ctx, a)
	if err != nil {
		return err
	}
	err = p.persist()
	p.tell(err)
	return err
}

// What the output persisted says.
const (
	persistedTrue  = "true"
	persistedNone  = "none"
	persistedFalse = "false"
)

// persister is one run of the role.
type persister struct {
	*action.Action
	ctx    context.Context
	remote branch.Remote
	dir    string
	base   string // commit that the staging was restored from, "" when unknown
	limits ledger.Limits
	files  persist.FileLimits
	script []byte // nil: none

	log      *txlog.Listing
	staged   *persist.Staged
	report   persist.Report
	update   publish.Result
	verdict  string // what the script gave as the reason of a rejection
	printed  int64  // bytes that the script printed
	outcome  string
	seen     ledger.Snapshot // the one that the last change was made for
	notified map[string]bool
}

func newPersister(ctx context.Context, a *action.Action) (*persister, error) {
	p := &persister{Action: a, ctx: ctx, dir: a.GetInput("directory"), base: a.GetInput("base-commit"), outcome: persistedFalse, notified: map[string]bool{}}
	var err error
	p.remote, err = branch.ParseRemote(a.GetInput("remote"), a.GetInput("token"), a.Getenv("GITHUB_SERVER_URL"))
	if err != nil {
		return nil, action.BadInput("remote", "%v", err)
	}
	if p.limits, err = ledger.ParseLimits(a.GetInput); err != nil {
		return nil, action.BadInput("max-record-kb", "%v", err)
	}
	p.files = persist.FileLimits{
		MaxFileBytes: a.BytesInput("max-file-kb"), MaxFiles: a.IntInput("max-file-count"), MaxPatchBytes: a.BytesInput("max-memory-patch-kb"),
		Extensions: a.ListInput("allowed-extensions"), Globs: a.ListInput("file-glob"),
	}
	if file := a.GetInput("validation-script"); file != "" {
		if p.script, err = script.ReadFile(file); err != nil {
			return nil, action.BadInput("validation-script", "%v", err)
		}
	}
	return p, nil
}

// persist fills in what tell tells.
func (p *persister) persist() error {
	manifest, err := staging.Read(p.dir)
	if err != nil {
		return err
	}
	if manifest.Ledger != p.GetInput("ledger") || manifest.Branch != p.GetInput("branch") {
		return fmt.Errorf("the staging was prepared for ledger %s on branch %s: give persist the same ledger and branch", manifest.Ledger, manifest.Branch)
	}
	if p.base == "" {
		// Of the agent's own word, since the workflow gave none: it can stop its own
		// run with it and nothing else.
		p.base = manifest.Base
	}
	if err := p.readLog(); err != nil {
		return err
	}
	github, err := p.Context()
	if err != nil {
		return err
	}
	p.staged, err = persist.Prepare(p.dir, persist.Options{
		Limits: p.limits, Files: p.files, Base: p.baseSnapshot, Validate: p.validator(), Log: p.log,
		Ledger: manifest.Ledger, Run: github.RunURL(),
	})
	if errors.Is(err, fs.ErrNotExist) {
		p.outcome = persistedNone // artifacts do not keep empty folders
		return nil
	}
	if err != nil {
		return err
	}
	p.update, err = publish.Update(p.ctx, p.remote, manifest.Branch, publish.Options{Base: p.base}, p.change)
	if err != nil {
		return fmt.Errorf("nothing was persisted: %w", err)
	}
	if p.outcome = persistedTrue; p.update.Empty && !p.update.Settled {
		p.outcome = persistedNone
	}
	return nil
}

// change is called with each head that a commit is tried on.
func (p *persister) change(snap ledger.Snapshot) (change ledger.Change, err error) {
	p.seen = snap
	change, p.report, err = p.staged.Change(snap)
	return change, err
}

// readLog reads the transaction log if there is one.
func (p *persister) readLog() error {
	listing, err := txlog.Read(p.GetInput("transaction-log"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		p.Noticef("there is no transaction log to compare with")
	case err != nil:
		// Evidence that cannot be read is none; it never decides.
		p.Warningf("the transaction log cannot be read: %v", err)
	default:
		p.log = &listing
	}
	return nil
}

// baseSnapshot is what the branch held when the staging was restored.
func (p *persister) baseSnapshot() (ledger.Snapshot, error) {
	switch p.base {
	case "":
		return ledger.Snapshot{}, persist.ErrBaseUnknown
	case p.seen.Head:
		return p.seen, nil
	}
	snap, err := branch.At(p.ctx, p.remote, p.GetInput("branch"), p.base, branch.Limits{})
	if errors.Is(err, branch.ErrUnknownCommit) || errors.Is(err, branch.ErrShallow) {
		err = persist.ErrBaseUnknown
	}
	return snap, err
}

// validator wires the workflow author's script, if there is one.
func (p *persister) validator() func([]persist.File, []ledger.Record) error {
	if p.script == nil {
		return nil
	}
	return func(files []persist.File, records []ledger.Record) error {
		// The script's process must not find the token, wherever it looks.
		if err := script.ScrubEnv(); err != nil {
			return err
		}
		var input script.ValidationInput
		for _, f := range files {
			input.Files = append(input.Files, script.File{Path: f.Path, Text: f.Text})
		}
		for _, r := range records {
			input.Records = append(input.Records, r.Line())
		}
		report, err := script.Validate(p.ctx, script.Options{}, p.script, input)
		p.verdict, p.printed = report.Reason, p.printed+report.PrintedBytes
		for _, notice := range report.Notices {
			if !p.notified[notice] {
				p.notified[notice] = true
				p.Noticef("%s", notice)
			}
		}
		if err != nil {
			return fmt.Errorf("validation-script: %w", err)
		}
		return nil
	}
}
