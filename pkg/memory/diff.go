package memory

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/repo-memory/ledger/pkg/canonical"
)

// DiffEntry is one line of a diff. Before and After are contents, or
// visibilities in the section about those. Fields are whatever else of a memory
// changes: nothing that comes with an approval stays unseen.
type DiffEntry struct {
	ID        string `json:"id"`
	Changeset string `json:"changeset_id,omitzero"` // whose op it was
	Ordinal   int    `json:"ordinal,omitzero"`
	Author    string `json:"author,omitzero"` // principal
	Kind      string `json:"kind,omitzero"`
	Before    string `json:"before,omitzero"`
	After     string `json:"after,omitzero"`
	Related   string `json:"related_id,omitzero"` // replacement, canonical, other end
	Label     Label  `json:"label,omitzero"`
	Change    string `json:"change,omitzero"`
	Note      string `json:"note,omitzero"`

	Fields []FieldChange `json:"fields,omitzero"`
}

// DiffConflict is an open conflict in a diff.
type DiffConflict struct {
	ID       string       `json:"conflict_id"`
	Type     ConflictType `json:"type"`
	Severity Severity     `json:"severity"`
	Identity string       `json:"identity"`
	Label    Label        `json:"label,omitzero"`
	Left     []string     `json:"left_memories,omitzero"`
	Right    []string     `json:"right_memories,omitzero"`
}

// Diff is what changes in meaning from base to target: deterministic, in the ten
// sections of the specification, each in the order of the changes. Ahead counts
// the changesets of base that target does not have.
type Diff struct {
	Project string `json:"project_id"`
	Base    Name   `json:"base_changeset_id"`
	Target  Name   `json:"target_changeset_id"`
	Sets    int    `json:"changesets"`
	Ahead   int    `json:"base_ahead"`

	Added         []DiffEntry    `json:"memories_added"`
	Corrections   []DiffEntry    `json:"corrections_proposed"`
	Superseded    []DiffEntry    `json:"records_superseded"`
	Relationships []DiffEntry    `json:"relationships_added"`
	Decisions     []DiffEntry    `json:"decisions_changed"`
	Tasks         []DiffEntry    `json:"tasks_or_flags_changed"`
	Duplicates    []DiffEntry    `json:"duplicates_detected"`
	Permissions   []DiffEntry    `json:"permissions_or_visibility_affected"`
	Evidence      []DiffEntry    `json:"evidence_added_or_removed"`
	Conflicts     []DiffConflict `json:"unresolved_conflicts"`
}

// Diff compares two accepted changesets of a project.
func (s *State) Diff(project string, base, target Name) (*Diff, error) {
	p := s.projects[project]
	if p == nil {
		return nil, refuse(ReasonProject, "project %s has no root yet", quoted(project))
	}
	b, baseKnown := p.known(base)
	t, targetKnown := p.known(target)
	if !baseKnown || !targetKnown {
		return nil, refuse(ReasonUnknown, "base or target was never accepted in this project")
	}
	return p.diff(b, t), nil
}

// differ makes one Diff.
type differ struct {
	p            *project
	base, target *set
	d            *Diff
}

func (p *project) diff(base, target *set) *Diff {
	d := &Diff{Project: p.id, Base: base.Name(), Target: target.Name(),
		Added: []DiffEntry{}, Corrections: []DiffEntry{}, Superseded: []DiffEntry{}, Relationships: []DiffEntry{}, Decisions: []DiffEntry{},
		Tasks: []DiffEntry{}, Duplicates: []DiffEntry{}, Permissions: []DiffEntry{}, Evidence: []DiffEntry{}, Conflicts: []DiffConflict{}}
	x := &differ{p, base, target, d}
	sets := p.setsOf(target, base.view)
	lost := p.setsOf(base, target.view)
	d.Sets, d.Ahead = len(sets), len(lost)
	for _, s := range sets {
		for n := range s.Ops {
			x.op(s, n, "added")
		}
	}
	for _, s := range lost {
		for n := range s.Ops {
			if t := s.Ops[n].Type; t == AttachEvidence || t == AttachVerification {
				x.op(s, n, "removed")
			}
		}
	}
	x.memories(sets, lost)
	for _, c := range p.found {
		if c.status == ConflictOpen && target.view.has(c.right.index) && (target.view.has(c.left.index) || base.view.has(c.left.index)) && !base.view.has(c.right.index) {
			d.Conflicts = append(d.Conflicts, DiffConflict{c.ID, c.Type, c.Severity, c.Identity, c.Label, c.LeftMemories, c.RightMemories})
		}
	}
	slices.SortFunc(d.Conflicts, func(a, b DiffConflict) int { return strings.Compare(a.ID, b.ID) })
	d.Conflicts = slices.CompactFunc(d.Conflicts, func(a, b DiffConflict) bool { return a.ID == b.ID })
	return d
}

// op files what an op did by itself.
func (x *differ) op(s *set, n int, change string) {
	op := &s.Ops[n]
	id, _ := op.identify()
	found := x.base.view.find(x.p, id.target)
	e := DiffEntry{ID: id.target, Changeset: s.Name().String(), Ordinal: n, Author: s.Author.Principal}
	if found != nil {
		e.Before, e.Kind = found.Content, found.Kind
	} else if m := x.target.view.find(x.p, id.target); m != nil {
		e.Kind = m.Kind
	}
	switch op.Type {
	case CorrectMemory:
		e.Related, e.After, e.Label, e.Note = id.result, op.Text("content"), TemporalUpdate, op.Text("summary")
		e.Fields = x.p.overlaid(found, op, s)
		x.d.Corrections = append(x.d.Corrections, e)
	case SupersedeMemory:
		e.Related, e.After, e.Label, e.Note = id.result, op.Text("content"), TemporalUpdate, op.Text("summary")
		if e.Related == "" && e.After != "" {
			e.Related = defaultID(s.ID, n)
		}
		e.Fields = x.p.overlaid(nil, op, s)
		x.d.Superseded = append(x.d.Superseded, e)
	case AddRelationship:
		e.Related, e.Kind, e.Note = id.result, op.Text("kind"), op.Text("summary")
		x.d.Relationships = append(x.d.Relationships, e)
	case MarkDuplicate:
		e.Related, e.Change, e.Note = id.result, "marked", op.Text("summary")
		x.d.Duplicates = append(x.d.Duplicates, e)
	case AttachEvidence, AttachVerification:
		e.Kind, e.Change, e.Before = string(op.Type), change, ""
		e.Note = strings.TrimSpace(op.Text("summary") + " " + op.Text("note"))
		e.Fields = op.provenance()
		x.d.Evidence = append(x.d.Evidence, e)
	case ProposeDeprecation:
		e.Kind, e.Change, e.Note = string(op.Type), change, op.Text("reason")
		x.d.Evidence = append(x.d.Evidence, e)
	}
}

// memories files what became of each memory that either side touched.
func (x *differ) memories(sets, lost []*set) {
	c := &comparison{p: x.p}
	touched := c.touchedBy(append(slices.Clone(sets), lost...))
	ids := make([]*Memory, 0, len(touched))
	for i := range touched {
		m := x.target.view.mem.get(i)
		if m == nil {
			m = x.base.view.mem.get(i)
		}
		if m != nil {
			ids = append(ids, m)
		}
	}
	sortMemories(ids)
	facts, active := newKeyIndex(x.p.id), newKeyIndex(x.p.id)
	x.base.view.mem.each(func(i int32, m *Memory) {
		if m != nil && m.Active {
			active.add(m)
			if now := x.target.view.mem.get(i); now == nil || now.Active {
				facts.add(m)
			}
		}
	})
	for _, m := range ids {
		before, after := x.base.view.mem.get(m.index), x.target.view.mem.get(m.index)
		x.memory(m.ID, before, after, facts, active)
	}
}

func (x *differ) memory(id string, before, after *Memory, facts, active *keyIndex) {
	if sameMeaning(before, after) {
		return
	}
	e := DiffEntry{ID: id, Change: "changed"}
	if before != nil {
		e.Kind, e.Before, e.Label = before.Kind, before.Content, TemporalUpdate
	}
	if after != nil && after.Active {
		found := before
		if found != nil && !found.Active {
			found = nil // nothing of it is known to readers of the base
		}
		if e.Fields = x.p.fieldChanges(found, after); found == nil && len(e.Fields) > 0 && e.Fields[0].Name == "kind" {
			e.Fields = e.Fields[1:] // the entry names it
		}
	}
	if after != nil {
		at := x.p.sets[after.revised.set]
		e.Kind, e.After, e.Related = after.Kind, after.Content, after.RetiredFor
		e.Changeset, e.Author = at.Name().String(), at.Author.Principal
		e.Ordinal = int(after.revised.ordinal)
		if !after.Active {
			e.Change, e.After = "retired", ""
		}
	} else {
		e.Change = "absent"
	}
	if after != nil && after.Active && before != nil && before.origin != after.origin {
		// Its identity was free again: what has it now came by an op of its own.
		if e.Change = "added anew"; !before.Active {
			e.Change = "brought back"
		}
		x.d.Added = append(x.d.Added, e)
	}
	if before == nil && after != nil {
		e.Change = "added"
		if after.Lineage != after.ID {
			e.Related, e.Label = after.Lineage, TemporalUpdate
		}
		if k, q, ok := claimOf(after); ok {
			if other := facts.against(k, q); other != nil && other.Lineage != after.Lineage {
				e.Related, e.Label = other.ID, DirectContradiction
			}
		}
		if after.Active {
			x.d.Added = append(x.d.Added, e)
			if twin := active.content[normalize(after.Content)]; twin != nil && twin.ID != id {
				x.d.Duplicates = append(x.d.Duplicates, DiffEntry{ID: id, Related: twin.ID, Kind: after.Kind, Change: "found"})
			}
		}
	}
	switch e.Kind {
	case KindDecision:
		x.d.Decisions = append(x.d.Decisions, e)
	case KindTask, KindFlag:
		x.d.Tasks = append(x.d.Tasks, e)
	}
	var was, is string
	if before != nil {
		was = before.Visibility
	}
	if after != nil {
		is = after.Visibility
	}
	if before != nil && after != nil && (was != is || before.Protected != after.Protected || before.Scope != after.Scope) || before == nil && is != VisibilityInternal {
		x.d.Permissions = append(x.d.Permissions, DiffEntry{ID: id, Kind: e.Kind, Before: was, After: is, Changeset: e.Changeset, Author: e.Author})
	}
}

// JSON is the diff as canonical text.
func (d *Diff) JSON() []byte { return canonicalJSON(d) }

// canonicalJSON writes one of this package's answers.
func canonicalJSON(v any) []byte {
	text, err := json.Marshal(v, jsontext.AllowInvalidUTF8(true))
	if err == nil {
		text, err = canonical.Transform(text)
	}
	if err != nil {
		panic(fmt.Sprintf("memory: an answer cannot be written: %v", err))
	}
	return text
}
