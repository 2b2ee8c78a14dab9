// Command agent-ledger gives an agent its ledger. It runs in the agent's job and
// is not trusted with anything: it can read the branch and stage records in a
// folder, and contains no code that writes to a branch (specification, section
// 3). What is staged counts only after the persistence job has judged it. MCP
// clients start the server themselves, or reach one over HTTP that setup leaves
// running: in a session of its own, with nothing of the step's environment but what
// lets the runner find it when the job ends.
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
