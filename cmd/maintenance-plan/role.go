package main

import (
	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/compaction"
)

var role = action.Role{
	Name:    "maintenance-plan",
	Summary: "plan one round of a ledger's compaction; reads the branch and changes nothing.",
	Inputs: action.Inputs(action.InputsRemote, []action.Input{
		action.InputMaxSegmentKB,
		{Name: "schedule", Kind: action.Enum, Values: compaction.Schedules, Default: "daily", Empty: action.EmptyIsDefault,
			Help: "How often a scheduled run may compact the ledger; manual is only when requested."},
		{Name: "trigger", Kind: action.Enum, Values: compaction.Triggers,
			Empty: "read from the event: requested for a workflow_dispatch of operation compact_ledger or of none, else scheduled",
			Help:  "Why the run began: a requested one is always due, a scheduled one by the schedule."},
		{Name: "round", Kind: action.Int, Min: 1, Max: compaction.MaxRounds, Default: "1", Empty: action.EmptyIsDefault,
			Help: "Which round of plan and apply this is in one run; from the second on the schedule is not asked again."},
		{Name: "min-segments", Kind: action.Int, Min: compaction.MinMinSegments, Max: compaction.MaxPlanSources, Default: "32", Empty: action.EmptyIsDefault,
			Help: "Fewest segments that are worth compacting."},
		{Name: "max-segments", Kind: action.Int, Min: compaction.MinMinSegments, Max: compaction.MaxPlanSources, Empty: "128, or min-segments where that is more",
			Help: "Most segments that one plan retires; not below min-segments."},
		{Name: "selection-script", Kind: action.Path, Empty: "the built-in selection",
			Help: "JavaScript file that selects the segments, run without network, files or token."},
		action.InputPlan,
	}),
	Outputs: []action.Output{
		{Name: "plan", Help: "Path of the plan file; empty when there is no plan."},
		{Name: "plan-id", Help: "Id of the plan; empty when there is none."},
		{Name: "selected", Help: "Number of segments that the plan retires; 0 when there is no plan."},
		{Name: "due", Help: "Whether a compaction was due: true or false."},
		{Name: "reason", Help: "Why there is no plan, or why there is one, in one line."},
		{Name: "head", Help: "Commit that the branch stood at; empty when it does not exist."},
		{Name: "skipped", Help: "Number of shards that no compaction can touch; the summary names them."},
		{Name: "script", Help: "What became of the selection script: none, ran or failed."},
	},
}
