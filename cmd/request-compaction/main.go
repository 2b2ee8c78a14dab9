// Command request-compaction starts the maintenance workflow for a ledger that an
// agent asked to have compacted: it reads the ledger_request_compaction entries of
// the run's safe output and dispatches the configured workflow on the default branch
// (specification, section 5.3). What the workflow is told is an operation and the
// name of a ledger that its author listed, never the agent's words. Whether anything
// is compacted, maintenance decides.
//
// # Entries
//
// An entry is a strict JSON object
//
//	type    "ledger_request_compaction"
//	ledger  one of the input ledgers; missing, null and "" mean the only one
//	reason  optional, at most 1,024 bytes; shown, escaped, in the job's summary
//
// Other members are ignored, unless their name could be taken for one of these.
// Entries are read in order. A ledger that was asked for is not asked for twice;
// what goes beyond the input max, or is no entry, is rejected with a reason and
// hinders no other entry.
//
// # Runs that are repeated
//
// Nothing remembers that a request was made: a job that is run again dispatches
// again, and an unclear answer of the server is settled by dispatching once more.
// That is harmless, since runs of maintenance wait for each other and one that finds
// nothing to compact ends without a commit.
package main

import (
	"context"

	"github.com/repo-memory/ledger/pkg/action"
)

func main() {
	action.Main(role, func(ctx context.Context, a *action.Action) error { return run(ctx, a, nil) })
}
