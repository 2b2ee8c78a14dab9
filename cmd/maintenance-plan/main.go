// Command maintenance-plan makes the plan of one round of compaction: it reads a
// ledger's branch, decides whether a run is due, selects segments by the built-in
// rules or by the workflow author's script, and writes a plan file
// (specification, sections 4.2 and 5.3). It runs in a job without write
// permission and changes nothing; maintenance-apply takes its plan for hostile.
package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/branch"
	"github.com/repo-memory/ledger/pkg/compaction"
	"github.com/repo-memory/ledger/pkg/ledger"
)

func main() { action.Main(role, run) }

func run(ctx context.Context, a *action.Action) error {
	p, err := newPlanner(a)
	if err != nil {
		return err
	}
	// Whatever happens below, no plan of an earlier run is mistaken for ours.
	if err := removePlan(p.file); err != nil {
		return err
	}
	snap, err := branch.Read(ctx, p.remote, p.config.Branch, branch.Limits{})
	if err != nil {
		return fmt.Errorf("failed to read the branch: %w", err)
	}
	p.head = snap.Head
	if err := p.plan(ctx, snap); err != nil {
		return err
	}
	if p.made != nil {
		if err := writePlan(p.file, p.made.Text()); err != nil {
			return err
		}
	}
	p.report()
	return nil
}

// planner is one run of the role.
type planner struct {
	*action.Action
	remote  branch.Remote
	config  compaction.Config
	trigger compaction.Trigger
	round   int
	file    string // of the plan

	head      string
	due       bool
	reason    string // why there is no plan, or why the run was due
	script    string // scriptNone, scriptRan or scriptFailed
	selection compaction.Selection
	inventory *compaction.Inventory
	made      *compaction.Plan
}

func newPlanner(a *action.Action) (*planner, error) {
	p := &planner{Action: a, file: a.GetInput("plan"), round: a.IntInput("round"), script: scriptNone}
	var err error
	p.remote, err = branch.ParseRemote(a.GetInput("remote"), a.GetInput("token"), a.Getenv("GITHUB_SERVER_URL"))
	if err != nil {
		return nil, action.BadInput("remote", "%v", err)
	}
	limits := ledger.DefaultLimits()
	limits.MaxSegmentBytes = a.BytesInput("max-segment-kb")
	p.config, err = compaction.ParseConfig(a.GetInput("ledger"), a.GetInput("branch"), limits, a.GetInput)
	if err != nil {
		return nil, action.BadInput("max-segments", "%v", err)
	}
	if p.trigger, err = compaction.ParseTrigger(a.GetInput("trigger")); err != nil {
		return nil, action.BadInput("trigger", "%v", err)
	}
	if a.GetInput("trigger") == "" {
		p.trigger = eventTrigger(a)
	}
	return p, nil
}

// plan fills in made, or the reason why there is nothing to make. The error is
// that of a ledger which cannot be read whole.
func (p *planner) plan(ctx context.Context, snap ledger.Snapshot) error {
	now := time.Now()
	p.due, p.reason = compaction.Due(p.config, p.trigger, compaction.ReadState(snap), now)
	if p.round > 1 {
		// The round before this one has just been recorded as the last compaction.
		p.due, p.reason = true, "round "+strconv.Itoa(p.round)+" of a run that was due"
	}
	if !p.due {
		return nil
	}
	if snap.Head == "" {
		p.reason = "the branch does not exist yet"
		return nil
	}
	var err error
	if p.inventory, err = compaction.Load(snap, p.config); err != nil {
		return fmt.Errorf("failed to read the ledger: %w", err)
	}
	if path := p.GetInput("selection-script"); path != "" {
		err = p.selectByScript(ctx, path)
	} else {
		p.selection = p.inventory.Select()
	}
	if err != nil || p.selection.Sources == nil {
		p.reason = p.selection.Reason
		return err
	}
	if p.made, err = p.inventory.Plan(p.selection.Sources, p.trigger, snap.Head, now); err == nil && p.made == nil {
		p.reason = "the selected segments are compacted already"
	}
	return err
}
