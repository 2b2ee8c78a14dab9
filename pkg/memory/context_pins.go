package memory

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// isPinReason reports whether reasonFor gives such a text: a manifest carries no
// other words into a prompt.
func isPinReason(reason string) bool {
	var n int
	_, err := fmt.Sscanf(reason, "shares %d words with the query", &n)
	return reason == reasonFor(0) || err == nil && n > 0 && reason == reasonFor(n)
}

// conflictsAt pins the open conflicts of which the head holds a side, and returns
// the memories to withhold: those of conflicts of which it holds both.
func (p *project) conflictsAt(head *set, m *Manifest) map[string]bool {
	withheld := map[string]bool{}
	var ids []string
	for _, c := range p.found {
		left, right := head.view.has(c.left.index), head.view.has(c.right.index)
		if c.status != ConflictOpen || !left && !right {
			continue
		}
		ids = append(ids, c.ID)
		if left && right && c.Severity == Blocks {
			for _, id := range slices.Concat(c.LeftMemories, c.RightMemories) {
				withheld[id] = true
			}
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	m.Conflicts, m.ConflictCount = ids[:min(len(ids), MaxContextConflicts)], len(ids)
	return withheld
}

// rebuild makes a context from pins alone.
func (p *project) rebuild(m *Manifest) (*Context, *Refusal) {
	head, fault := p.headOn(m.Ref, m.Head)
	if fault != nil {
		return nil, fault
	}
	c := &Context{Version: ContextVersion, Project: p.id, Ref: m.Ref, Head: m.Head, Count: m.ConflictCount, Memories: []ContextMemory{}, Conflicts: []ContextConflict{}, Excluded: []Exclusion{}}
	seen, size := map[string]bool{}, 0
	for _, pin := range m.Memories {
		e := head.view.active(p, pin.ID)
		if e == nil || seen[pin.ID] || e.Unreviewed && !m.Baseline || !isPinReason(pin.Reason) {
			return nil, refuse(ReasonPins, "the manifest pins a memory that is not accepted at its head")
		}
		if size += e.bytes(); Tokens(size) > MaxContextTokens {
			return nil, refuse(ReasonPins, "the manifest pins more than %d tokens", MaxContextTokens)
		}
		seen[pin.ID] = true
		c.Memories = append(c.Memories, p.contextMemory(e, pin.Reason))
	}
	for _, id := range m.Conflicts {
		if len(p.equal[id]) == 0 {
			return nil, refuse(ReasonPins, "the manifest pins a conflict that there is not")
		}
		f := p.equal[id][0]
		c.Conflicts = append(c.Conflicts, ContextConflict{f.ID, f.Type, f.Identity, f.LeftMemories, f.RightMemories})
	}
	for _, e := range m.Excluded {
		if !slices.Contains(exclusionReasons, e.Reason) || len(e.IDs) > e.Count {
			return nil, refuse(ReasonPins, "the manifest excludes for a reason that there is not")
		}
		c.Excluded = append(c.Excluded, e)
	}
	return c, nil
}

func (p *project) contextMemory(m *Memory, reason string) ContextMemory {
	at := p.sets[m.revised.set]
	c := ContextMemory{ID: m.ID, Content: m.Content, Kind: m.Kind, EventType: m.EventType, Scope: m.Scope, Visibility: m.Visibility, Tags: m.Tags,
		FactKey: m.FactKey, Subject: m.Subject, ValidFrom: m.ValidFrom, ValidTo: m.ValidTo, Protected: m.Protected, Unreviewed: m.Unreviewed,
		Changeset: at.Name(), Author: at.Author.Principal, Reason: reason}
	if m.Unreviewed {
		c.Author = "unknown"
	}
	if m.Confidence != "" {
		c.Confidence = jsontext.Value(m.Confidence)
	}
	return c
}
