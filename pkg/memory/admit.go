package memory

import (
	"slices"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// refState is one ref.
type refState struct {
	name    string
	ref     Ref
	head    *set
	creator string // principal
	log     []RefEntry
}

// RefEntry is one movement of a ref in its reflog.
type RefEntry struct {
	Seq       int         `json:"seq"` // of the admission
	Time      string      `json:"time"`
	Principal string      `json:"principal"`
	From      Name        `json:"from,omitzero"`
	To        Name        `json:"to"`
	Proposal  string      `json:"proposal_id,omitzero"` // of a merge
	Record    ledger.Hash `json:"record"`
}

type keyOf struct{ principal, key string }

// keyUse is what an idempotency key was used for.
type keyUse struct {
	typ    string
	set    *set // of a changeset; its digest is made when it is needed
	moved  bool // the movement of the changeset's request was admitted
	digest *[32]byte
}

// of returns the project for a record of a principal, and judges what is the same
// for all records: project, author and scope.
func (s *State) of(p Principal, id string, author Author, scope Scope) (*project, *Refusal) {
	switch {
	case author.Principal != p.ID || author.Actor != p.Actor:
		return nil, refuse(ReasonAuthor, "names another principal or actor than the workflow's")
	case !p.MayUse(id):
		return nil, refuse(ReasonProject, "project %s is not one of the principal's", quoted(id))
	case scope != "" && !p.Has(scope):
		return nil, refuse(ReasonScope, "needs the scope %s", scope)
	}
	project := s.projects[id]
	if project == nil {
		return nil, refuse(ReasonProject, "project %s has no root yet", quoted(id))
	}
	return project, nil
}

// readable reports whether a principal may build on a changeset: accepted memory,
// what their own actor wrote, and what is on a topic that the policy gives them;
// reviewers and operators may read all.
func (p *project) readable(by Principal, t *set) bool {
	return t.landed || t.Author.Actor == by.Actor || by.Has(ScopeReview) || by.Has(ScopeMerge) || by.Has(ScopeWrite) ||
		p.onTopic(by.Topics, t)
}

// onTopic reports whether a changeset is on one of some topics.
func (p *project) onTopic(topics []string, t *set) bool {
	return slices.ContainsFunc(topics, func(topic string) bool {
		ref := p.refs[topicRef(topic)]
		return ref != nil && ref.head.view.has(t.index)
	})
}

func (s *State) admitChangeset(p Principal, r ledger.Record, k *link) *Refusal {
	c, fault := readChangeset(s.parse(r, "changeset"), r.Payload())
	if fault != nil {
		return fault
	}
	if c.ID == RootID {
		return s.admitRoot(p, c, r, k)
	}
	project, fault := s.of(p, c.Project, c.Author, "")
	if fault != nil {
		return fault
	}
	if use, used := project.keys[keyOf{p.ID, c.Key}]; used {
		if use.typ == TypeChangeset && use.set.requestDigest() == c.requestDigest() {
			return &Refusal{ReasonReplay, "the same request was admitted before as " + use.set.ID, use.set.Name().String()}
		}
		return refuse(ReasonKeyReused, "the idempotency key was used for another request: choose a new one")
	}
	if fault := project.mayWrite(p, c); fault != nil {
		return fault
	}
	if _, taken := project.byID[c.ID]; taken {
		return refuse(ReasonIdentity, "changeset_id is taken")
	}
	t, fault := project.build(p, c, k)
	if fault != nil {
		return fault
	}
	if k == nil {
		return nil
	}
	t.seq, t.sha = k.Seq, r.SHA()
	project.add(t)
	project.keys[keyOf{p.ID, c.Key}] = keyUse{typ: TypeChangeset, set: t}
	return nil
}

// mayWrite judges for which ref a changeset is. For a protected ref only a
// reviewer prepares one, and it takes effect by a merge alone.
func (p *project) mayWrite(by Principal, c *Changeset) *Refusal {
	ref, _ := ParseRef(c.Ref)
	if IsProtected(c.Ref) {
		if by.Has(ScopeReview) || by.Has(ScopeMerge) {
			return nil
		}
		return refuse(ReasonProtected, "%s moves by a reviewed merge only: commit to a ref of your own and propose it", quoted(c.Ref))
	}
	if !by.Has(ScopeCommit) && !by.Has(ScopeWrite) {
		return refuse(ReasonScope, "needs the scope %s", ScopeCommit)
	}
	if there := p.refs[c.Ref]; there != nil && !by.owns(ref, there.creator) || there == nil && !by.mayCreate(ref) {
		return refuse(ReasonOwner, "%s belongs to somebody else", quoted(c.Ref))
	}
	return nil
}

// build projects a changeset over its parents and validates its ops, one after
// the other. It changes nothing but the numbering of identities.
func (p *project) build(by Principal, c *Changeset, k *link) (*set, *Refusal) {
	t := &set{Changeset: c, index: int32(len(p.sets)), user: by.IsUser(), topics: by.Topics}
	for i, name := range c.Parents {
		parent, known := p.known(name)
		if !known {
			return nil, refuse(ReasonUnknown, "parent %d was never accepted in this project", i)
		}
		if !p.readable(by, parent) {
			return nil, refuse(ReasonUnreadable, "parent %d is on a branch of somebody else", i)
		}
		t.parents = append(t.parents, parent.index)
		if i == 0 {
			t.view = parent.view
			continue
		}
		list, ok := p.delta(parent.index, MaxMergeDelta, t.view)
		if !ok {
			return nil, refuse(ReasonBound, "parent %d brings in more than %d changesets: make it the first parent", i, MaxMergeDelta)
		}
		for _, j := range list {
			if k == nil {
				break
			}
			if k.merged += 1 + len(p.sets[j].Ops); k.merged > MaxLinkDelta {
				return nil, refuse(ReasonBound, "the merges of one run bring in more than %d changesets and ops: make the larger side the first parent", MaxLinkDelta)
			}
		}
		for _, j := range list {
			for n := range p.sets[j].Ops {
				t.view.apply(p, p.sets[j], n)
			}
			t.view.mark(j)
		}
	}
	for n := range c.Ops {
		if fault := t.view.validateOp(p, t, n); fault != nil {
			return nil, fault
		}
		t.view.apply(p, t, n)
	}
	t.view.mark(t.index)
	return t, nil
}

func (p *project) add(t *set) {
	p.sets = append(p.sets, t)
	p.byDigest[t.Digest], p.byID[t.ID] = t.index, t.index
}

// admitRoot starts a project. Its ref comes with it: the one movement of a
// protected ref without an authorization.
func (s *State) admitRoot(p Principal, c *Changeset, r ledger.Record, k *link) *Refusal {
	switch {
	case s.projects[c.Project] != nil:
		return refuse(ReasonIdentity, "the project has its root")
	case !p.MayUse(c.Project):
		return refuse(ReasonProject, "project %s is not one of the principal's", quoted(c.Project))
	case c.Ref != SharedMain || c.Author.Principal != p.ID || c.Author.Actor != p.Actor:
		return refuse(ReasonShape, "a root is for %s and by the one who admits it", SharedMain)
	}
	if k == nil {
		return nil
	}
	project := &project{id: c.Project, state: s, refs: map[string]*refState{}, byDigest: map[ledger.Hash]int32{}, byID: map[string]int32{},
		memoryIndex: map[string]int32{}, keys: map[keyOf]keyUse{}, proposals: map[string]*proposalState{}, conflicts: map[conflictKey]*conflictState{},
		equal: map[string][]*conflictState{}, reviews: map[string]bool{}, manifests: map[string]*Manifest{}, baseline: &baseline{heads: c.BaselineHeads, missing: c.BaselineMissing}}
	t := &set{Changeset: c, user: p.IsUser(), landed: true, seq: k.Seq, sha: r.SHA()}
	t.view.mark(0)
	project.add(t)
	main := &refState{name: SharedMain, ref: Ref{Kind: SharedRef, Name: "main"}, head: t, creator: p.ID}
	main.log = []RefEntry{{Seq: k.Seq, Time: k.time, Principal: p.ID, To: t.Name(), Record: r.SHA()}}
	project.refs[SharedMain] = main
	s.projects[c.Project] = project
	return nil
}
