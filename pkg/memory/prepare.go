package memory

// virtualID stands for a changeset that is only looked at.
const virtualID = "00000000-0000-7000-8000-000000000000"

// mergeChangeset is the changeset that joins a proposal to its target, but for
// who made it when.
func (p *project) mergeChangeset(t *proposalState, strategy Strategy) *Changeset {
	target := p.refs[t.TargetRef].head
	c := &Changeset{ID: virtualID, Project: p.id, Ref: t.TargetRef, Parents: []Name{target.Name()}, Ops: p.mergeOps(t, strategy, target),
		Message: "reviewed merge of proposal " + t.ID, Key: "merge:" + t.ID}
	if strategy == MergeCommit {
		c.Parents = append(c.Parents, t.head.Name())
	} else {
		c.Message = "reviewed cherry-pick of proposal " + t.ID
	}
	return c
}

// reader may read everything and do nothing.
var reader = Principal{ID: "1", Actor: "reader", Scopes: []Scope{ScopeReview}}

// prepared builds the merge of a proposal without keeping it.
func (p *project) prepared(t *proposalState, strategy Strategy) (*set, *Refusal) {
	c := p.mergeChangeset(t, strategy)
	c.Author = reader.author()
	return p.build(reader, c, nil)
}

// strategyFor is the strategy that fits a proposal as things stand.
func (p *project) strategyFor(t *proposalState) Strategy {
	switch {
	case len(t.Selected) > 0:
		return CherryPick
	case t.head.view.has(p.refs[t.TargetRef].head.index):
		return FastForward
	}
	return MergeCommit
}

// preparedHead finds the newest accepted changeset that has the shape of the
// strategy, the proposal's own head for a fast-forward.
func (p *project) preparedHead(t *proposalState, strategy Strategy) *set {
	if strategy == FastForward {
		return t.head
	}
	for i := len(p.sets) - 1; i > int(t.head.index); i-- {
		s := p.sets[i]
		if s.Ref == t.TargetRef && p.checkShape(t, s.Name(), strategy) == nil {
			return s
		}
	}
	return nil
}
