// Command thread-context makes the context of an agent from the thread of an issue
// or pull request, in a trusted job before the agent's. It reads the ledger and
// then the whole thread, classifies every artifact, reconciles the two, and leaves
// three things for the jobs after it:
//
//	DIR/context.md   what the agent is given: the relevant and trusted flow in full,
//	                 everybody else's text as one unverified line each
//	DIR/state.json   the workflow state, for thread-record
//	DIR/staged/...   the records of what is new, for persist
//
// They cross the agent's job as an artifact that the agent can replace; the outputs
// state-digest and staged-digest, which it cannot, say what they have to be. What is
// trusted, and everything else about a thread, package thread states; how it is
// read, package listing.
//
// The ledger is read before the thread: what it had recorded then and the thread
// does not list was deleted, and not merely posted since.
//
// A thread that cannot be read whole is a failure, and nothing is written. Only
// where the ledger does not know it yet do the last items that could be read serve,
// with a warning; nothing of them is recorded.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/branch"
	"github.com/repo-memory/ledger/pkg/github"
	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/listing"
	"github.com/repo-memory/ledger/pkg/thread"
)

func main() { action.Main(role, run) }

func run(ctx context.Context, a *action.Action) error {
	r := &runner{Action: a}
	err := r.configure()
	if err == nil {
		err = r.read(ctx)
	}
	if err == nil {
		err = r.make()
	}
	if err == nil {
		err = r.write()
	}
	r.tell(err)
	return err
}

// runner is one run of the role.
type runner struct {
	*action.Action
	remote  branch.Remote
	limits  ledger.Limits
	config  thread.Config
	options thread.Options
	step    *thread.Step
	base    thread.WorkflowState
	dir     string

	run    *listing.Run
	ledger *ledger.Ledger
	fold   *thread.Fold
	listed listing.Result

	reconciled *thread.Reconciliation
	rendered   thread.Rendering
	state      []byte
	staging    *thread.Staging
}

// configure reads the inputs.
func (r *runner) configure() (err error) {
	if r.remote, err = branch.ParseRemote(r.GetInput("remote"), r.GetInput("token"), r.Getenv("GITHUB_SERVER_URL")); err != nil {
		return action.BadInput("remote", "%v", err)
	}
	if r.limits, err = ledger.ParseLimits(r.GetInput); err != nil {
		return action.BadInput("max-record-kb", "%v", err)
	}
	if r.config, err = readConfig(r.Action); err != nil {
		return err
	}
	if r.options, err = readOptions(r.Action); err != nil {
		return err
	}
	secrets, err := listing.Secrets(r.Action)
	if err != nil {
		return err
	}
	if r.step, err = readStep(r.Action, secrets); err != nil {
		return err
	}
	if r.base, err = readBase(r.Action); err != nil {
		return err
	}
	if r.dir, err = filepath.Abs(r.GetInput("directory")); err != nil {
		return action.BadInput("directory", "is no path here")
	}
	return mustBeFree(r.dir)
}

// read reads the ledger, then the thread.
func (r *runner) read(ctx context.Context) (err error) {
	if r.run, err = listing.Connect(ctx, r.Action, github.Options{}); err != nil {
		return err
	}
	snap, err := branch.Read(ctx, r.remote, r.GetInput("branch"), branch.Limits{})
	if err != nil {
		return fmt.Errorf("the ledger cannot be read: %w", err)
	}
	r.ledger = ledger.OpenSnapshot(snap, r.limits)
	if r.fold, err = thread.FoldLedger(r.ledger, r.run.Source.Thread); err != nil {
		return fmt.Errorf("the ledger cannot be read: %w", err)
	}
	if r.listed, err = listing.Read(ctx, r.run.Source); err != nil {
		return fmt.Errorf("the thread cannot be read: %w", err)
	}
	if r.listed.Reason != nil && len(r.fold.Records) > 0 {
		return fmt.Errorf("the thread could not be read whole, and nothing of it is given to the agent: %w", r.listed.Reason)
	}
	return nil
}

// make decides.
func (r *runner) make() (err error) {
	r.config.Engine, r.config.Trigger = r.run.Engine, r.run.Event.Trigger(r.listed.Listing)
	if r.reconciled, err = thread.Reconcile(r.fold, r.listed.Listing, r.config); err != nil {
		return badConfig(err)
	}
	if r.rendered, err = r.reconciled.Render(r.options); err != nil {
		return badConfig(err)
	}
	entries, err := r.reconciled.Entries()
	if err != nil {
		return err
	}
	var current []thread.Step
	if r.step != nil {
		current = append(current, *r.step)
		steps, err := thread.StepEntries(r.run.Source.Thread, *r.step)
		if err != nil {
			return action.BadInput("step", "%v", err)
		}
		if !r.fold.HasStep(*r.step) {
			entries = append(entries, steps...)
		}
	}
	if r.state, err = thread.FormatState(r.reconciled.State(r.fold, r.base, current...)); err != nil {
		return err
	}
	r.staging, err = thread.Stage(r.ledger, entries, time.Now(), rand.Reader)
	return badConfig(err)
}

// isBad tells bad input from a failure.
func isBad(err error) bool {
	var bad *action.InputError
	return errors.As(err, &bad)
}
