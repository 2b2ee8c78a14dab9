// Command thread-record writes the workflow state, which thread-context made before
// the agent ran, into the one comment of the thread that holds it, in a trusted job
// after persist. The state is an export for people and for other programs: nothing
// is ever decided from what the comment says.
//
// The file is taken only if it is the one that the input state-digest names, and
// then only if no input in it looks like a secret or holds the value of a variable
// that secret-env names: what is written is public.
//
// Which comment that is, the ledger and package thread say; somebody else's, or one
// that only looks like it, is never changed, and never keeps the engine's own from
// being found or made. When the server gives no clear answer to a write the comments
// are read again, so that a comment whose making was not confirmed is found, and
// none is made twice. Of two runs that make the first comment at once the one whose
// comment is the later takes its own back.
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/branch"
	"github.com/repo-memory/ledger/pkg/github"
	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/listing"
	"github.com/repo-memory/ledger/pkg/regular"
	"github.com/repo-memory/ledger/pkg/thread"
)

func main() { action.Main(role, run) }

func run(ctx context.Context, a *action.Action) error {
	r := &recorder{Action: a, written: writtenFalse}
	err := r.configure()
	if err == nil {
		err = r.read(ctx)
	}
	if err == nil && r.body != "" {
		err = r.write(ctx)
	}
	r.tell(err)
	return err
}

// What the output written says.
const (
	writtenCreated = "created"
	writtenUpdated = "updated"
	writtenNone    = "none"
	writtenFalse   = "false"
)

// recorder is one run of the role.
type recorder struct {
	*action.Action
	remote branch.Remote
	limits ledger.Limits
	config thread.Config
	state  thread.WorkflowState

	run  *listing.Run
	fold *thread.Fold
	body string
	left thread.Left

	written string
	comment int64
	others  int
	needs   string // the permission to write a comment
	yielded bool   // to a comment that another run made at the same time
}

// configure reads the inputs and the state.
func (r *recorder) configure() (err error) {
	if r.remote, err = branch.ParseRemote(r.GetInput("remote"), r.GetInput("token"), r.Getenv("GITHUB_SERVER_URL")); err != nil {
		return action.BadInput("remote", "%v", err)
	}
	if r.limits, err = ledger.ParseLimits(r.GetInput); err != nil {
		return action.BadInput("max-record-kb", "%v", err)
	}
	r.config = thread.DefaultConfig()
	r.config.BotAccounts = r.ListInput("bot-accounts")
	var bad *thread.ConfigError
	if errors.As(r.config.Check(), &bad) {
		return action.BadInput(bad.Setting, "%s", bad.Problem)
	}
	secrets, err := listing.Secrets(r.Action)
	if err != nil {
		return err
	}
	file, err := regular.ReadFile(r.GetInput("state-path"), thread.MaxStateBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return action.BadInput("state-path", "there is no state: take the artifact of the job that ran thread-context")
	case err != nil:
		return action.BadInput("state-path", "cannot be read, or has over %d bytes: %v", thread.MaxStateBytes, err)
	case thread.StateDigest(file) != r.GetInput("state-digest"):
		return action.BadInput("state-digest", "the state is not the one that it names: something changed it on the way")
	}
	if r.state, err = thread.ParseState(file); err != nil {
		return action.BadInput("state-path", "%v", err)
	}
	for i, h := range r.state.History {
		if err := secrets.Check(h.Inputs); err != nil {
			return action.BadInput("secret-env", "nothing is published: history entry %d: %v", i+1, err)
		}
	}
	return nil
}

// read reads the ledger and makes the comment's text.
func (r *recorder) read(ctx context.Context) (err error) {
	if r.run, err = listing.Connect(ctx, r.Action, github.Options{}); err != nil {
		return err
	}
	r.config.Engine = r.run.Engine
	snap, err := branch.Read(ctx, r.remote, r.GetInput("branch"), branch.Limits{})
	if err != nil {
		return fmt.Errorf("the ledger cannot be read: %w", err)
	}
	if r.fold, err = thread.FoldLedger(ledger.OpenSnapshot(snap, r.limits), r.run.Source.Thread); err != nil {
		return fmt.Errorf("the ledger cannot be read: %w", err)
	}
	anchor, ok := r.fold.Anchor(r.GetInput("ledger"))
	if !ok && len(r.state.Thread) == 0 {
		// The thread could not be read whole, so that nothing of it was recorded.
		r.Noticef("nothing of the thread is recorded yet, and there is no state to write")
		r.written = writtenNone
		return nil
	}
	if ok && !r.knowsIssue() {
		return action.BadInput("number", "the state is of another thread than number %d; give the output number of the job that ran thread-context", r.run.Source.Thread.Number)
	}
	if !ok {
		return errors.New("the ledger does not know this thread: run this job after persist has published what thread-context staged")
	}
	if r.body, r.left, err = thread.FormatStateComment(r.state, anchor); err != nil {
		return fmt.Errorf("the state comment cannot be made: %w", err)
	}
	return nil
}

// knowsIssue reports whether the issue in the state is the one that the ledger has
// under the number; a state that names none, which an earlier one may be, passes.
func (r *recorder) knowsIssue() bool {
	for i := range r.state.Thread {
		if a := r.state.Thread[i].Ref(); a.Source == thread.SourceIssue {
			return slices.ContainsFunc(r.fold.Records, func(known thread.Record) bool { return known.Ref() == a })
		}
	}
	return true
}
