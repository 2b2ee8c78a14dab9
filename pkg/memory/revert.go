package memory

import (
	"slices"

	"github.com/repo-memory/ledger/pkg/canonical"
)

// RevertOps returns the ops that take back what a changeset did, to be committed
// on top of a head: a new correcting changeset, proposed like any other. What
// only marked is not taken back, since nothing is erased; an attestation names the
// changeset. A memory that changed again since is a refusal.
func (s *State) RevertOps(project string, head, changeset Name) ([]Op, error) {
	p := s.projects[project]
	if p == nil {
		return nil, refuse(ReasonProject, "project %s has no root yet", quoted(project))
	}
	at, atKnown := p.known(head)
	t, known := p.known(changeset)
	switch {
	case !atKnown || !known:
		return nil, refuse(ReasonUnknown, "the head or the changeset was never accepted in this project")
	case !at.view.has(t.index):
		return nil, refuse(ReasonAncestry, "the head does not hold the changeset")
	case len(t.parents) != 1:
		return nil, refuse(ReasonOperation, "only a changeset with one parent is reverted: name what the merge brought in")
	}
	before := p.sets[t.parents[0]].view
	c := &comparison{p: p}
	touched := c.touchedBy([]*set{t})
	ids := make([]*Memory, 0, len(touched))
	for i := range touched {
		if m := t.view.mem.get(i); m != nil {
			ids = append(ids, m)
		}
	}
	sortMemories(ids)
	var ops []Op
	for _, after := range ids {
		was, now := before.find(p, after.ID), at.view.mem.get(after.index)
		if sameMeaning(was, after) {
			continue
		}
		if !sameMeaning(after, now) {
			return nil, refuse(ReasonOperation, "memory %s changed again since: revert that first", quoted(after.ID))
		}
		if op, needed := undo(p, was, after, before); needed {
			ops = append(ops, op)
		}
	}
	if len(ops) == 0 {
		return nil, refuse(ReasonOperation, "the changeset changed no memory that could be taken back")
	}
	return append(ops, textOp(AttachEvidence, "", "", "summary", "revert", "source_changeset_id", changeset.String())), nil
}

// undo is the op that takes one memory from after to was.
func undo(p *project, was, after *Memory, before view) (Op, bool) {
	switch {
	case was == nil || !was.Active:
		// It came to be. Where it replaced another, that one's meaning returns in its
		// place, in the same lineage; otherwise it is retired.
		if !after.Active {
			return Op{}, false
		}
		if old := replacedBy(p, before, after); old != nil {
			return Op{Type: SupersedeMemory, Target: after.ID, Payload: old.payload(p)}, true
		}
		return textOp(SupersedeMemory, after.ID, "", "summary", "revert"), true
	case after.Active:
		if correction, ok := was.correction(after, p); ok {
			return Op{Type: CorrectMemory, Target: after.ID, Payload: correction}, true
		}
		return Op{Type: SupersedeMemory, Target: after.ID, Payload: was.payload(p)}, true
	case after.RetiredFor != "" && before.active(p, after.RetiredFor) == nil:
		return Op{}, false // what replaced it is superseded in its place
	}
	return Op{Type: AddMemory, Result: was.ID, Payload: was.payload(p)}, true
}

// replacedBy returns the memory that a new one took the place of.
func replacedBy(p *project, before view, m *Memory) *Memory {
	var old *Memory
	before.mem.each(func(_ int32, e *Memory) {
		if e != nil && e.Active && e.Lineage == m.Lineage && m.Lineage != m.ID && (old == nil || e.ID < old.ID) {
			old = e
		}
	})
	if old == nil && m.Lineage != m.ID {
		old = p.baselineMemory(m.Lineage)
	}
	return old
}

// payload describes a memory whole.
func (m *Memory) payload(p *project) canonical.Value {
	var o object
	o.text("content", m.Content)
	for _, f := range m.texts() {
		o.maybe(f.name, f.value)
	}
	o.texts("tags", m.Tags)
	if m.Confidence != "" {
		o.put("confidence", canonical.Value{Kind: canonical.Number, Str: m.Confidence})
	}
	o.flag("protected", m.Protected)
	return o.value()
}

type textField struct{ name, value string }

func (m *Memory) texts() []textField {
	return []textField{{"kind", m.Kind}, {"event_type", m.EventType}, {"scope", m.Scope}, {"visibility", m.Visibility}, {"fact_key", m.FactKey},
		{"subject", m.Subject}, {"valid_from", m.ValidFrom}, {"valid_to", m.ValidTo}, {"approval", m.Approval},
		{"topic_id", m.Topic}, {"actor_id", m.Actor}}
}

// correction is the payload that makes now what m was; ok is false when that
// takes removing a field, which a correction cannot.
func (m *Memory) correction(now *Memory, p *project) (v canonical.Value, ok bool) {
	var o object
	if m.Content != now.Content {
		o.text("content", m.Content)
	}
	old, current := m.texts(), now.texts()
	for i := range old {
		if old[i].value == current[i].value {
			continue
		}
		if old[i].value == "" {
			return v, false
		}
		o.text(old[i].name, old[i].value)
	}
	if !slices.Equal(m.Tags, now.Tags) {
		if len(m.Tags) == 0 {
			return v, false
		}
		o.texts("tags", m.Tags)
	}
	if m.Confidence != now.Confidence {
		if m.Confidence == "" {
			return v, false
		}
		o.put("confidence", canonical.Value{Kind: canonical.Number, Str: m.Confidence})
	}
	if m.Protected != now.Protected {
		kind := canonical.False
		if m.Protected {
			kind = canonical.True
		}
		o.put("protected", canonical.Value{Kind: kind})
	}
	return o.value(), len(o) > 0
}
