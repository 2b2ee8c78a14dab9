package memory

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// stageable are the types that an agent may stage; trusted jobs write the others.
var stageable = []string{TypeChangeset, TypeRef, TypeProposal, TypeManifest}

// Allow returns which memory types the ledger's admission lets through for a
// principal: those that agents stage, if the policy knows the principal and is
// not read-only. What it lets through is published and then judged; what it does
// not never reaches the branch, a forged admission or merge least of all.
func Allow(policy *Policy, principal string) func(typ string) bool {
	if _, fault := policy.Writer(principal); fault != nil {
		return func(string) bool { return false }
	}
	return func(typ string) bool { return slices.Contains(stageable, typ) }
}

// Judgement is what became of the records of one persist run.
type Judgement struct {
	// Verdicts are those of the memory records among the admitted, in their order.
	Verdicts []Verdict
	// Records are to be published in the same commit, in this order after the
	// admitted ones: root, conflicts, output manifest, admission.
	Records []ledger.Record
}

// Judge decides over the memory records among those that the ledger's admission
// let through (see Allow), parents first, as persist does before it publishes
// them; plain records among them only become heads. The state must be the fold of
// the branch as it stands, and afterwards is that of the branch with the commit.
//
// A project that has no root yet gets one. Each accepted proposal goes through
// the detectors. Records that an admission lists already are passed over, so that
// the same work on a branch that holds it gives nothing.
//
// The error says why nothing may be authorized at all.
func (s *State) Judge(c Clerk, policy *Policy, admitted []ledger.Record) (Judgement, error) {
	var j Judgement
	entry, fault := policy.Writer(c.Principal.ID)
	if fault != nil {
		return j, fault
	}
	c.Principal = entry
	d, err := s.open(c, admitted)
	if err != nil {
		return j, err
	}
	runs := map[string]*outcome{}
	for _, r := range admitted {
		if !strings.HasPrefix(r.Type(), "memory.") {
			continue
		}
		if s.listed[r.SHA()] != nil {
			continue
		}
		v, err := d.candidate(policy, r, runs)
		if err != nil {
			return j, err
		}
		j.Verdicts = append(j.Verdicts, v)
	}
	for _, id := range sortedKeys(runs) {
		if err := d.output(id, runs[id]); err != nil {
			return j, err
		}
	}
	j.Records, err = d.finish()
	return j, err
}

// outcome is what a run did to a project.
type outcome struct {
	base, result Name
	target       string
	proposal     *proposalState
	input        string
}

// candidate judges one staged record.
func (d *docket) candidate(policy *Policy, r ledger.Record, runs map[string]*outcome) (Verdict, error) {
	var head struct{ project, ref, id string }
	f := parsePayload(r.Payload(), "record")
	head.project, head.ref, head.id = text(f, "project_id"), text(f, "ref_name"), text(f, "changeset_id")
	kind := text(f, "kind")
	if d.s.projects[head.project] == nil && d.Principal.MayUse(head.project) && slices.Contains(stageable, r.Type()) {
		var fault *Refusal
		if err := d.root(head.project); errors.As(err, &fault) {
			return d.list(r, func() *Refusal { return fault })
		} else if err != nil {
			return Verdict{}, err
		}
	}
	v, err := d.list(r, func() *Refusal {
		ref, _ := ParseRef(head.ref)
		switch {
		case !slices.Contains(stageable, r.Type()) || head.id == RootID || r.Type() == TypeManifest && kind != string(InputManifest):
			return refuse(ReasonTrustedOnly, "only trusted jobs write this")
		case ref.Kind == TopicRef && policy.reserves(ref.Name, d.Principal):
			return refuse(ReasonOwner, "the policy gives %s to somebody else", quoted(head.ref))
		case r.Type() == TypeProposal && d.proposals == MaxRunProposals:
			return refuse(ReasonBound, "one run proposes at most %d merges: propose the others in the next", MaxRunProposals)
		}
		return d.s.admit(d.Principal, r, d.link)
	})
	if err != nil || !v.Accepted {
		return v, err
	}
	o := runs[head.project]
	if o == nil {
		o = &outcome{}
		runs[head.project] = o
	}
	return v, d.follow(r, d.s.projects[head.project], o)
}

func text(f *fields, name string) string {
	v, _ := f.get(name)
	return v.Str
}

// follow notes what an accepted record did, and runs the detectors on a proposal.
func (d *docket) follow(r ledger.Record, p *project, o *outcome) error {
	switch r.Type() {
	case TypeChangeset:
		t := p.sets[len(p.sets)-1]
		if o.base == (Name{}) {
			o.base = t.Parents[0]
		}
		o.result, o.target = t.Name(), cmp.Or(o.target, t.Ref)
		o.input = cmp.Or(t.Manifest, o.input)
	case TypeRef:
		m, _ := ParseMovement(r.Payload())
		o.target = m.Ref
		if o.base == (Name{}) {
			o.base = cmp.Or(m.Expected, m.Head)
		}
	case TypeProposal:
		d.proposals++
		t := p.order[len(p.order)-1]
		o.proposal, o.target = t, t.TargetRef
		if o.base == (Name{}) {
			o.base = t.Base
		}
		for _, c := range p.detect(t) {
			if _, err := d.write(TypeConflict, c.Seal()); err != nil {
				return err
			}
		}
	case TypeManifest:
		o.input = p.manifestIDs[len(p.manifestIDs)-1]
		if o.base == (Name{}) {
			o.base = p.manifests[o.input].Head
		}
	}
	return nil
}

// output writes the output manifest of a run.
func (d *docket) output(id string, o *outcome) error {
	p := d.s.projects[id]
	uuid, err := NewUUIDv7(d.Now, d.Random)
	if err != nil {
		return err
	}
	m := &Manifest{ID: uuid, Kind: OutputManifest, Project: id, Author: d.Principal.author(), CreatedAt: ledger.FormatTime(d.Now),
		Base: cmp.Or(o.base, p.sets[0].Name()), Result: o.result, TargetRef: o.target, Input: o.input}
	if o.proposal != nil {
		m.Proposal = o.proposal.ID
		for _, c := range o.proposal.unsettled() {
			if m.ConflictCount++; m.ConflictCount <= MaxContextConflicts {
				m.Conflicts = append(m.Conflicts, c.ID)
			}
		}
	}
	_, err = d.write(TypeManifest, m.Seal())
	return err
}

// root starts a project: its baseline is the branch before this commit.
func (d *docket) root(id string) error {
	c := &Changeset{ID: RootID, Project: id, Ref: SharedMain, Author: d.Principal.author(), Message: "root: what was recorded before is evidence",
		CreatedAt: ledger.FormatTime(d.Now), Key: RootID}
	if l := d.s.ledger; l != nil {
		c.BaselineHeads = l.Heads()
		missing := map[ledger.Hash]bool{}
		for r := range l.Records() {
			for _, parent := range r.Parents() {
				if !l.Has(parent) {
					missing[parent] = true
				}
			}
		}
		for h := range missing {
			c.BaselineMissing = append(c.BaselineMissing, h)
		}
		slices.SortFunc(c.BaselineMissing, ledger.Hash.Compare)
	}
	if len(c.BaselineHeads) > MaxBaselineHeads || len(c.BaselineMissing) > MaxBaselineHeads {
		return refuse(ReasonBound, "the branch has %d heads and %d missing parents, a root names at most %d: append a record to join the heads, or repair the ledger",
			len(c.BaselineHeads), len(c.BaselineMissing), MaxBaselineHeads)
	}
	_, err := d.write(TypeChangeset, c.Seal())
	return err
}

// Init starts a project for an operator; a project that has its root is left as
// it is.
func (s *State) Init(c Clerk, project string) ([]ledger.Record, error) {
	switch {
	case !c.Principal.Has(ScopeWrite):
		return nil, refuse(ReasonScope, "needs the scope %s", ScopeWrite)
	case !c.Principal.MayUse(project):
		return nil, refuse(ReasonProject, "project %s is not one of the principal's", quoted(project))
	case s.projects[project] != nil:
		return nil, nil
	}
	d, err := s.open(c, nil)
	if err != nil {
		return nil, err
	}
	if err := d.root(project); err != nil {
		return nil, err
	}
	return d.finish()
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
