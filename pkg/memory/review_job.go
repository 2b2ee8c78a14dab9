package memory

import (
	"slices"

	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/ledger"
)

// Presentation is what a reviewer is shown of a proposal.
type Presentation struct {
	Proposal  *Proposal
	Status    ProposalStatus
	Strategy  Strategy
	Target    Name // the target's head
	NewHead   Name // zero when a merge or cherry-pick has to be prepared first
	Diff      *Diff
	Conflicts []Conflict // not settled
	Reviews   []Review
	// StateDigest covers all of the above; approval requires it.
	StateDigest string
	// Whole is false when the diff is longer than what can be shown.
	Whole bool
}

func (s *State) proposal(project, id string) (*project, *proposalState, *Refusal) {
	p := s.projects[project]
	if p == nil {
		return nil, nil, refuse(ReasonProject, "project %s has no root yet", quoted(project))
	}
	t := p.proposals[id]
	if t == nil {
		return nil, nil, refuse(ReasonUnknown, "there is no proposal %s", quoted(id))
	}
	return p, t, nil
}

// Present returns what is to be shown of a proposal, and writes nothing.
func (s *State) Present(project, id string) (*Presentation, error) {
	p, t, fault := s.proposal(project, id)
	if fault != nil {
		return nil, fault
	}
	return p.present(t), nil
}

func (p *project) present(t *proposalState) *Presentation {
	target := p.refs[t.TargetRef].head
	v := &Presentation{Proposal: t.Proposal, Status: t.status, Strategy: p.strategyFor(t), Target: target.Name()}
	shown := t.head
	if head := p.preparedHead(t, v.Strategy); head != nil {
		v.NewHead, shown = head.Name(), head
	}
	v.Diff = p.diff(target, shown)
	for _, c := range t.unsettled() {
		now := *c.Conflict
		now.Status = c.status
		v.Conflicts = append(v.Conflicts, now)
	}
	v.Diff.Conflicts = v.Diff.Conflicts[:0]
	for _, c := range v.Conflicts {
		v.Diff.Conflicts = append(v.Diff.Conflicts, DiffConflict{c.ID, c.Type, c.Severity, c.Identity, c.Label, c.LeftMemories, c.RightMemories})
	}
	for _, r := range t.reviews {
		v.Reviews = append(v.Reviews, *r)
	}
	v.Whole = len(v.Diff.Markdown()) <= MaxDiffBytes
	v.StateDigest = v.digest(t)
	return v
}

// digest covers the proposal, its reviews but for approvals, which it is to be
// the ground of, its open conflicts, both heads and the diff.
func (v *Presentation) digest(t *proposalState) string {
	var o object
	o.text("proposal", t.sha.String())
	var reviews, conflicts []canonical.Value
	for _, r := range t.reviews {
		if r.Operation != Approve {
			reviews = append(reviews, str(contentDigest(r.Seal())))
		}
	}
	for _, c := range v.Conflicts {
		conflicts = append(conflicts, str(contentDigest(c.Seal())))
	}
	o.list("reviews", reviews)
	o.list("conflicts", conflicts)
	o.text("target", v.Target.String())
	o.maybe("new_head", v.NewHead.String())
	o.text("strategy", string(v.Strategy))
	o.text("diff", contentDigest(v.Diff.JSON()))
	return contentDigest(append([]byte("memory_git/v1 proposal state\n"), o.bytes()...))
}

// Show brings the conflicts of a proposal up to date with the target's head, and
// prepares the merge or cherry-pick when asked and needed. It returns the records
// to publish and what is to be shown once they stand.
func (s *State) Show(c Clerk, project, id string, prepare bool) ([]ledger.Record, *Presentation, error) {
	p, t, fault := s.proposal(project, id)
	if fault != nil {
		return nil, nil, fault
	}
	if !t.open() {
		return nil, p.present(t), nil
	}
	if !c.Principal.Has(ScopeReview) || !c.Principal.MayUse(project) {
		return nil, nil, refuse(ReasonScope, "needs the scope %s for the project", ScopeReview)
	}
	d, err := s.open(c, nil)
	if err != nil {
		return nil, nil, err
	}
	if err := d.refresh(p, t); err != nil {
		return nil, nil, err
	}
	if strategy := p.strategyFor(t); prepare && p.preparedHead(t, strategy) == nil {
		m := p.mergeChangeset(t, strategy)
		m.Author, m.CreatedAt = c.Principal.author(), ledger.FormatTime(c.Now)
		if m.ID, err = NewUUIDv7(c.Now, c.Random); err != nil {
			return nil, nil, err
		}
		m.Key = "merge:" + m.ID
		if _, err := d.write(TypeChangeset, m.Seal()); err != nil {
			return nil, nil, err
		}
	}
	records, err := d.finish()
	return records, p.present(t), err
}

// refresh runs the detectors again: what they no longer find at this head of the
// target is superseded, what is new is opened.
func (d *docket) refresh(p *project, t *proposalState) error {
	found := p.detect(t)
	for _, old := range t.unsettled() {
		if !slices.ContainsFunc(found, func(c *Conflict) bool { return c.ID == old.ID }) {
			c := *old.Conflict
			c.Status, c.Note = ConflictSuperseded, "not found at the target's head as it is now"
			if _, err := d.write(TypeConflict, c.Seal()); err != nil {
				return err
			}
		}
	}
	for _, c := range found {
		if p.conflicts[conflictKey{t.ID, c.ID}] == nil {
			if _, err := d.write(TypeConflict, c.Seal()); err != nil {
				return err
			}
		}
	}
	return nil
}

// fresh reports whether the detectors find nothing but what stands.
func (p *project) fresh(t *proposalState) bool {
	found := p.detect(t)
	for _, c := range found {
		if p.conflicts[conflictKey{t.ID, c.ID}] == nil {
			return false
		}
	}
	for _, old := range t.unsettled() {
		if !slices.ContainsFunc(found, func(c *Conflict) bool { return c.ID == old.ID }) {
			return false
		}
	}
	return true
}

// Verdict of a reviewer, other than approval. ID is a UUID version 7 that stays
// the same when the job is done again; a review that stands gives no records.
type ReviewRequest struct {
	Project, Proposal, ID string
	Operation             Operation
	Findings              []string
}

// Review records a comment, requests changes, rejects, cancels or expires.
func (s *State) Review(c Clerk, q ReviewRequest) ([]ledger.Record, error) {
	p, _, fault := s.proposal(q.Project, q.Proposal)
	if fault != nil {
		return nil, fault
	}
	if q.Operation == Approve {
		return nil, refuse(ReasonShape, "approval needs what was shown")
	}
	if p.reviews[q.ID] {
		return nil, nil
	}
	d, err := s.open(c, nil)
	if err != nil {
		return nil, err
	}
	v := &Review{ID: q.ID, Project: q.Project, Proposal: q.Proposal, Operation: q.Operation, Reviewer: c.Principal.author(),
		Findings: q.Findings, CreatedAt: ledger.FormatTime(c.Now)}
	if _, err := d.write(TypeReview, v.Seal()); err != nil {
		return nil, err
	}
	return d.finish()
}

// ConflictRequest settles or defers a conflict.
type ConflictRequest struct {
	Project, Proposal, Conflict string
	Status                      ConflictStatus // resolved, rejected or deferred
	Note                        string         // why
}

// Settle takes a conflict to its next status, and every equal one with it. One
// that has the status already gives no records.
func (s *State) Settle(c Clerk, q ConflictRequest) ([]ledger.Record, error) {
	p, t, fault := s.proposal(q.Project, q.Proposal)
	if fault != nil {
		return nil, fault
	}
	old := p.conflicts[conflictKey{t.ID, q.Conflict}]
	switch {
	case old == nil:
		return nil, refuse(ReasonUnknown, "the proposal has no conflict %s", quoted(q.Conflict))
	case q.Note == "" || q.Status != ConflictResolved && q.Status != ConflictRejected && q.Status != ConflictDeferred:
		return nil, refuse(ReasonShape, "a conflict is resolved, rejected or deferred, with a note that says why")
	case old.status == q.Status:
		return nil, nil
	}
	d, err := s.open(c, nil)
	if err != nil {
		return nil, err
	}
	next := *old.Conflict
	next.Status, next.Note = q.Status, q.Note
	if _, err := d.write(TypeConflict, next.Seal()); err != nil {
		return nil, err
	}
	return d.finish()
}
