package main

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"time"

	"github.com/repo-memory/ledger/pkg/compaction"
	"github.com/repo-memory/ledger/pkg/ledger"
)

var compactApplyCommand = command{"compact apply", "[--plan FILE] DIR", "compact a folder: write, declare, prove, retire (specification, section 5.4)",
	func(flags *flag.FlagSet) func(context.Context, streams, []string) error {
		f := declareCompact(flags)
		file := flags.String("plan", "", "apply this plan `FILE` (default: plan and apply until nothing is left to do)")
		current := flags.String("current", "", "shard ids, between commas, of writers at work: neither retired nor replaced")
		asJSON := flags.Bool("json", false, "print one JSON value")
		return func(_ context.Context, s streams, args []string) error {
			if *f.remote != "" {
				return usagef("applies to a folder; a branch is compacted by the maintenance actions")
			}
			if err := f.check(args); err != nil {
				return err
			}
			config, err := f.config()
			if err != nil {
				return err
			}
			now, err := f.now()
			if err != nil {
				return err
			}
			a := applied{dir: args[0], config: config, now: now, verdict: verdict{compaction.AlreadyApplied, "nothing is left to compact"}}
			if *current != "" {
				a.current = strings.Split(*current, ",")
			}
			if *file != "" {
				plan, err := readPlan(*file, config)
				if err != nil {
					return err
				}
				err = a.apply(plan)
				if err != nil {
					return err
				}
			} else if err := a.rounds(); err != nil {
				return err
			}
			if *asJSON {
				err = printJSON(s.out, a)
			} else {
				_, err = fmt.Fprintf(s.out, "%s: %s; %d segments retired in %d rounds\n", a.Status, a.Reason, len(a.Retired), a.Rounds)
			}
			if err == nil && a.Status == compaction.Rejected {
				err = errSilent
			}
			return err
		}
	}}

// statusApplied is what a ready plan becomes once it was carried out.
const statusApplied compaction.Status = "applied"

// applied is a compaction of a folder.
type applied struct {
	dir     string
	config  compaction.Config
	now     time.Time
	current []string

	verdict
	Rounds  int      `json:"rounds"`
	Retired []string `json:"retired"`
}

// rounds plans and applies until nothing is selected any more.
func (a *applied) rounds() error {
	for range compaction.MaxRounds {
		snap, err := a.read()
		if err != nil {
			return err
		}
		inventory, err := compaction.Load(snap, a.config)
		if err != nil {
			return err
		}
		selection := inventory.Select()
		if len(selection.Sources) == 0 {
			if a.Rounds == 0 {
				a.Reason = selection.Reason
			}
			return nil
		}
		plan, err := inventory.Plan(selection.Sources, compaction.Requested, noCommit, a.now)
		if err != nil || plan == nil {
			return err
		}
		if err := a.apply(plan); err != nil || a.Status != statusApplied {
			return err
		}
	}
	return nil
}

// read returns the folder without the shards of writers at work.
func (a *applied) read() (ledger.Snapshot, error) {
	snap, err := ledger.SnapshotFolder(a.dir)
	for _, id := range a.current {
		delete(snap.Files, ledger.ShardPath(id))
	}
	return snap, err
}

// apply carries one plan out.
func (a *applied) apply(plan *compaction.Plan) error {
	snap, err := a.read()
	if err != nil {
		return err
	}
	result, err := compaction.Prepare(plan, snap, a.config, a.now)
	if err != nil {
		return err
	}
	if a.verdict = (verdict{result.Status, result.Reason}); result.Status != compaction.Ready {
		return nil
	}
	// The segment that the plan names, as it was proved: new, or standing already
	// where an interrupted run left it.
	path := ledger.ShardPath(result.Coverage.Replacement)
	content, isNew := result.Change.Add[path]
	if !isNew {
		content = snap.Files[path]
	}
	segment := ledger.Segment{ID: result.Coverage.Replacement, Content: content}
	limits := ledger.Limits{MaxShards: ledger.MaxReadShards, MaxSegmentBytes: a.config.MaxSegmentBytes}
	retirement, err := ledger.NewRetirement(a.dir, limits, a.current)
	if err != nil {
		return err
	}
	defer retirement.Close()
	retired, err := retirement.Replace(segment, result.Coverage.Sources)
	a.Retired = append(a.Retired, retired...)
	if err != nil {
		return err
	}
	if err := retirement.WriteState(result.Change.Add[ledger.CompactionFile]); err != nil {
		return err
	}
	a.Rounds++
	a.verdict = verdict{statusApplied, "every record of the retired segments stands in the replacement"}
	return nil
}
