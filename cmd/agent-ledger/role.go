package main

import "github.com/repo-memory/ledger/pkg/action"

var role = action.Role{
	Name:    "agent-ledger",
	Summary: "give an agent a ledger: restore it into a folder, and serve it over MCP.",
	Commands: []action.Command{
		{Name: "setup", Help: "restore the branch into the folder and write the configuration of MCP clients"},
		{Name: "serve", Help: "serve the folder over MCP on standard input and output; MCP clients start it", Protocol: true,
			Inputs: []string{"ledger", "directory", "max-shards", "max-segment-kb", "max-record-kb", "max-patch-kb"}},
	},
	Inputs: action.Inputs(action.InputsRemote, []action.Input{action.InputDirectory}, action.InputsLimits),
	Outputs: []action.Output{
		{Name: "directory", Help: "Folder of the restored ledger, where the agent may also leave memory files."},
		{Name: "base-commit", Help: "Commit that was restored; empty when the branch does not exist yet. Give it to persist."},
		{Name: "mcp-config", Help: "Path of the JSON configuration for MCP clients."},
		{Name: "transaction-log", Help: "Path of the transaction log that the server writes."},
		{Name: "artifact-paths", Lines: true, Help: "What threat detection and persist need, one path a line: the folder, its manifest and the transaction log."},
		{Name: "records", Help: "Number of records in the restored ledger."},
		{Name: "heads", Help: "Number of heads of the restored ledger."},
	},
}
