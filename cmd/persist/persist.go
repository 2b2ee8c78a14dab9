package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"

	"github.com/repo-memory/ledger/pkg/branch"
	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/persist"
	"github.com/repo-memory/ledger/pkg/publish"
	"github.com/repo-memory/ledger/pkg/staging"
	"github.com/repo-memory/ledger/pkg/txlog"
)

// persist does the work and fills in what tell tells.
func (p *persister) persist(ctx context.Context) error {
	if !p.BoolInput("agent-staged") {
		p.outcome = persistedNone
		return nil
	}
	if err := p.readManifest(); err != nil {
		return err
	}
	p.readLog()
	trailer, err := p.trailer()
	if err != nil {
		return err
	}
	staged, err := persist.Prepare(p.dir, persist.Options{
		Limits: p.limits, Files: p.files, Base: func() (ledger.Snapshot, error) { return p.restored(ctx) }, Validate: p.validator(ctx), Log: p.log, Own: p.own(), Memory: p.memory, Payload: p.schema.Judge,
		Ledger: p.manifest.Ledger, Run: trailer,
	})
	if errors.Is(err, fs.ErrNotExist) {
		// The manifest says that there was a run; artifacts do not keep empty folders.
		p.outcome = persistedNone
		return nil
	}
	if err != nil {
		return err
	}
	p.write.Base = p.base
	p.update, err = publish.Update(ctx, p.remote, p.manifest.Branch, p.write, func(snap ledger.Snapshot) (change ledger.Change, err error) {
		p.seen = snap
		change, p.report, err = staged.Change(snap)
		return change, err
	})
	switch {
	case err != nil && p.update.Unclear:
		return fmt.Errorf("it is not known whether anything was persisted, re-run this job to settle it: %w", err)
	case err != nil:
		return fmt.Errorf("nothing was persisted: %w", err)
	}
	if p.outcome = persistedTrue; p.update.Empty && !p.update.Settled {
		p.outcome = persistedNone
	}
	return nil
}

// readManifest finds out what was staged for. The agent could have changed the
// manifest; it can stop its own run with it and nothing else, because ledger and
// branch are those of the inputs, and a base commit that only the manifest names can at most
// make this run's own memory files win, or its rewound branch go unnoticed: give
// the input base-commit to rule that out.
func (p *persister) readManifest() error {
	m, err := staging.Read(p.dir)
	if err != nil {
		return err
	}
	if m.Ledger != p.GetInput("ledger") || m.Branch != p.GetInput("branch") {
		return fmt.Errorf("the staging was prepared for ledger %s on branch %s: give persist the same ledger and branch", m.Ledger, m.Branch)
	}
	if base := p.GetInput("base-commit"); base != "" && base != m.Base {
		return errors.New("the staging was restored from another commit than base-commit: give persist base-commit and artifact of one and the same agent job")
	}
	c, err := p.Context()
	if err != nil {
		return err
	}
	if run := strconv.FormatInt(c.RunID, 10); c.RunID != 0 && m.Run != "" && m.Run != run {
		p.Warningf("the staging was prepared by workflow run %s and is persisted by run %s", m.Run, run)
	}
	p.manifest, p.base = m, m.Base
	return nil
}

// readLog reads the transaction log if there is one. Evidence that cannot be read
// is none; it never decides.
func (p *persister) readLog() {
	listing, err := txlog.Read(p.GetInput("transaction-log"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		p.Noticef("there is no transaction log to compare with")
	case err != nil:
		p.Warningf("transaction log: %v", err)
	default:
		p.log = &listing
	}
}

// own names the files of the staging that are the runtime's.
func (p *persister) own() map[string]string {
	dir, errDir := filepath.Abs(p.dir)
	log, errLog := filepath.Abs(p.GetInput("transaction-log"))
	if errDir != nil || errLog != nil {
		return nil
	}
	path, err := filepath.Rel(dir, log)
	if err != nil || !filepath.IsLocal(path) {
		return nil
	}
	return map[string]string{filepath.ToSlash(path): "the transaction log"}
}

// restored is what the branch held when the staging was restored. It is asked for
// only when memory files are staged.
func (p *persister) restored(ctx context.Context) (ledger.Snapshot, error) {
	switch p.base {
	case "": // there was no branch
		return ledger.Snapshot{}, nil
	case p.seen.Head:
		return p.seen, nil
	}
	snap, err := branch.At(ctx, p.remote, p.manifest.Branch, p.base, branch.Limits{})
	for _, kind := range []error{branch.ErrUnknownCommit, branch.ErrShallow, branch.ErrTooLarge} {
		if errors.Is(err, kind) {
			p.Warningf("memory files on the branch are not replaced, because what was restored cannot be read: %v", err)
			return ledger.Snapshot{}, persist.ErrBaseUnknown
		}
	}
	return snap, err
}

// trailer leads from the commit to the transaction, which is named by the run that
// it was staged in and its writer, and to the run that published it. The manifest
// was in the agent's hands, but a number and a UUID are all that it can put there.
func (p *persister) trailer() (string, error) {
	c, err := p.Context()
	if err != nil {
		return "", err
	}
	id := p.manifest.Writer
	if p.manifest.Run != "" {
		id = p.manifest.Run + "/" + id
	}
	lines := "Transaction: " + id
	if url := c.RunURL(); url != "" {
		lines += "\nRun: " + url
	}
	return lines, nil
}
