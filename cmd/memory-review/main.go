// Command memory-review is the review of Memory Git for a person: it shows what a
// proposal would change, with its conflicts and the digest of all that, records a
// verdict, and signs the authorization of a merge for whoever was shown exactly
// what stands (specification of Memory Git, "Merge / conflicts" and
// "Protected-merge authorization"). It holds a write token and the merge keys, and
// runs no user code.
package main

import (
	"context"

	"github.com/repo-memory/ledger/pkg/action"
)

func main() { action.Main(role, run) }

func run(ctx context.Context, a *action.Action) error {
	r, err := newReviewer(a)
	if err != nil {
		return err
	}
	if err = r.review(ctx); err != nil {
		r.failed(err)
		return err
	}
	r.report()
	return nil
}
