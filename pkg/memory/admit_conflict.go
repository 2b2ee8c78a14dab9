package memory

import (
	"slices"
	"strings"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// conflictKey is a conflict and the proposal that it is kept for. The same
// finding can block two proposals; a step of it is a step of both.
type conflictKey struct{ proposal, id string }

type conflictState struct {
	*Conflict
	left, right *set
	status      ConflictStatus
	seq         int
}

// settled reports whether the conflict is at its end. One that is deferred is not:
// it still counts for an approval.
func (c *conflictState) settled() bool {
	return c.status != ConflictOpen && c.status != ConflictDeferred
}

// unsettled returns the conflicts of a proposal that are not settled, by id.
func (t *proposalState) unsettled() []*conflictState {
	var list []*conflictState
	for _, c := range t.conflicts {
		if !c.settled() {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b *conflictState) int { return strings.Compare(a.ID, b.ID) })
	return list
}

// retire ends the conflicts of a proposal that are not settled.
func (t *proposalState) retire(status ConflictStatus) {
	for _, c := range t.conflicts {
		if !c.settled() {
			c.status = status
		}
	}
}

func (s *State) admitConflict(p Principal, r ledger.Record, k *link) *Refusal {
	c, fault := ParseConflict(r.Payload())
	if fault != nil {
		return fault
	}
	project, fault := s.of(p, c.Project, p.author(), "")
	if fault != nil {
		return fault
	}
	t := project.proposals[c.Proposal]
	left, leftKnown := project.known(c.Left)
	right, rightKnown := project.known(c.Right)
	if t == nil || !leftKnown || !rightKnown {
		return refuse(ReasonUnknown, "names a proposal or changeset that was never accepted")
	}
	key := conflictKey{c.Proposal, c.ID}
	if old := project.conflicts[key]; old != nil {
		return project.step(p, old, c, k == nil)
	}
	if c.Status != ConflictOpen || !t.open() {
		return refuse(ReasonState, "a conflict starts open, with an open proposal")
	}
	n := 0
	for _, other := range t.conflicts {
		if !other.settled() {
			n++
		}
	}
	if n > MaxConflicts {
		return refuse(ReasonBound, "the proposal has %d open conflicts", n)
	}
	if k == nil {
		return nil
	}
	state := &conflictState{Conflict: c, left: left, right: right, status: ConflictOpen, seq: k.Seq}
	project.conflicts[key] = state
	project.found = append(project.found, state)
	project.equal[c.ID] = append(project.equal[c.ID], state)
	t.conflicts = append(t.conflicts, state)
	t.touch()
	return nil
}

// step takes a conflict to its next status, and every equal one with it.
func (p *project) step(by Principal, old *conflictState, c *Conflict, trial bool) *Refusal {
	judged := c.Status == ConflictResolved || c.Status == ConflictRejected || c.Status == ConflictDeferred
	switch {
	case old.settled() || c.Status == old.status:
		return refuse(ReasonState, "the conflict is %s", old.status)
	case judged && (!by.IsUser() || !by.Has(ScopeReview)):
		return refuse(ReasonScope, "needs a person with the scope %s", ScopeReview)
	case judged && p.wrote(by.ID, p.proposals[c.Proposal]):
		return refuse(ReasonReviewer, "whoever wrote the proposal or a changeset in it does not settle its conflicts")
	}
	if trial {
		return nil
	}
	for _, other := range p.equal[c.ID] {
		if !other.settled() && (judged || other == old) {
			other.status = c.Status
			p.proposals[other.Proposal].touch()
		}
	}
	return nil
}

func (s *State) admitManifest(p Principal, r ledger.Record, k *link) *Refusal {
	m, fault := ParseManifest(r.Payload())
	if fault != nil {
		return fault
	}
	scope := ScopeRead
	if m.Kind == OutputManifest {
		scope = "" // persist's own
	}
	project, fault := s.of(p, m.Project, m.Author, scope)
	if fault != nil {
		return fault
	}
	if project.manifests[m.ID] != nil {
		return refuse(ReasonIdentity, "manifest_id is taken")
	}
	if m.Kind == InputManifest {
		c, fault := project.rebuild(m)
		if fault != nil {
			return fault
		}
		ref := project.refs[m.Ref]
		if !IsProtected(m.Ref) && !p.owns(ref.ref, ref.creator) {
			return refuse(ReasonOwner, "%s belongs to somebody else", quoted(m.Ref))
		}
		text := c.Text()
		if k != nil {
			if k.contexts += len(text); k.contexts > MaxLinkContextBytes {
				return refuse(ReasonBound, "the manifests of one run pin contexts over %d bytes: pin fewer or shorter ones", MaxLinkContextBytes)
			}
		}
		if contentDigest(text) != m.ContentDigest {
			return refuse(ReasonPins, "the pins do not give the content that the manifest names")
		}
	}
	if k == nil {
		return nil
	}
	project.manifests[m.ID] = m
	project.manifestIDs = append(project.manifestIDs, m.ID)
	return nil
}
