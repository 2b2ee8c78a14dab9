package main

import (
	"strconv"
	"strings"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/memoryrun"
	"github.com/repo-memory/ledger/pkg/persist"
	"github.com/repo-memory/ledger/pkg/staging"
)

var role = action.Role{
	Name:    "persist",
	Summary: "judge what an agent staged and publish what is admitted as one guarded commit.",
	Trusted: true,
	Inputs: action.Inputs(action.InputsRemote, []action.Input{
		action.InputPublish,
		action.InputBaseCommit,
		{Name: "directory", Kind: action.Path, Empty: action.InputDirectory.Empty, Derived: action.InputDirectory.Derived,
			Help: "Directory that the agent staged, as the artifact brought it, with its manifest beside it."},
		{Name: "transaction-log", Kind: action.Path, Empty: "the one beside the directory",
			Help:    "The transaction log, compared with what was staged; it decides nothing.",
			Derived: func(a *action.Action) (string, error) { return staging.LogPath(a.GetInput("directory")), nil }},
	}, action.InputsLimits, fileInputs(), []action.Input{
		{Name: "allowed-extensions", Kind: action.List, Default: strings.Join(persist.DefaultExtensions, ","), Empty: action.EmptyIsDefault,
			Help: "Endings of memory files that are saved, one a line or between commas."},
		{Name: "file-glob", Kind: action.List, Empty: "any path",
			Help: "Patterns that a memory file's path must match one of, one a line or between commas; ** is any folders."},
		{Name: "validation-script", Kind: action.Path, Empty: "nothing more is asked",
			Help: "JavaScript file that is asked before a commit and can refuse it; Linux only, run without network, files or token."},
		action.InputPayloadSchema,
	}, memoryrun.InputsAgent, trustedInputs),
	Outputs: append([]action.Output{
		{Name: "persisted", Help: "true when a commit holds what was admitted, none when there was nothing to persist, false when the run failed."},
		{Name: "before", Help: "Commit that the branch stood at when it was first read; empty when it did not exist or was not read."},
		{Name: "after", Help: "Commit that holds the work; empty when the run failed."},
		{Name: "accepted", Help: "Number of records that were published."},
		{Name: "files", Help: "Number of memory files that were published."},
		{Name: "ignored", Help: "Number of staged items that stand on the branch already or ask for nothing."},
		{Name: "rejected", Help: "Number of staged items that were refused; the summary names them."},
		{Name: "heads", Help: "Number of heads of the ledger afterwards."},
		{Name: "compaction-needed", Help: "true when the ledger has three quarters of the shards that it may have."},
	}, append(memoryOutputs, trustedOutputs...)...),
}

// fileInputs declares the bounds on memory files as pkg/persist states them.
func fileInputs() []action.Input {
	help := map[string]string{
		"max-file-kb":         "Largest memory file, in KiB.",
		"max-file-count":      "Most memory files that one run may add or replace.",
		"max-memory-patch-kb": "Most that one run may add to memory files, in KiB.",
	}
	var inputs []action.Input
	for _, spec := range persist.FileLimitSpecs {
		kind := action.Int
		if spec.KiB {
			kind = action.KiB
		}
		inputs = append(inputs, action.Input{Name: spec.Name, Kind: kind, Min: spec.Min, Max: spec.Max,
			Default: strconv.Itoa(spec.Default), Help: help[spec.Name]})
	}
	return inputs
}
