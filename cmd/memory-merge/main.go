// Command memory-merge carries out the authorization that memory-review signed: it
// verifies key, place, signature, times and nonce, compares what was approved with
// what stands, and moves the protected ref. Authorization, swap and advancement
// are one record in one commit guarded by the branch's head, so that a lost race
// uses nothing up and a merge that stands cannot be made again (specification of
// Memory Git, "Protected-merge authorization").
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/branch"
	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/memory"
	"github.com/repo-memory/ledger/pkg/memoryrun"
	"github.com/repo-memory/ledger/pkg/publish"
)

func main() { action.Main(role, run) }

func run(ctx context.Context, a *action.Action) error {
	m, err := newMerger(a)
	if err != nil {
		return err
	}
	err = m.merge(ctx)
	m.report(err)
	return err
}

// merger is one run of the role.
type merger struct {
	*action.Action
	remote  branch.Remote
	write   publish.Options
	branch  string
	project string
	job     memoryrun.Job
	keys    *memory.KeyRing

	token    *memory.Token
	recordID string // stays the same when the branch moved
	update   publish.Result
}

func newMerger(a *action.Action) (*merger, error) {
	m := &merger{Action: a, branch: a.GetInput("branch"), project: a.GetInput("memory-project")}
	// The keys leave the environment first, whatever is wrong with the rest.
	var err error
	if m.keys, err = memoryrun.TakeKeys(a, a.GetInput("token")); err != nil {
		return nil, err
	}
	if !memory.IsSegment(m.project) {
		return nil, action.BadInput("memory-project", "got %s; want letters, digits, dots, hyphens or underscores, at most 64", action.Quote(m.project, 80))
	}
	if m.remote, m.write, err = publish.FromInputs(a); err != nil {
		return nil, err
	}
	m.job = memoryrun.Job{Role: role.Name, Ledger: a.GetInput("ledger"), Now: time.Now()}
	if m.job.Limits, err = memoryrun.Limits(a); err != nil {
		return nil, err
	}
	if m.job.Run, err = memoryrun.ReadRun(a); err != nil {
		return nil, err
	}
	uuid, err := ledger.NewUUID(rand.Reader)
	m.recordID = "ldg-" + uuid
	return m, err
}

func (m *merger) merge(ctx context.Context) error {
	var err error
	if m.job.Policy, err = memoryrun.ReadPolicy(m.GetInput("memory-policy")); err != nil {
		return err
	}
	if m.job.Principal, err = m.job.Run.Person(m.job.Policy); err != nil {
		return err
	}
	binding, err := m.job.Run.Binding(m.job.Ledger, m.branch)
	if err != nil {
		return err
	}
	if m.token, err = memoryrun.ReadEnvelope(m.GetInput("envelope")); err != nil {
		return err
	}
	if m.token.Envelope.Project != m.project {
		return &memory.Refusal{Reason: memory.ReasonProject, Detail: "the authorization is for another project than memory-project"}
	}
	m.update, err = publish.Update(ctx, m.remote, m.branch, m.write, func(snap ledger.Snapshot) (ledger.Change, error) {
		// A branch that moved takes time: the clock is that of each try.
		m.job.Now = time.Now()
		return m.job.Change(snap, "carry out proposal "+m.token.Envelope.Proposal, func(s *memory.State, c memory.Clerk) ([]ledger.Record, error) {
			records, err := s.Merge(c, memory.MergeRequest{Token: m.token, Keys: m.keys, Binding: binding, RecordID: m.recordID})
			if err == nil && len(records) > 0 {
				err = m.job.MayReview(m.token.Envelope.Reviewer, m.project)
			}
			return records, err
		})
	})
	return err
}

// report writes outputs, one line of log and the job summary. What a token says is
// shown only once it was carried out.
func (m *merger) report(failed error) {
	status, reason := "merged", ""
	var refusal *memory.Refusal
	switch {
	case errors.As(failed, &refusal):
		status, reason = "refused", string(refusal.Reason)
	case failed != nil && memoryrun.IsTokenError(failed):
		status, reason = "refused", "authorization"
	case failed != nil:
		status, reason = "failed", publish.Reason(failed)
	}
	var e memory.Envelope
	if failed == nil {
		e = m.token.Envelope
	}
	m.SetOutput("status", status)
	m.SetOutput("reason", reason)
	m.SetOutput("proposal", e.Proposal)
	m.SetOutput("ref", e.Ref)
	m.SetOutput("old-head", e.Expected.String())
	m.SetOutput("new-head", e.NewHead.String())
	m.SetOutput("before", m.update.Before)
	m.SetOutput("after", m.update.After)
	if failed != nil {
		what := action.Markdown("nothing was merged")
		if m.update.Unclear {
			what = "and whether it was merged is not known: run it again"
		}
		s := action.NewSummary("memory-merge: %v, %v", action.Markdown(status), what)
		s.Block("Reason: "+reason, failed.Error(), 2000)
		m.AddStepSummary(s.String())
		return
	}
	m.Infof("merged: proposal %s into %s", e.Proposal, e.Ref)
	s := action.NewSummary("memory-merge: proposal %s merged into %s", e.Proposal, e.Ref)
	s.Table([]string{"", ""},
		[]any{action.Markdown("project"), e.Project}, []any{action.Markdown("strategy"), string(e.Strategy)},
		[]any{action.Markdown("old head"), e.Expected.String()}, []any{action.Markdown("new head"), e.NewHead.String()},
		[]any{action.Markdown("reviewed by user"), e.Reviewer}, []any{action.Markdown("merged by user"), e.Merger},
		[]any{action.Markdown("key"), e.KeyID}, []any{action.Markdown("attempts"), m.update.Attempts})
	m.AddStepSummary(s.String())
}
