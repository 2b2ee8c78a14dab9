package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/branch"
	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/memory"
	"github.com/repo-memory/ledger/pkg/memoryrun"
	"github.com/repo-memory/ledger/pkg/publish"
)

// reviewer is one run of the role.
type reviewer struct {
	*action.Action
	remote branch.Remote
	write  publish.Options
	branch string
	job    memoryrun.Job
	keys   *memory.KeyRing // for approve

	operation, project, proposal string
	findings, conflicts          []string

	shown    *memory.Presentation // as the branch was left
	token    *memory.Token
	update   publish.Result
	reviewID string // stays the same when the branch moved
	nonce    []byte
}

func newReviewer(a *action.Action) (*reviewer, error) {
	r := &reviewer{Action: a, branch: a.GetInput("branch"), operation: a.GetInput("operation"), project: a.GetInput("memory-project"),
		proposal: a.GetInput("proposal"), conflicts: a.ListInput("conflicts")}
	// The keys leave the environment first, whatever is wrong with the rest.
	keys, keyErr := memoryrun.TakeKeys(a, a.GetInput("token"))
	if keyErr != nil && (r.operation == string(memory.Approve) || a.GetInput("merge-keys") != "") {
		return nil, keyErr
	}
	r.keys = keys
	for line := range strings.Lines(a.GetInput("findings")) {
		if line = strings.TrimSpace(line); line != "" {
			r.findings = append(r.findings, line)
		}
	}
	switch {
	case !memory.IsSegment(r.project):
		return nil, action.BadInput("memory-project", "got %s; want letters, digits, dots, hyphens or underscores, at most 64", action.Quote(r.project, 80))
	case !memory.IsUUIDv7(r.proposal):
		return nil, action.BadInput("proposal", "got %s; want the id of a proposal, a UUID version 7", action.Quote(r.proposal, 80))
	case r.operation == string(memory.Approve) && a.GetInput("state-digest") == "":
		return nil, action.BadInput("state-digest", "empty; approve needs the digest that show printed")
	case a.GetInput("merger") != "" && !(memory.Principal{ID: a.GetInput("merger")}).IsUser():
		return nil, action.BadInput("merger", "got %s; want a numeric user id", action.Quote(a.GetInput("merger"), 80))
	case r.settles() && (len(r.conflicts) == 0 || len(r.findings) == 0):
		return nil, action.BadInput("conflicts", "%s needs the ids of conflicts, and findings that say why", r.operation)
	}
	var err error
	if r.remote, r.write, err = publish.FromInputs(a); err != nil {
		return nil, err
	}
	r.job = memoryrun.Job{Role: role.Name, Ledger: a.GetInput("ledger"), Now: time.Now()}
	if r.job.Limits, err = memoryrun.Limits(a); err != nil {
		return nil, err
	}
	if r.job.Run, err = memoryrun.ReadRun(a); err != nil {
		return nil, err
	}
	if r.reviewID, err = memory.NewUUIDv7(r.job.Now, rand.Reader); err != nil {
		return nil, err
	}
	r.nonce = make([]byte, 32)
	_, err = rand.Read(r.nonce)
	return r, err
}

func (r *reviewer) settles() bool {
	return r.operation == resolve || r.operation == dismiss || r.operation == setBack
}

// review does what was asked for and fills in what report tells.
func (r *reviewer) review(ctx context.Context) error {
	if err := memoryrun.RemoveEnvelope(r.GetInput("envelope")); err != nil {
		return err
	}
	var err error
	if r.job.Policy, err = memoryrun.ReadPolicy(r.GetInput("memory-policy")); err != nil {
		return err
	}
	if r.job.Principal, err = r.job.Run.Person(r.job.Policy); err != nil {
		return err
	}
	switch {
	case r.operation == show:
		return r.show(ctx)
	case r.operation == string(memory.Approve):
		return r.approve(ctx)
	case r.settles():
		return r.settle(ctx)
	}
	return r.publish(ctx, r.operation, func(s *memory.State, c memory.Clerk) ([]ledger.Record, error) {
		return s.Review(c, memory.ReviewRequest{Project: r.project, Proposal: r.proposal, ID: r.reviewID, Operation: memory.Operation(r.operation), Findings: r.findings})
	})
}

// publish writes what do makes, on whatever the branch is by then.
func (r *reviewer) publish(ctx context.Context, what string, do func(*memory.State, memory.Clerk) ([]ledger.Record, error)) error {
	var err error
	r.update, err = publish.Update(ctx, r.remote, r.branch, r.write, func(snap ledger.Snapshot) (ledger.Change, error) {
		return r.job.Change(snap, what+" proposal "+r.proposal, func(s *memory.State, c memory.Clerk) ([]ledger.Record, error) {
			records, err := do(s, c)
			if err == nil {
				r.shown, err = s.Present(r.project, r.proposal)
			}
			return records, err
		})
	})
	return err
}

// show brings the conflicts up to date and prepares what is asked for. Where the
// policy lets nobody write, what stands is shown as it is.
func (r *reviewer) show(ctx context.Context) error {
	if r.job.Policy.ReadOnly {
		snap, err := branch.Read(ctx, r.remote, r.branch, branch.Limits{})
		if err != nil {
			return err
		}
		r.update = publish.Result{Before: snap.Head, After: snap.Head, Empty: true}
		s := memoryrun.Fold(snap, r.job.Limits)
		if !r.job.Principal.Has(memory.ScopeReview) || !r.job.Principal.MayUse(r.project) {
			return &memory.Refusal{Reason: memory.ReasonScope, Detail: "needs the scope memory.review for the project"}
		}
		r.shown, err = s.Present(r.project, r.proposal)
		return err
	}
	return r.publish(ctx, "show", func(s *memory.State, c memory.Clerk) ([]ledger.Record, error) {
		records, _, err := s.Show(c, r.project, r.proposal, r.BoolInput("prepare"))
		return records, err
	})
}

// approve records the approval; the authorization is written once it stands.
func (r *reviewer) approve(ctx context.Context) error {
	binding, err := r.job.Run.Binding(r.job.Ledger, r.branch)
	if err != nil {
		return err
	}
	err = r.publish(ctx, "approve", func(s *memory.State, c memory.Clerk) (records []ledger.Record, err error) {
		records, r.token, err = s.Approve(c, memory.ApproveRequest{Project: r.project, Proposal: r.proposal, ReviewID: r.reviewID,
			StateDigest: r.GetInput("state-digest"), Acknowledged: r.conflicts, Findings: r.findings, Merger: r.GetInput("merger"),
			Life: time.Duration(r.IntInput("lifetime-minutes")) * time.Minute, Nonce: r.nonce, Run: r.job.Run.Facts(), Keys: r.keys, Binding: binding})
		if err == nil {
			err = r.job.MayMerge(cmp.Or(r.GetInput("merger"), r.job.Principal.ID), r.project)
		}
		return records, err
	})
	if err != nil {
		return err
	}
	return memoryrun.WriteEnvelope(r.GetInput("envelope"), r.token)
}

// settle takes the conflicts to their next status, each in a commit of its own.
func (r *reviewer) settle(ctx context.Context) error {
	status := map[string]memory.ConflictStatus{resolve: memory.ConflictResolved, dismiss: memory.ConflictRejected, setBack: memory.ConflictDeferred}[r.operation]
	first := ""
	for i, id := range r.conflicts {
		err := r.publish(ctx, r.operation+" a conflict of", func(s *memory.State, c memory.Clerk) ([]ledger.Record, error) {
			return s.Settle(c, memory.ConflictRequest{Project: r.project, Proposal: r.proposal, Conflict: id, Status: status, Note: strings.Join(r.findings, "\n")})
		})
		if i == 0 {
			first = r.update.Before
		}
		if err != nil {
			return err
		}
	}
	r.update.Before = first
	return nil
}

// reasonOf is why something failed, in one word.
func reasonOf(err error) string {
	var refusal *memory.Refusal
	if errors.As(err, &refusal) {
		return string(refusal.Reason)
	}
	return publish.Reason(err)
}
