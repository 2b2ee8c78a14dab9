package memory

import (
	"slices"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// ProposalStatus is where a proposal is in its life.
type ProposalStatus string

const (
	ProposalOpen     ProposalStatus = "open"
	ProposalChanges  ProposalStatus = "changes_requested" // still open to approval
	ProposalApproved ProposalStatus = "approved"          // until something changes
	ProposalMerged   ProposalStatus = "merged"
	ProposalRejected ProposalStatus = "rejected"
	ProposalCanceled ProposalStatus = "canceled"
	ProposalExpired  ProposalStatus = "expired"
)

// proposalState is an accepted proposal and what became of it.
type proposalState struct {
	*Proposal
	head, base *set
	status     ProposalStatus
	seq        int
	time       string
	sha        ledger.Hash
	reviews    []*Review
	conflicts  []*conflictState
	// version counts what can make an approval void: reviews, and steps of its
	// conflicts.
	version  int
	approval *approval
	merged   Name
}

// approval is what the last approval stood on.
type approval struct {
	*Review
	version int
	target  *set // the target's head
}

func (t *proposalState) open() bool {
	return t.status == ProposalOpen || t.status == ProposalChanges || t.status == ProposalApproved
}

// current returns the approval if nothing changed since.
func (p *project) current(t *proposalState) *approval {
	if a := t.approval; a != nil && t.open() && a.version == t.version && a.target == p.refs[t.TargetRef].head {
		return a
	}
	return nil
}

// touch says that something happened that an approval did not see.
func (t *proposalState) touch() {
	t.version++
	if t.status == ProposalApproved {
		t.status = ProposalOpen
	}
}

func (s *State) admitProposal(p Principal, r ledger.Record, k *link) *Refusal {
	q, fault := ParseProposal(r.Payload())
	if fault != nil {
		return fault
	}
	project, fault := s.of(p, q.Project, q.Author, ScopePropose)
	if fault != nil {
		return fault
	}
	digest := q.requestDigest()
	if use, used := project.keys[keyOf{p.ID, q.Key}]; used {
		if use.typ == TypeProposal && *use.digest == digest {
			return refuse(ReasonReplay, "the same request was admitted before")
		}
		return refuse(ReasonKeyReused, "the idempotency key was used for another request: choose a new one")
	}
	t, fault := project.judgeProposal(p, q)
	if fault != nil {
		return fault
	}
	if k == nil {
		return nil
	}
	t.seq, t.time, t.sha = k.Seq, k.time, r.SHA()
	project.proposals[q.ID] = t
	project.order = append(project.order, t)
	project.keys[keyOf{p.ID, q.Key}] = keyUse{typ: TypeProposal, digest: &digest}
	return nil
}

func (p *project) judgeProposal(by Principal, q *Proposal) (*proposalState, *Refusal) {
	target := p.refs[q.TargetRef]
	head, headKnown := p.known(q.Head)
	base, baseKnown := p.known(q.Base)
	switch {
	case p.proposals[q.ID] != nil:
		return nil, refuse(ReasonIdentity, "proposal_id is taken")
	case !IsProtected(q.TargetRef):
		return nil, refuse(ReasonShape, "proposals are for refs/shared/*: move %s yourself", quoted(q.TargetRef))
	case target == nil:
		return nil, refuse(ReasonUnknown, "there is no ref %s", quoted(q.TargetRef))
	case !headKnown || !baseKnown:
		return nil, refuse(ReasonUnknown, "head or base was never accepted in this project")
	case !p.readable(by, head):
		return nil, refuse(ReasonUnreadable, "head is on a branch of somebody else")
	case !head.view.has(base.index) || !target.head.view.has(base.index):
		return nil, &Refusal{ReasonAncestry, "base must be reachable from both the head and the target's head", target.head.Name().String()}
	case target.head.view.has(head.index):
		return nil, refuse(ReasonState, "the target holds the head already: nothing to merge")
	}
	if q.SourceRef != "" {
		source := p.refs[q.SourceRef]
		if source == nil || !source.head.view.has(head.index) {
			return nil, refuse(ReasonAncestry, "head is not on source_ref")
		}
	}
	for i, sel := range q.Selected {
		t, known := p.known(sel.Changeset)
		if !known || sel.Ordinal >= len(t.Ops) || !head.view.has(t.index) || target.head.view.has(t.index) {
			return nil, refuse(ReasonUnknown, "selected op %d is none that the head adds to the target", i)
		}
	}
	t := &proposalState{Proposal: q, head: head, base: base, status: ProposalOpen}
	if len(q.Selected) > 0 {
		if _, fault := p.prepared(t, CherryPick); fault != nil {
			return nil, &Refusal{fault.Reason, "the selected ops do not apply to the target: " + fault.Detail, target.head.Name().String()}
		}
	}
	return t, nil
}

// wrote reports whether a principal made the proposal or any changeset that it
// brings to the target.
func (p *project) wrote(principal string, t *proposalState) bool {
	if t.Author.Principal == principal {
		return true
	}
	list, ok := p.delta(t.head.index, len(p.sets), p.refs[t.TargetRef].head.view)
	return !ok || slices.ContainsFunc(list, func(i int32) bool { return p.sets[i].Author.Principal == principal })
}

func (s *State) admitReview(p Principal, r ledger.Record, k *link) *Refusal {
	v, fault := ParseReview(r.Payload())
	if fault != nil {
		return fault
	}
	scope := ScopeReview
	if v.Operation == Cancel {
		scope = "" // the proposer's, or a reviewer's
	}
	project, fault := s.of(p, v.Project, v.Reviewer, scope)
	if fault != nil {
		return fault
	}
	t := project.proposals[v.Proposal]
	if t == nil {
		return refuse(ReasonUnknown, "there is no such proposal")
	}
	if project.reviews[v.ID] {
		return refuse(ReasonIdentity, "review_id is taken")
	}
	if fault := project.judgeReview(p, t, v); fault != nil || k == nil {
		return fault
	}
	t.reviews = append(t.reviews, v)
	project.reviews[v.ID] = true
	switch v.Operation {
	case Approve:
		t.approval, t.status = &approval{v, t.version, project.refs[t.TargetRef].head}, ProposalApproved
		return nil
	case Comment, RequestChanges:
		t.touch()
		if v.Operation == RequestChanges {
			t.status = ProposalChanges
		}
		return nil
	case Reject:
		t.status = ProposalRejected
		t.retire(ConflictRejected)
	case Cancel:
		t.status = ProposalCanceled
		t.retire(ConflictCanceled)
	case Expire:
		t.status = ProposalExpired
		t.retire(ConflictCanceled)
	}
	t.version++
	return nil
}

func (p *project) judgeReview(by Principal, t *proposalState, v *Review) *Refusal {
	if !t.open() {
		return refuse(ReasonState, "the proposal is %s", t.status)
	}
	switch v.Operation {
	case Cancel:
		if by.ID != t.Author.Principal && !by.Has(ScopeReview) {
			return refuse(ReasonScope, "cancels the proposal of somebody else without the scope %s", ScopeReview)
		}
		return nil
	case Approve:
	default:
		return nil
	}
	if !by.IsUser() || p.wrote(by.ID, t) {
		return refuse(ReasonReviewer, "whoever wrote the proposal or a changeset in it does not approve it")
	}
	if fault := p.checkOpen(t, v.Acknowledged); fault != nil {
		return fault
	}
	return p.checkShape(t, v.NewHead, v.Strategy)
}

// checkOpen judges the open conflicts of a proposal for an approval.
func (p *project) checkOpen(t *proposalState, acknowledged []string) *Refusal {
	blocking, asking := 0, 0
	for _, c := range t.unsettled() {
		switch {
		case c.Severity == Blocks:
			blocking++
		case c.Severity == Asks && !slices.Contains(acknowledged, c.ID):
			asking++
		}
	}
	switch {
	case blocking > 0:
		return refuse(ReasonConflicts, "%d open conflicts block approval: pick other ops, change the proposal, or resolve them", blocking)
	case asking > 0:
		return refuse(ReasonConflicts, "%d open conflicts want to be acknowledged by id", asking)
	}
	return nil
}

func (s *State) admitMerge(p Principal, r ledger.Record, k *link) *Refusal {
	m, fault := ParseMerge(r.Payload())
	if fault != nil {
		return fault
	}
	e := &m.Token.Envelope
	project, fault := s.of(p, e.Project, p.author(), ScopeMerge)
	if fault != nil {
		return fault
	}
	merged, _ := ledger.ParseTime(m.MergedAt)
	issued, expires, err := e.checkTimes()
	if err != nil || merged.Before(issued.Add(-ClockTolerance)) || !merged.Before(expires) {
		return refuse(ReasonTime, "was not merged while the authorization stood")
	}
	if _, used := s.nonces[e.Nonce]; used {
		return refuse(ReasonNonce, "the authorization was used: it is good for one merge")
	}
	t, ref, fault := project.judgeMerge(p, e)
	if fault != nil || k == nil {
		return fault
	}
	head, _ := project.known(e.NewHead)
	list, _ := project.delta(head.index, len(project.sets), ref.head.view)
	for _, i := range list {
		project.sets[i].landed = true
	}
	s.nonces[e.Nonce] = r.SHA()
	ref.move(head, RefEntry{Seq: k.Seq, Time: k.time, Principal: p.ID, From: e.Expected, To: e.NewHead, Proposal: t.ID, Record: r.SHA()})
	t.status, t.merged = ProposalMerged, e.NewHead
	t.version++
	t.retire(ConflictSuperseded)
	// Whatever else proposes what the ref holds now has nothing left to say, and
	// its conflicts would withhold what was accepted.
	for _, other := range project.order {
		if other.open() && other.TargetRef == e.Ref && head.view.has(other.head.index) {
			other.touch()
			other.retire(ConflictSuperseded)
		}
	}
	return nil
}

// judgeMerge compares an authorization with what it authorizes, as it stands now.
func (p *project) judgeMerge(by Principal, e *Envelope) (*proposalState, *refState, *Refusal) {
	t := p.proposals[e.Proposal]
	ref := p.refs[e.Ref]
	switch {
	case t == nil:
		return nil, nil, refuse(ReasonUnknown, "the authorization is for a proposal that there is not")
	case ref == nil || !IsProtected(e.Ref) || t.TargetRef != e.Ref:
		return nil, nil, refuse(ReasonUnknown, "the authorization is for another ref than the proposal")
	case e.Merger != by.ID:
		return nil, nil, refuse(ReasonAuthor, "the authorization names another merger")
	case !t.open():
		return nil, nil, refuse(ReasonState, "the proposal is %s", t.status)
	case ref.head.Name() != e.Expected:
		return nil, nil, &Refusal{ReasonStaleHead, "the ref moved on since the approval: review again", ref.head.Name().String()}
	case p.wrote(by.ID, t):
		return nil, nil, refuse(ReasonReviewer, "whoever wrote the proposal or a changeset in it does not merge it")
	}
	a := p.current(t)
	if a == nil {
		return nil, nil, refuse(ReasonStale, "the proposal, its reviews or its conflicts changed since the approval: review again")
	}
	if a.StateDigest != e.StateDigest || a.NewHead != e.NewHead || a.Strategy != e.Strategy || a.Nonce != e.Nonce || a.Reviewer.Principal != e.Reviewer {
		return nil, nil, refuse(ReasonStale, "the authorization is not that of the last approval")
	}
	if fault := p.checkOpen(t, a.Acknowledged); fault != nil {
		return nil, nil, fault
	}
	return t, ref, p.checkShape(t, e.NewHead, e.Strategy)
}
