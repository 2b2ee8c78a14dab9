// Command agent-ledger gives an agent its ledger. It runs in the agent's job and
// is not trusted with anything: it can read the branch and stage records in a
// folder, and contains no code that writes to a branch (specification, section
// 3). What is staged counts only after the persistence job has judged it.
package main

import (
	"context"

	"github.com/repo-memory/ledger/pkg/action"
)

func main() { action.Main(role, run) }

func run(ctx context.Context, a *action.Action) error {
	if a.Command() == "serve" {
		return serve(ctx, a)
	}
	return setup(ctx, a)
}
