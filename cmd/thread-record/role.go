package main

import (
	"path/filepath"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/listing"
)

var role = action.Role{
	Name:    "thread-record",
	Summary: "write the workflow state into the one comment of the thread that holds it.",
	Trusted: true,
	Inputs: action.Inputs([]action.Input{
		listing.InputLedger, action.InputBranch, action.InputRemote, inputToken(),
		listing.InputNumber,
		inputDirectory(),
		{Name: "state-path", Kind: action.Path, Empty: "state.json in the directory", Help: "File of the workflow state.",
			Derived: func(a *action.Action) (string, error) {
				return filepath.Join(a.GetInput("directory"), "state.json"), nil
			}},
		{Name: "state-digest", Kind: action.Digest, Required: true, Help: "Output state-digest of the job that made the state; any other file is refused."},
		listing.InputEngineActor,
		listing.InputBotAccounts,
		listing.InputSecretEnv,
		listing.InputMaxRequests,
	}, action.InputsLimits),
	Outputs: []action.Output{
		{Name: "written", Help: "created or updated when the comment was written, none when it stood already as it should, false when the run failed."},
		{Name: "comment-id", Help: "Id of the state comment."},
		{Name: "left", Help: "Number of records, history entries and inputs that the comment has no room for and the ledger alone holds."},
		{Name: "others", Help: "Number of other comments that carry the state comment's marker; they are neither read nor changed."},
		{Name: "requests", Help: "Number of requests that were sent to GitHub's API."},
	},
}

func inputToken() action.Input {
	in := action.InputToken
	in.Help, in.Empty = "Token that writes the comment and reads the ledger; it is sent only to the host of GITHUB_SERVER_URL and its API.", "an error"
	return in
}

func inputDirectory() action.Input {
	in := listing.InputDirectory
	in.Help = "Folder that thread-context wrote, as the artifact brought it."
	return in
}
