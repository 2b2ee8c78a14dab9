package main

import (
	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/memoryrun"
)

var role = action.Role{
	Name:    "memory-merge",
	Summary: "verify the authorization of a merge and move the protected ref, in one guarded commit.",
	Trusted: true,
	Inputs: action.Inputs(action.InputsRemote, []action.Input{
		action.InputPublish,
		action.InputMaxShards, action.InputMaxSegmentKB, action.InputMaxRecordKB,
		memoryrun.InputPolicy, memoryrun.InputProject,
		memoryrun.InputKeys,
		memoryrun.InputEnvelope,
	}),
	Outputs: []action.Output{
		{Name: "status", Help: "What became of it: merged, refused or failed."},
		{Name: "reason", Help: "Why it was refused or failed, in one word; empty otherwise."},
		{Name: "proposal", Help: "Id of the proposal; empty without a valid authorization."},
		{Name: "ref", Help: "The ref that moved; empty unless merged."},
		{Name: "old-head", Help: "Changeset that the ref had; empty unless merged."},
		{Name: "new-head", Help: "Changeset that the ref has; empty unless merged."},
		{Name: "before", Help: "Commit that the branch stood at when it was first read; empty when it was not read or does not exist."},
		{Name: "after", Help: "Commit that the branch was left at; empty like before."},
	},
}
