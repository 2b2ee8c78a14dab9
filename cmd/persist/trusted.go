package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/persist"
	"github.com/repo-memory/ledger/pkg/publish"
	"github.com/repo-memory/ledger/pkg/thread"
)

// trustedInputs name what thread-context staged before the agent ran. Any of the
// first three says that there is such a staging; then its digest is needed.
var trustedInputs = []action.Input{
	{Name: "thread-ledger", Kind: action.Ledger, Empty: "nothing is taken from a thread, unless staged-path or staged-digest is given, and then threads",
		Help: "Name of the ledger that thread-context staged records of a thread for."},
	{Name: "staged-path", Kind: action.Path, Empty: "$RUNNER_TEMP/thread/, that ledger's name and /staged",
		Help: "Folder with these records, as the artifact of thread-context brought it."},
	{Name: "staged-digest", Kind: action.Digest, Empty: "an error where there is such a staging",
		Help: "Output staged-digest of the job that ran thread-context; any other staging is refused."},
	{Name: "thread-branch", Kind: action.Branch, Empty: "ledgers/ and that ledger's name",
		Help: "Branch that holds that ledger."},
	{Name: "agent-staged", Kind: action.Bool, Default: "true", Empty: action.EmptyIsDefault,
		Help: "Whether an agent staged anything in this run; false publishes what thread-context staged and nothing else."},
}

var trustedOutputs = []action.Output{
	{Name: "thread-records", Help: "Number of records of a thread that were published."},
	{Name: "thread-after", Help: "Commit that holds them, or at which they stood already; empty when there were none to publish or the run failed before."},
}

// trusted is what thread-context staged.
type trusted struct {
	staging *persist.Trusted // nil: none
	ledger  string
	branch  string

	records, commits int
	after            string
	failed           bool
}

// readTrusted judges the trusted staging, before anything is published.
func (p *persister) readTrusted() error {
	t := &p.trusted
	t.ledger, t.branch = p.GetInput("thread-ledger"), p.GetInput("thread-branch")
	dir, digest := p.GetInput("staged-path"), p.GetInput("staged-digest")
	if t.ledger == "" && dir == "" && digest == "" {
		if !p.BoolInput("agent-staged") {
			return action.BadInput("agent-staged", "false, and no staging of thread-context is named; there is nothing to publish")
		}
		return nil
	}
	if digest == "" {
		return action.BadInput("staged-digest", "empty; pass the output of the job that ran thread-context")
	}
	if t.ledger == "" {
		t.ledger = "threads"
	}
	if t.branch == "" {
		t.branch = "ledgers/" + t.ledger
	}
	if dir == "" {
		temp := p.Getenv("RUNNER_TEMP")
		if temp == "" {
			return action.BadInput("staged-path", "not given, and RUNNER_TEMP is not set; give a path")
		}
		dir = filepath.Join(temp, "thread", t.ledger, "staged")
	}
	c, err := p.Context()
	if err != nil {
		return err
	}
	run := ""
	if url := c.RunURL(); url != "" {
		run = "Run: " + url
	}
	t.staging, err = persist.PrepareTrusted(dir, digest, persist.TrustedOptions{Limits: p.limits, Ledger: t.ledger, Run: run})
	if errors.Is(err, thread.ErrStaging) {
		return action.BadInput("staged-digest", "%v", err)
	}
	return err
}

// publishTrusted publishes it, oldest first, in as many commits as it takes.
func (p *persister) publishTrusted(ctx context.Context) error {
	t := &p.trusted
	if t.staging == nil {
		return nil
	}
	t.failed = true
	options := p.write
	options.Base = ""
	missing := -1 // when the branch was first read
	for left := 1; left > 0; {
		var report persist.TrustedReport
		result, err := publish.Update(ctx, p.remote, t.branch, options, func(snap ledger.Snapshot) (change ledger.Change, err error) {
			change, report, err = t.staging.Change(snap)
			if err == nil && missing < 0 {
				missing = report.Records + report.Left
			}
			return change, err
		})
		switch {
		case err != nil && result.Unclear:
			return fmt.Errorf("%d of %d records of the thread were persisted, more may have been, re-run this job to settle it: %w", t.records, t.staging.Len(), err)
		case err != nil:
			return fmt.Errorf("records of the thread were not persisted, %d of %d were: %w", t.records, t.staging.Len(), err)
		}
		if t.after, options.Base = result.After, result.After; !result.Empty {
			t.commits++
		}
		left = report.Left
		t.records = missing - left
	}
	t.failed = false
	return nil
}

// tellTrusted writes what became of it.
func (p *persister) tellTrusted() {
	t := &p.trusted
	p.SetOutput("thread-records", strconv.Itoa(t.records))
	p.SetOutput("thread-after", t.after)
	if t.staging == nil {
		return
	}
	p.Infof("thread: %d of %d records published to %s", t.records, t.staging.Len(), t.ledger)
	var s *action.Summary
	switch {
	case t.failed:
		s = action.NewSummary("persist: failed, %d of %d records of the thread published", t.records, t.staging.Len())
	case t.records == 0:
		s = action.NewSummary("persist: the records of the thread stand already")
	default:
		s = action.NewSummary("persist: %d records of the thread published", t.records)
	}
	s.Line("Ledger %s on branch %s.", t.ledger, t.branch)
	s.Table([]string{"", ""}, []any{action.Markdown("staged"), t.staging.Len()}, []any{action.Markdown("commits"), t.commits}, []any{action.Markdown("commit"), orNone(t.after)})
	p.AddStepSummary(s.String())
}
