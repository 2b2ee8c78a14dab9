package main

import (
	"fmt"
	"strings"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/listing"
	"github.com/repo-memory/ledger/pkg/thread"
)

var standard = thread.DefaultConfig()

var role = action.Role{
	Name:    "thread-context",
	Summary: "make the trusted context of an agent from the thread of an issue or pull request.",
	Trusted: true,
	Inputs: action.Inputs([]action.Input{
		listing.InputLedger, action.InputBranch, action.InputRemote, inputToken(),
		listing.InputNumber,
		{Name: "history-comment-count", Empty: "the whole relevant flow",
			Help: "How many of the newest relevant items are shown in full; 0 or less is all of them."},
		{Name: "pinned-comments", Kind: action.List, Empty: "none",
			Help: "Comments shown besides those, judged like the rest: ids of comments, review:ID, review-comment:ID, or addresses."},
		{Name: "token-budget", Kind: action.Int, Min: thread.MinTokens, Max: thread.MaxTokens, Empty: fmt.Sprint(thread.MaxTokens),
			Help: "Most tokens of the context, as estimated; the oldest unverified lines go first, then the oldest items."},
		{Name: "step", Empty: "no step is recorded, unless inputs are given, which need one",
			Help: "Name of the workflow's step whose inputs are recorded."},
		{Name: "agent", Empty: "none", Help: "Name of the agent that the step runs."},
		{Name: "inputs", Kind: action.Lines, Empty: "no inputs",
			Help: "Inputs of the step, JSON or YAML: a mapping from name to value, or a list of name, binding, ok, detail and value. They are published."},
		{Name: "inputs-file", Kind: action.Path, Empty: "inputs counts", Help: "File to read the inputs of the step from."},
		listing.InputSecretEnv,
	}, configInputs(), []action.Input{
		{Name: "base-state", Kind: action.Path, Empty: "none",
			Help: "File of an earlier workflow state, generation 1 to 5, whose history the ledger does not have."},
		directory(),
		listing.InputMaxRequests,
	}, action.InputsLimits),
	Outputs: []action.Output{
		{Name: "number", Help: "Number of the issue or pull request."},
		{Name: "complete", Help: "true when the thread was read whole, false when the last items that could be read serve."},
		{Name: "directory", Help: "Folder of the files below, which travels as the artifact."},
		{Name: "context-path", Help: "Path of the context, a Markdown section."},
		{Name: "context-digest", Help: "Digest of the context, sha256: and 64 hexadecimal digits, for an agent's job that may run again."},
		{Name: "state-path", Help: "Path of the workflow state, JSON."},
		{Name: "state-digest", Help: "Digest of the workflow state, for thread-record."},
		{Name: "staged-path", Help: "Path of the folder with the records for persist."},
		{Name: "staged-digest", Help: "Digest of these records, for persist."},
		{Name: "staged", Help: "Number of these records."},
		{Name: "records", Help: "Number of artifacts that the thread has, deleted ones included."},
		{Name: "new", Help: "Number of artifacts that are recorded for the first time."},
		{Name: "deleted", Help: "Number of artifacts whose deletion is recorded."},
		{Name: "full", Help: "Number of items shown in full."},
		{Name: "unverified", Help: "Number of unverified items shown as one line each."},
		{Name: "requests", Help: "Number of requests that were sent to GitHub's API."},
	},
}

func inputToken() action.Input {
	in := action.InputToken
	in.Help, in.Empty = "Token that reads the thread and the ledger; it is sent only to the host of GITHUB_SERVER_URL and its API.", "an error"
	return in
}

func directory() action.Input {
	in := listing.InputDirectory
	in.Help = "Folder to write context.md, state.json and staged/ to; it must be empty or missing."
	return in
}

// configInputs say who the engine is and how its comments look.
func configInputs() []action.Input {
	return []action.Input{
		listing.InputEngineActor,
		listing.InputBotAccounts,
		{Name: "comment-ids", Kind: action.List, Empty: "every comment of these accounts counts",
			Help: "Ids of the comments that the engine recorded as its own, to which a shared bot account is then held; none is an empty list."},
		{Name: "command-prefix", Default: standard.CommandPrefix, Empty: action.EmptyIsDefault, Help: "Word that starts a command."},
		{Name: "terminal-marker", Default: standard.TerminalMarker, Empty: action.EmptyIsDefault, Help: "Line that starts the engine's output."},
		{Name: "agent-marker", Default: standard.AgentMarker, Empty: action.EmptyIsDefault,
			Help: "Line that starts an agent's output, with * in place of the agent's name."},
		{Name: "notices", Kind: action.List, Default: strings.Join(standard.Notices, ","), Empty: action.EmptyIsDefault,
			Help: "Names in the agent's marker that make the engine's output, one a line or between commas."},
	}
}
