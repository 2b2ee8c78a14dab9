// Command maintenance-apply carries out a plan of compaction: it takes the plan
// for hostile, checks it against the branch as it stands now, and publishes the
// one transition that it permits as one commit guarded by the expected head
// (specification, sections 5.3 and 5.4). It holds the write token and runs no
// user code.
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/branch"
	"github.com/repo-memory/ledger/pkg/compaction"
	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/publish"
	"github.com/repo-memory/ledger/pkg/regular"
)

func main() { action.Main(role, run) }

func run(ctx context.Context, a *action.Action) error {
	p, err := newApplier(a)
	if err != nil {
		return err
	}
	err = p.apply(ctx)
	p.report()
	return err
}

// The answers besides those of compaction.Status.
const (
	statusNone    = "none"    // there is no plan
	statusApplied = "applied" // the transition stands on the branch
	statusFailed  = "failed"  // it could not be read or published
)

// applier is one run of the role.
type applier struct {
	*action.Action
	remote branch.Remote
	write  publish.Options
	config compaction.Config
	file   string // of the plan
	link   string // to the run, "" outside Actions

	plan   *compaction.Plan
	status string
	reason string
	result compaction.Result
	update publish.Result
}

func newApplier(a *action.Action) (*applier, error) {
	p := &applier{Action: a, file: a.GetInput("plan")}
	var err error
	if p.remote, p.write, err = publish.FromInputs(a); err != nil {
		return nil, err
	}
	limits := ledger.DefaultLimits()
	limits.MaxSegmentBytes = a.BytesInput("max-segment-kb")
	p.config, err = compaction.ParseConfig(a.GetInput("ledger"), a.GetInput("branch"), limits, func(setting string) string {
		if setting == "schedule" {
			return "" // the planner's business
		}
		return a.GetInput(setting)
	})
	if err != nil {
		return nil, action.BadInput("max-segments", "%v", err)
	}
	run, err := a.Context()
	if err != nil {
		return nil, err
	}
	p.link = run.RunURL()
	return p, nil
}

// apply fills in status and reason. Stale plans and conflicts are no errors: the
// ledger is unchanged and the next run plans again.
func (p *applier) apply(ctx context.Context) error {
	text, err := regular.ReadFile(p.file, compaction.MaxPlanBytes)
	if errors.Is(err, fs.ErrNotExist) {
		p.status, p.reason = statusNone, "there is no plan"
		return nil
	}
	if err == nil {
		p.plan, err = compaction.ParsePlan(text, p.config)
	} else {
		err = &compaction.RejectedError{Reason: "invalid plan file"}
	}
	if err != nil {
		p.status, p.reason = string(compaction.Rejected), err.Error()
		return err
	}
	p.update, err = publish.Update(ctx, p.remote, p.config.Branch, p.write, p.change)
	if err != nil {
		p.status, p.reason = statusFailed, publish.Reason(err)
		return fmt.Errorf("failed to apply the plan: %w", err)
	}
	p.status, p.reason = string(p.result.Status), p.result.Reason
	switch p.result.Status {
	case compaction.Ready:
		p.status = statusApplied
	case compaction.AlreadyApplied:
		if p.update.Settled {
			p.status, p.reason = statusApplied, "the push got no clear answer, and the branch holds the transition"
		}
	case compaction.Rejected:
		return &compaction.RejectedError{Reason: p.result.Reason}
	default:
		p.Warningf("nothing was changed: %s; the next run plans again", p.reason)
	}
	return nil
}

// change is called with each head that a commit is tried on.
func (p *applier) change(snap ledger.Snapshot) (ledger.Change, error) {
	result, err := compaction.Prepare(p.plan, snap, p.config, time.Now())
	if err != nil {
		return ledger.Change{}, err
	}
	p.result = result
	if result.Status == compaction.Ready {
		result.Change.Message = p.message(result)
	}
	return result.Change, nil
}
