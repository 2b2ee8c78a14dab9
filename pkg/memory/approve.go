package memory

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"time"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// RunFacts are what a review job knows of its own run.
type RunFacts struct {
	Attempt                 int    // from 1
	Actor, TriggeringActor  string // numeric user ids
	WorkflowOnDefaultBranch bool
}

func (r RunFacts) check(p Principal) *Refusal {
	switch {
	case r.Attempt != 1:
		return refuse(ReasonRun, "a re-run does not approve: start a new run")
	case r.Actor != r.TriggeringActor:
		return refuse(ReasonRun, "the run was triggered by somebody else than its actor")
	case r.Actor != p.ID:
		return refuse(ReasonRun, "the run's actor is not the reviewer")
	case !r.WorkflowOnDefaultBranch:
		return refuse(ReasonRun, "the workflow is not that of the default branch")
	}
	return nil
}

// ApproveRequest approves a proposal. ReviewID, Nonce and the clerk's Now stay the
// same when the job is done again, and so does the token.
type ApproveRequest struct {
	Project, Proposal, ReviewID string
	StateDigest                 string   // what was shown
	Acknowledged                []string // conflict ids
	Findings                    []string
	Merger                      string // numeric user id; "" is the reviewer
	Life                        time.Duration
	Nonce                       []byte // 32 random bytes
	Run                         RunFacts
	Keys                        *KeyRing
	Binding                     Binding
}

// Approve records an approval and signs the authorization for the merge.
func (s *State) Approve(c Clerk, q ApproveRequest) ([]ledger.Record, *Token, error) {
	p, t, fault := s.proposal(q.Project, q.Proposal)
	if fault != nil {
		return nil, nil, fault
	}
	if fault := q.Run.check(c.Principal); fault != nil {
		return nil, nil, fault
	}
	if len(q.Nonce) != nonceBytes {
		return nil, nil, refuse(ReasonShape, "a nonce has %d bytes", nonceBytes)
	}
	if q.StateDigest == "" {
		return nil, nil, refuse(ReasonStale, "approval needs the state digest that show printed")
	}
	merger := cmp.Or(q.Merger, c.Principal.ID)
	if merger != c.Principal.ID && p.wrote(merger, t) {
		return nil, nil, refuse(ReasonReviewer, "the merger wrote the proposal or a changeset in it")
	}
	sign := func(v *Review, target Name) (*Token, error) {
		e := Envelope{Project: p.id, Ref: t.TargetRef, Expected: target, NewHead: v.NewHead, Proposal: t.ID, StateDigest: v.StateDigest,
			Reviewer: c.Principal.ID, Merger: merger, Strategy: v.Strategy}
		return q.Keys.Sign(e, q.Binding, c.Now, q.Life, bytes.NewReader(q.Nonce))
	}
	for _, v := range t.reviews {
		if v.ID == q.ReviewID && v.Operation == Approve && v.Nonce == hex.EncodeToString(q.Nonce) && t.approval != nil {
			token, err := sign(v, t.approval.target.Name())
			return nil, token, err
		}
	}
	shown := p.present(t)
	switch {
	case !t.open():
		return nil, nil, refuse(ReasonState, "the proposal is %s", t.status)
	case !p.fresh(t):
		return nil, nil, &Refusal{ReasonStale, "the target moved on and its conflicts were not looked for: show it again", shown.Target.String()}
	case shown.StateDigest != q.StateDigest:
		return nil, nil, &Refusal{ReasonStale, "the proposal, its reviews, its conflicts or its diff changed since it was shown: show it again", shown.Target.String()}
	case !shown.Whole:
		return nil, nil, refuse(ReasonBound, "the diff has over %d bytes and could not be shown whole: propose less at once", MaxDiffBytes)
	case shown.NewHead == Name{}:
		return nil, nil, refuse(ReasonStrategy, "the %s has to be prepared first: show it with prepare", shown.Strategy)
	}
	v := &Review{ID: q.ReviewID, Project: q.Project, Proposal: q.Proposal, Operation: Approve, Reviewer: c.Principal.author(), Findings: q.Findings,
		Acknowledged: q.Acknowledged, StateDigest: q.StateDigest, NewHead: shown.NewHead, Strategy: shown.Strategy,
		Nonce: hex.EncodeToString(q.Nonce), CreatedAt: ledger.FormatTime(c.Now)}
	token, err := sign(v, shown.Target)
	if err != nil {
		return nil, nil, err
	}
	d, err := s.open(c, nil)
	if err != nil {
		return nil, nil, err
	}
	if _, err := d.write(TypeReview, v.Seal()); err != nil {
		return nil, nil, err
	}
	records, err := d.finish()
	return records, token, err
}

// MergeRequest carries out an authorization. RecordID, "ldg-" and a UUID, stays
// the same when the job is done again: a merge that stands under it is done.
type MergeRequest struct {
	Token    *Token
	Keys     *KeyRing
	Binding  Binding
	RecordID string
}

// Merge verifies an authorization and moves the protected ref.
func (s *State) Merge(c Clerk, q MergeRequest) ([]ledger.Record, error) {
	if err := q.Token.Verify(q.Keys, q.Binding, c.Now); err != nil {
		return nil, err
	}
	e := &q.Token.Envelope
	if used, ok := s.nonces[e.Nonce]; ok {
		if r, _ := s.record(used); r.ID() == q.RecordID {
			return nil, nil
		}
		return nil, refuse(ReasonNonce, "the authorization was used: it is good for one merge")
	}
	p, t, fault := s.proposal(e.Project, e.Proposal)
	if fault != nil {
		return nil, fault
	}
	if _, _, fault := p.judgeMerge(c.Principal, e); fault != nil {
		return nil, fault
	}
	if !p.fresh(t) || p.present(t).StateDigest != e.StateDigest {
		return nil, refuse(ReasonStale, "what was approved is no longer what stands: review again")
	}
	d, err := s.open(c, nil)
	if err != nil {
		return nil, err
	}
	d.nextID = q.RecordID
	m := &Merge{Token: *q.Token, MergedAt: ledger.FormatTime(c.Now)}
	if _, err := d.write(TypeMerge, m.Seal()); err != nil {
		return nil, err
	}
	return d.finish()
}
