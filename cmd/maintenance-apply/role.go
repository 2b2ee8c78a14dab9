package main

import (
	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/compaction"
)

var role = action.Role{
	Name:    "maintenance-apply",
	Summary: "validate a plan of compaction against the branch and publish its transition as one guarded commit.",
	Trusted: true,
	Inputs: action.Inputs(action.InputsRemote, []action.Input{
		action.InputPublish,
		action.InputMaxSegmentKB,
		{Name: "min-segments", Kind: action.Int, Min: compaction.MinMinSegments, Max: compaction.MaxPlanSources, Default: "32", Empty: action.EmptyIsDefault,
			Help: "Fewest segments that are worth compacting."},
		{Name: "max-segments", Kind: action.Int, Min: compaction.MinMinSegments, Max: compaction.MaxPlanSources, Empty: "128, or min-segments where that is more",
			Help: "Most segments that one plan retires; not below min-segments."},
		action.InputPlan,
	}),
	Outputs: []action.Output{
		{Name: "status", Help: "What became of the plan: none, applied, already_applied, stale, conflict, rejected or failed."},
		{Name: "reason", Help: "Why, in one line."},
		{Name: "plan-id", Help: "Id of the plan; empty when there is none that is valid."},
		{Name: "before", Help: "Commit that the branch stood at when it was first read; empty when it was not read or does not exist."},
		{Name: "after", Help: "Commit that the branch was left at; empty like before."},
		{Name: "retired", Help: "Number of segments that were retired."},
		{Name: "records", Help: "Number of records that now stand in the replacement."},
		{Name: "bytes-before", Help: "Bytes of the segments that were retired, and of the replacement if it stood there before."},
		{Name: "bytes-after", Help: "Bytes of the replacement."},
	},
}
