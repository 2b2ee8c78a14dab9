package memory

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// FieldChange is a field of a memory, other than its content, or of an op that
// marks one. Before and After are texts; "" is absent. Tags are joined by commas.
type FieldChange struct {
	Name   string `json:"name"`
	Before string `json:"before,omitzero"`
	After  string `json:"after,omitzero"`
}

// memoryFields are the fields of a memory that a diff compares, in its order. All
// that a context shows of a memory, and all that detectors go by, is among them.
var memoryFields = []struct {
	name string
	of   func(*Memory) string
}{
	{"kind", func(m *Memory) string { return m.Kind }},
	{"event_type", func(m *Memory) string { return m.EventType }},
	{"scope", func(m *Memory) string { return m.Scope }},
	{"visibility", func(m *Memory) string { return m.Visibility }},
	{"tags", func(m *Memory) string { return strings.Join(m.Tags, ", ") }},
	{"confidence", func(m *Memory) string { return m.Confidence }},
	{"fact_key", func(m *Memory) string { return m.FactKey }},
	{"subject", func(m *Memory) string { return m.Subject }},
	{"valid_from", func(m *Memory) string { return m.ValidFrom }},
	{"valid_to", func(m *Memory) string { return m.ValidTo }},
	{"protected", func(m *Memory) string { return strconv.FormatBool(m.Protected) }},
	{"approval", func(m *Memory) string { return m.Approval }},
	{"topic_id", func(m *Memory) string { return m.Topic }},
	{"actor_id", func(m *Memory) string { return m.Actor }},
}

// plain is a memory of which no op said anything.
func (p *project) plain() *Memory {
	return &Memory{Kind: KindObservation, Visibility: VisibilityInternal, Scope: p.id}
}

// fieldChanges are the fields in which a memory differs from what it was, or from
// one of which nothing was said where there was none.
func (p *project) fieldChanges(before, after *Memory) []FieldChange {
	was := cmp.Or(before, p.plain())
	var list []FieldChange
	for _, f := range memoryFields {
		c := FieldChange{f.name, f.of(was), f.of(after)}
		if c.Before == c.After {
			continue
		}
		if before == nil {
			c.Before = ""
		}
		list = append(list, c)
	}
	return list
}

// overlaid are the fields that an op sets over what it finds, or over nothing.
func (p *project) overlaid(found *Memory, op *Op, s *set) []FieldChange {
	after := *cmp.Or(found, p.plain())
	return p.fieldChanges(found, after.overlay(op, p, s))
}

// provenance are the fields of an op that attaches something.
func (o *Op) provenance() []FieldChange {
	var list []FieldChange
	for _, name := range slices.Concat([]string{"kind", "source", "status"}, provenanceKeys) {
		if text := o.Text(name); text != "" {
			list = append(list, FieldChange{Name: name, After: text})
		}
	}
	return list
}

func (f FieldChange) markdown() string {
	switch {
	case f.Before == "":
		return f.Name + " " + code(f.After)
	case f.After == "":
		return f.Name + " removed, was " + code(f.Before)
	}
	return f.Name + " " + code(f.After) + ", was " + code(f.Before)
}
