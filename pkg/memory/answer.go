package memory

import (
	"slices"
	"strings"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// The answers of a State, for the tools and the command line. Lists are in a
// fixed order; nothing in them is shared with the State.

// Projects returns the projects that have a root, ascending.
func (s *State) Projects() []string { return sortedKeys(s.projects) }

// Seq returns how many links the admission chain has, and the time of the last.
func (s *State) Seq() (seq int, time string) {
	if s.tip == nil {
		return 0, ""
	}
	return s.tip.Seq, s.tip.time
}

// Verdict returns what the chain says of a record; ok is false when nothing.
func (s *State) Verdict(sha ledger.Hash) (v Verdict, ok bool) {
	if listed := s.listed[sha]; listed != nil {
		return *listed, true
	}
	return Verdict{}, false
}

// RefInfo is a ref with its reflog, oldest entry first.
type RefInfo struct {
	Name      string     `json:"ref_name"`
	Head      Name       `json:"head_changeset_id"`
	Protected bool       `json:"protected"`
	Creator   string     `json:"creator"`
	Log       []RefEntry `json:"reflog"`
}

// MayRead reports whether a principal may read a ref: shared ones, and those that
// they own.
func (s *State) MayRead(p Principal, project, ref string) bool {
	if !p.Has(ScopeRead) && !p.Has(ScopeReview) && !p.Has(ScopeMerge) && !p.Has(ScopeWrite) || !p.MayUse(project) || s.projects[project] == nil {
		return false
	}
	r := s.projects[project].refs[ref]
	return r != nil && (IsProtected(ref) || p.owns(r.ref, r.creator) || p.Has(ScopeReview) || p.Has(ScopeMerge))
}

// Refs returns the refs of a project by name.
func (s *State) Refs(project string) []RefInfo {
	list := []RefInfo{}
	if p := s.projects[project]; p != nil {
		for _, name := range sortedKeys(p.refs) {
			list = append(list, p.refs[name].info())
		}
	}
	return list
}

func (r *refState) info() RefInfo {
	return RefInfo{r.name, r.head.Name(), IsProtected(r.name), r.creator, slices.Clone(r.log)}
}

// Ref returns one ref.
func (s *State) Ref(project, name string) (RefInfo, bool) {
	if p := s.projects[project]; p != nil && p.refs[name] != nil {
		return p.refs[name].info(), true
	}
	return RefInfo{}, false
}

// RefAt returns the head of a ref after the admissions up to a time, a record
// timestamp; ok is false when there was none yet.
func (s *State) RefAt(project, name, time string) (head Name, ok bool) {
	r, _ := s.Ref(project, name)
	for _, e := range r.Log {
		if e.Time > time {
			break
		}
		head, ok = e.To, true
	}
	return head, ok
}

// ChangesetInfo is an accepted changeset as it stands on the ledger.
type ChangesetInfo struct {
	*Changeset
	Seq    int         // of the admission that accepted it
	Record ledger.Hash // its record
	Landed bool        // reachable from a protected ref
}

// Changeset returns an accepted changeset. Its contents must not be changed.
func (s *State) Changeset(project string, n Name) (ChangesetInfo, bool) {
	if p := s.projects[project]; p != nil {
		if t, known := p.known(n); known {
			return t.info(), true
		}
	}
	return ChangesetInfo{}, false
}

// Find returns the accepted changeset with an id.
func (s *State) Find(project, id string) (ChangesetInfo, bool) {
	if p := s.projects[project]; p != nil {
		if i, known := p.byID[id]; known {
			return p.sets[i].info(), true
		}
	}
	return ChangesetInfo{}, false
}

func (t *set) info() ChangesetInfo { return ChangesetInfo{t.Changeset, t.seq, t.sha, t.landed} }

// MayReadChangeset reports whether a principal may read a changeset.
func (s *State) MayReadChangeset(by Principal, project string, n Name) bool {
	p := s.projects[project]
	if p == nil || !by.MayUse(project) {
		return false
	}
	t, known := p.known(n)
	return known && p.readable(by, t)
}

// Log returns the changesets that a head holds, newest effect first, at most most.
func (s *State) Log(project string, head Name, most int) []ChangesetInfo {
	list := []ChangesetInfo{}
	p := s.projects[project]
	if p == nil {
		return list
	}
	t, known := p.known(head)
	if !known {
		return list
	}
	order, _ := p.delta(t.index, len(p.sets))
	for i := len(order) - 1; i >= 0 && len(list) < most; i-- {
		list = append(list, p.sets[order[i]].info())
	}
	return list
}

// MemoryAt returns the active memories of a head by id, without the baseline.
func (s *State) MemoryAt(project string, head Name) []Memory {
	list := []Memory{}
	p := s.projects[project]
	if p == nil {
		return list
	}
	t, known := p.known(head)
	if !known {
		return list
	}
	t.view.mem.each(func(_ int32, m *Memory) {
		if m != nil && m.Active {
			list = append(list, *m)
		}
	})
	slices.SortFunc(list, func(a, b Memory) int { return strings.Compare(a.ID, b.ID) })
	return list
}

// Baseline returns the unreviewed records that a project started with, by digest.
func (s *State) Baseline(project string) []Memory {
	list := []Memory{}
	if p := s.projects[project]; p != nil {
		p.readBaseline()
		for _, m := range p.baseline.order {
			list = append(list, *m)
		}
	}
	return list
}

// ProposalInfo is a proposal and what became of it.
type ProposalInfo struct {
	*Proposal
	Status    ProposalStatus
	Time      string // of its admission
	Record    ledger.Hash
	Reviews   []Review
	Conflicts []Conflict // with their status as it is now
	Merged    Name
	Approved  bool // by an approval that nothing made void
}

// Proposals returns the proposals of a project in the order of their admission.
func (s *State) Proposals(project string) []ProposalInfo {
	list := []ProposalInfo{}
	if p := s.projects[project]; p != nil {
		for _, t := range p.order {
			list = append(list, p.proposalInfo(t))
		}
	}
	return list
}

// Proposal returns one proposal.
func (s *State) Proposal(project, id string) (ProposalInfo, bool) {
	p, t, fault := s.proposal(project, id)
	if fault != nil {
		return ProposalInfo{}, false
	}
	return p.proposalInfo(t), true
}

func (p *project) proposalInfo(t *proposalState) ProposalInfo {
	info := ProposalInfo{Proposal: t.Proposal, Status: t.status, Time: t.time, Record: t.sha, Merged: t.merged, Approved: p.current(t) != nil}
	for _, r := range t.reviews {
		info.Reviews = append(info.Reviews, *r)
	}
	for _, c := range t.conflicts {
		now := *c.Conflict
		now.Status = c.status
		info.Conflicts = append(info.Conflicts, now)
	}
	return info
}

// Conflicts returns all conflicts of a project in the order of their records,
// with their status as it is now.
func (s *State) Conflicts(project string) []Conflict {
	list := []Conflict{}
	if p := s.projects[project]; p != nil {
		for _, c := range p.found {
			now := *c.Conflict
			now.Status = c.status
			list = append(list, now)
		}
	}
	return list
}

// Detect runs the detectors for a proposal as things stand, and keeps nothing.
func (s *State) Detect(project, proposal string) ([]Conflict, error) {
	p, t, fault := s.proposal(project, proposal)
	if fault != nil {
		return nil, fault
	}
	list := []Conflict{}
	for _, c := range p.detect(t) {
		list = append(list, *c)
	}
	return list, nil
}

// Manifest returns an accepted manifest.
func (s *State) Manifest(project, id string) (*Manifest, bool) {
	if p := s.projects[project]; p != nil && p.manifests[id] != nil {
		return p.manifests[id], true
	}
	return nil, false
}
