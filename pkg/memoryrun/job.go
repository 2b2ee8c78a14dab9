package memoryrun

import (
	"crypto/rand"
	"fmt"
	"time"

	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/memory"
)

// Job is one trusted writer of memory: what it writes with, and where. It is
// everything of a role but the way to the branch.
type Job struct {
	Role      string // of the commit message
	Ledger    string
	Limits    ledger.Limits
	Policy    *memory.Policy
	Principal memory.Principal
	Run       Run
	Now       time.Time
}

// Clerk is what the job writes records with.
func (j *Job) Clerk() memory.Clerk {
	c := memory.Clerk{Principal: j.Principal, Workflow: j.Run.Workflow, Run: j.Run.ID, Now: j.Now, Random: rand.Reader, Limits: j.Limits}
	if c.Workflow == "" {
		c.Workflow = j.Role
	}
	if c.Run == "" {
		c.Run = "local"
	}
	return c
}

// Change folds a branch, lets do make records, and returns the change that adds
// them. what says in the commit message what was done; nothing in it may be a
// stranger's.
func (j *Job) Change(snap ledger.Snapshot, what string, do func(*memory.State, memory.Clerk) ([]ledger.Record, error)) (ledger.Change, error) {
	if _, refusal := j.Policy.Writer(j.Principal.ID); refusal != nil {
		return ledger.Change{}, refusal
	}
	state := Fold(snap, j.Limits)
	// What was not read whole would only look as if there were less.
	if err := state.Authorizes(); err != nil {
		return ledger.Change{}, err
	}
	records, err := do(state, j.Clerk())
	if err != nil {
		return ledger.Change{}, err
	}
	message := fmt.Sprintf("%s: %s on ledger %s\n", j.Role, what, j.Ledger)
	if j.Run.Link != "" {
		message += "\nRun: " + j.Run.Link + "\n"
	}
	return Change(snap, j.Limits, records, message)
}

// Fold folds the branch as it was read.
func Fold(snap ledger.Snapshot, limits ledger.Limits) *memory.State {
	return memory.Fold(ledger.OpenSnapshot(snap, limits))
}

// MayMerge returns why a user could not carry out a merge in a project; an
// authorization for them would be good for nothing.
func (j *Job) MayMerge(user, project string) error {
	return j.may(user, project, memory.ScopeMerge, "the merger")
}

// MayReview returns why the approval of a user stands for nothing any more, as the
// policy is now.
func (j *Job) MayReview(user, project string) error {
	return j.may(user, project, memory.ScopeReview, "the reviewer")
}

func (j *Job) may(user, project string, scope memory.Scope, who string) error {
	entry, refusal := j.Policy.Principal(user)
	switch {
	case refusal != nil:
		return refusal
	case !entry.Has(scope) || !entry.MayUse(project):
		return &memory.Refusal{Reason: memory.ReasonScope, Detail: fmt.Sprintf("%s needs the scope %s for the project", who, scope)}
	}
	return nil
}
