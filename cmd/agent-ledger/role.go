package main

import (
	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/memoryrun"
)

// inputsTransport say how clients reach the server.
var inputsTransport = []action.Input{
	{Name: "transport", Kind: action.Enum, Values: []string{"stdio", "http"}, Default: "stdio",
		Help: "How MCP clients reach the server: they start it (stdio), or setup leaves one running for the rest of the job (http)."},
	{Name: "listen", Default: "127.0.0.1", Empty: action.EmptyIsDefault,
		Help: "Address that the server listens on with transport http: an IP address, which containers reach only if it is not loopback."},
	{Name: "port", Kind: action.Int, Min: 0, Max: 65535, Default: "0", Empty: action.EmptyIsDefault,
		Help: "Port that the server listens on with transport http; 0 is one that is free."},
	{Name: "allowed-hosts", Kind: action.List, Empty: "none more",
		Help: "Names by which clients call the server with transport http, beside loopback and its address, such as host.docker.internal."},
	{Name: "access-token", Kind: action.Secret, Empty: "a random one",
		Help: "Token that clients must send with transport http: 32 to 1024 letters, digits or -._~+/=."},
}

var role = action.Role{
	Name:    "agent-ledger",
	Summary: "give an agent a ledger: restore it into a folder, and serve it over MCP.",
	Commands: []action.Command{
		{Name: "setup", Help: "restore the branch into the folder and write the configuration of MCP clients"},
		{Name: "serve", Help: "serve the folder over MCP: on standard input and output, where MCP clients start it, or over HTTP", Protocol: true,
			Inputs: []string{"ledger", "directory", "max-shards", "max-segment-kb", "max-record-kb", "max-patch-kb",
				"payload-schema", "memory-policy", "memory-project", "memory-principal", "transport", "listen", "port", "allowed-hosts", "access-token"}},
	},
	Inputs: action.Inputs(action.InputsRemote, []action.Input{action.InputDirectory}, action.InputsLimits, []action.Input{action.InputPayloadSchema}, memoryrun.InputsAgent, inputsContext, inputsTransport),
	Outputs: append([]action.Output{
		{Name: "directory", Help: "Folder of the restored ledger, where the agent may also leave memory files."},
		{Name: "base-commit", Help: "Commit that was restored; empty when the branch does not exist yet. Give it to persist."},
		{Name: "mcp-config", Help: "Path of the JSON configuration for MCP clients."},
		{Name: "transaction-log", Help: "Path of the transaction log that the server writes."},
		{Name: "artifact-paths", Lines: true, Help: "What threat detection and persist need, one path a line: the folder, its manifest and the transaction log."},
		{Name: "url", Help: "URL of the server with transport http; otherwise empty."},
		{Name: "access-token", Help: "Token that clients of the server must send, masked in logs; empty with transport stdio."},
		{Name: "access-token-file", Help: "Path of the file, for its owner only, that holds the token; empty with transport stdio."},
		{Name: "program", Help: "Path of the program that serves, for clients that start it themselves."},
		{Name: "records", Help: "Number of records in the restored ledger."},
		{Name: "heads", Help: "Number of heads of the restored ledger."},
	}, contextOutputs...),
}
