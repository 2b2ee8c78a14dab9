package memory

import "github.com/repo-memory/ledger/pkg/ledger"

// Begin starts a project for persist, which does so before the first admission:
// an agent has nothing to build on until the project has its root. admitted are
// the plain records that are published with it. A project that has its root is
// left as it is.
func (s *State) Begin(c Clerk, policy *Policy, project string, admitted []ledger.Record) ([]ledger.Record, error) {
	entry, fault := policy.Writer(c.Principal.ID)
	switch {
	case fault != nil:
		return nil, fault
	case !entry.MayUse(project):
		return nil, refuse(ReasonProject, "project %s is not one of the principal's", quoted(project))
	case s.projects[project] != nil:
		return nil, nil
	}
	c.Principal = entry
	d, err := s.open(c, admitted)
	if err != nil {
		return nil, err
	}
	if err := d.root(project); err != nil {
		return nil, err
	}
	return d.finish()
}

// Within returns the policy for a run that has to do with one project: of the
// principal's projects only that one is left, and none if it is not theirs.
func (p *Policy) Within(principal, project string) *Policy {
	if p == nil {
		return nil
	}
	narrow := *p
	narrow.principals = make(map[string]Principal, len(p.principals))
	for id, entry := range p.principals {
		if id == principal {
			keep := entry.MayUse(project)
			if entry.Projects = nil; keep {
				entry.Projects = []string{project}
			}
		}
		narrow.principals[id] = entry
	}
	return &narrow
}

// Reserves reports whether a ref is a topic that the policy gives to others than
// an entry. Persist refuses what is for it.
func (p *Policy) Reserves(ref string, entry Principal) bool {
	r, ok := ParseRef(ref)
	return ok && r.Kind == TopicRef && p.reserves(r.Name, entry)
}
