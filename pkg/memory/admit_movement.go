package memory

import "github.com/repo-memory/ledger/pkg/ledger"

func (s *State) admitMovement(p Principal, r ledger.Record, k *link) *Refusal {
	m, fault := readMovement(s.parse(r, "movement"))
	if fault != nil {
		return fault
	}
	project, use, fault := s.judgeMovement(p, m, nil)
	if fault != nil || k == nil {
		return fault
	}
	head, _ := project.known(m.Head)
	ref := project.refs[m.Ref]
	if ref == nil {
		ref = &refState{name: m.Ref, creator: p.ID}
		ref.ref, _ = ParseRef(m.Ref)
		project.refs[m.Ref] = ref
	}
	ref.move(head, RefEntry{Seq: k.Seq, Time: k.time, Principal: p.ID, From: m.Expected, To: m.Head, Record: r.SHA()})
	project.keys[keyOf{p.ID, m.Key}] = use
	return nil
}

// judgeMovement judges a movement. head, unless it is nil, is a changeset that is
// not admitted yet and belongs to the same request.
func (s *State) judgeMovement(p Principal, m *Movement, head *set) (*project, keyUse, *Refusal) {
	none := keyUse{}
	scope := ScopeCommit
	if m.Create {
		scope = ScopeBranch
	}
	if p.Has(ScopeWrite) {
		scope = ""
	}
	if IsProtected(m.Ref) {
		return nil, none, refuse(ReasonProtected, "%s moves by a reviewed merge only", quoted(m.Ref))
	}
	project, fault := s.of(p, m.Project, m.Author, scope)
	if fault != nil {
		return nil, none, fault
	}
	var use keyUse
	if head == nil {
		known := false
		if use, fault = project.useKey(p, m); fault != nil {
			return nil, none, fault
		}
		if head, known = project.known(m.Head); !known {
			return nil, none, refuse(ReasonUnknown, "new_head was never accepted in this project")
		}
		if !project.readable(p, head) {
			return nil, none, refuse(ReasonUnreadable, "new_head is on a branch of somebody else")
		}
	}
	ref, _ := ParseRef(m.Ref)
	there := project.refs[m.Ref]
	if there != nil && !p.owns(ref, there.creator) || there == nil && !p.mayCreate(ref) {
		return nil, none, refuse(ReasonOwner, "%s belongs to somebody else", quoted(m.Ref))
	}
	switch {
	case m.Create && there != nil:
		return nil, none, &Refusal{ReasonStaleHead, "the ref exists already", there.head.Name().String()}
	case m.Create:
	case there == nil:
		return nil, none, refuse(ReasonUnknown, "there is no ref %s: ask to create it", quoted(m.Ref))
	case there.head.Name() != m.Expected:
		return nil, none, &Refusal{ReasonStaleHead, "the ref moved on: rebase, merge, or drop the change", there.head.Name().String()}
	case head == there.head || !head.view.has(there.head.index):
		return nil, none, refuse(ReasonAncestry, "new_head does not descend from expected_head")
	}
	return project, use, nil
}

func (r *refState) move(head *set, entry RefEntry) {
	r.head = head
	r.log = append(r.log, entry)
}

// useKey judges the idempotency key of a movement: its own, or that of the
// changeset that was made by the same request.
func (p *project) useKey(by Principal, m *Movement) (keyUse, *Refusal) {
	use, used := p.keys[keyOf{by.ID, m.Key}]
	if !used {
		digest := m.requestDigest()
		return keyUse{typ: TypeRef, digest: &digest}, nil
	}
	same := use.typ == TypeRef && *use.digest == m.requestDigest()
	if use.typ == TypeChangeset {
		c := use.set
		same = c.Name() == m.Head && c.Ref == m.Ref && c.Expected == m.Expected && c.Create == m.Create
		if same && !use.moved {
			use.moved = true
			return use, nil
		}
	}
	if same {
		return use, refuse(ReasonReplay, "the same movement was admitted before")
	}
	return use, refuse(ReasonKeyReused, "the idempotency key was used for another request: choose a new one")
}
