package publish

import (
	"context"

	"github.com/repo-memory/ledger/pkg/branch"
	"github.com/repo-memory/ledger/pkg/ledger"
)

// way is one strict compare-and-swap of a branch. commit puts one commit with
// the change on top of tip, or as the first commit of a branch that tip says is
// missing, and returns its id; the tip's own head when the change changes
// nothing. The branch must not move unless it stands where tip says. Errors wrap
// errMoved when it does not, errUnclear when nobody knows whether it moved, and
// are final otherwise, as far as again does not say more.
//
// push serves any git server, api a GitHub server.
type way interface {
	commit(ctx context.Context, tip *branch.Tip, change ledger.Change) (string, error)
}
