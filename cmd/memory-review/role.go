package main

import (
	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/memory"
	"github.com/repo-memory/ledger/pkg/memoryrun"
)

// The operations besides those of memory.Operation.
const (
	show    = "show"
	resolve = "resolve"
	dismiss = "dismiss"
	setBack = "defer"
)

// maxLifeMinutes is memory.MaxEnvelopeLife.
const maxLifeMinutes = 15

var role = action.Role{
	Name:    "memory-review",
	Summary: "show a proposal of Memory Git, record a person's verdict, and sign the authorization of its merge.",
	Trusted: true,
	Inputs: action.Inputs(action.InputsRemote, []action.Input{
		action.InputPublish,
		action.InputMaxShards, action.InputMaxSegmentKB, action.InputMaxRecordKB,
		memoryrun.InputPolicy, memoryrun.InputProject,
		{Name: "proposal", Required: true, Help: "Id of the proposal."},
		{Name: "operation", Kind: action.Enum, Default: show, Empty: action.EmptyIsDefault,
			Values: []string{show, string(memory.Comment), string(memory.RequestChanges), string(memory.Approve), string(memory.Reject), string(memory.Cancel),
				string(memory.Expire), resolve, dismiss, setBack},
			Help: "What to do: show it; comment, request-changes, approve, reject, cancel or expire; or resolve, dismiss or defer the conflicts named."},
		{Name: "prepare", Kind: action.Bool, Default: "false", Empty: action.EmptyIsDefault,
			Help: "Whether show prepares the merge or cherry-pick changeset where one is needed; nothing else can be approved then."},
		{Name: "state-digest", Kind: action.Digest, Empty: "an error for approve",
			Help: "What show printed: approve is for exactly that."},
		{Name: "conflicts", Kind: action.List, Empty: "none",
			Help: "Ids of conflicts: those that approve acknowledges, or that resolve, dismiss or defer is about."},
		{Name: "findings", Kind: action.Lines, Empty: "none",
			Help: "What the reviewer found, one finding a line; for resolve, dismiss and defer why, which is required."},
		{Name: "merger", Empty: "the reviewer",
			Help: "Numeric user id of the one who may carry out the merge that approve authorizes."},
		{Name: "lifetime-minutes", Kind: action.Int, Min: 1, Max: maxLifeMinutes, Default: "15",
			Help: "How long the authorization stands."},
		memoryrun.InputKeys,
		memoryrun.InputEnvelope,
	}),
	Outputs: []action.Output{
		{Name: "status", Help: "What became of it: done, unchanged where nothing had to be written, refused or failed."},
		{Name: "reason", Help: "Why it was refused or failed, in one word; empty otherwise."},
		{Name: "proposal-status", Help: "Status of the proposal afterwards; empty when it was not read."},
		{Name: "state-digest", Help: "Digest of what was shown; empty unless show could show it whole and it can be approved."},
		{Name: "strategy", Help: "How it would be merged: fast_forward, merge_commit or cherry_pick."},
		{Name: "new-head", Help: "Changeset that the merge sets; empty until it is prepared."},
		{Name: "blocking", Help: "Number of open conflicts that block approval."},
		{Name: "acknowledge", Help: "Ids of the open conflicts that approval has to acknowledge, between commas; the first 100."},
		{Name: "envelope", Help: "Path of the authorization; empty unless approve wrote one."},
		{Name: "before", Help: "Commit that the branch stood at when it was first read; empty when it was not read or does not exist."},
		{Name: "after", Help: "Commit that the branch was left at; empty like before."},
	},
}
