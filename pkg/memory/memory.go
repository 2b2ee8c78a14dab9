package memory

import (
	"strconv"

	"github.com/repo-memory/ledger/pkg/canonical"
)

// Kinds, visibilities and approvals of a memory.
const (
	KindObservation = "observation"
	KindFact        = "fact"
	KindDecision    = "decision"
	KindTask        = "task"
	KindFlag        = "flag"
	KindRecord      = "record"

	VisibilityPrivate  = "private"
	VisibilityInternal = "internal"
	VisibilityShared   = "shared"
	VisibilityPublic   = "public"

	UserApproved = "user_approved"
)

var (
	kinds        = []string{KindObservation, KindFact, KindDecision, KindTask, KindFlag, KindRecord}
	visibilities = []string{VisibilityPrivate, VisibilityInternal, VisibilityShared, VisibilityPublic} // ever broader
)

// opRef names an op of an accepted changeset.
type opRef struct {
	set     int32
	ordinal int32
}

// Memory is one memory as it is projected at a changeset. It is never changed:
// an op makes a new one. Kind is observation, Visibility internal and Scope the
// project where no op said otherwise.
type Memory struct {
	ID                                          string
	Content, Kind, EventType, Scope, Visibility string
	FactKey, Subject, ValidFrom, ValidTo        string
	Tags                                        []string
	Confidence                                  string // a number's canonical text
	Protected                                   bool
	Approval, Topic, Actor                      string
	Active                                      bool
	Lineage                                     string // the first memory that this one descends from
	RetiredFor                                  string // what replaced it, or what it duplicates
	EverPrivate                                 bool   // it, or what it replaced, was private once
	Unreviewed                                  bool   // a plain record of the baseline
	Relations                                   Relations
	origin, revised                             opRef
	byUser                                      bool // a person wrote the content
	index                                       int32
}

// view is the memory of a project at a changeset, and the changesets applied.
type view struct {
	mem     trie[*Memory]
	applied trie[uint64]
}

func (v view) has(set int32) bool { return v.applied.get(set>>6)>>(uint(set)&63)&1 == 1 }

func (v *view) mark(set int32) {
	v.applied = v.applied.set(set>>6, v.applied.get(set>>6)|1<<(uint(set)&63))
}

// find returns the memory with an id, nil when there was never one.
func (v view) find(p *project, id string) *Memory {
	i, known := p.memoryIndex[id]
	if known {
		if m := v.mem.get(i); m != nil {
			return m
		}
	}
	return p.baselineMemory(id)
}

func (v view) active(p *project, id string) *Memory {
	if m := v.find(p, id); m != nil && m.Active {
		return m
	}
	return nil
}

func (v *view) put(p *project, m *Memory) {
	i, known := p.memoryIndex[m.ID]
	if !known {
		i = int32(len(p.memoryIndex))
		p.memoryIndex[m.ID] = i
	}
	m.index = i
	v.mem = v.mem.set(i, m)
}

// identities are what an op's identity channels say together.
type identities struct{ target, result string }

// identify joins the channels of an op that name the same thing; ok is false
// where two disagree.
func (o *Op) identify() (id identities, ok bool) {
	ok = true
	join := func(values ...string) (joined string) {
		for _, s := range values {
			if s != "" && joined != "" && s != joined {
				ok = false
			}
			if joined == "" {
				joined = s
			}
		}
		return joined
	}
	switch o.Type {
	case MarkDuplicate:
		id = identities{join(o.Target, o.Text("duplicate_id")), join(o.Result, o.Text("duplicate_of"))}
	case AddRelationship:
		id = identities{join(o.Target, o.Text("from_memory_id")), join(o.Result, o.Text("to_memory_id"))}
	default:
		id = identities{o.Target, join(o.Result, o.Text("memory_id"), o.Text("event_id"))}
	}
	return id, ok
}

// defaultID is the id of memory that an op creates without naming it.
func defaultID(changeset string, ordinal int) string {
	return "mem:" + changeset + ":" + strconv.Itoa(ordinal)
}

// apply brings in the effect of an op (see the package comment, "Effects").
// Targets that another side of a merge retired stay retired, and an id that is
// active keeps its content. What marks a memory for readers changes nothing in it.
func (v *view) apply(p *project, s *set, ordinal int) {
	op := &s.Ops[ordinal]
	at := opRef{s.index, int32(ordinal)}
	id, _ := op.identify()
	target := v.find(p, id.target)
	if target == nil && op.Type != AddMemory {
		return
	}
	switch op.Type {
	case AddMemory:
		if id.result == "" {
			id.result = defaultID(s.ID, ordinal)
		}
		v.create(p, (&Memory{ID: id.result, Lineage: id.result}).overlay(op, p, s), at)
	case CorrectMemory:
		m := *target
		m.revised, m.byUser = at, s.user
		m.overlay(op, p, s)
		if id.result == "" || id.result == target.ID {
			v.put(p, &m)
			return
		}
		m.ID = id.result
		v.replace(p, target, &m, at)
	case SupersedeMemory:
		if !op.has("content") {
			v.retire(p, target, id.result, at)
			return
		}
		if id.result == "" {
			id.result = defaultID(s.ID, ordinal)
		}
		m := (&Memory{ID: id.result, EverPrivate: target.EverPrivate}).overlay(op, p, s)
		v.replace(p, target, m, at)
	case MarkDuplicate:
		v.retire(p, target, id.result, at)
	case AddRelationship:
		m := *target
		m.Relations = m.Relations.with(Relation{op.Text("kind"), id.result})
		v.put(p, &m)
	}
}

func (v *view) create(p *project, m *Memory, at opRef) {
	m.origin, m.revised, m.Active, m.RetiredFor = at, at, true, ""
	if v.active(p, m.ID) == nil {
		v.put(p, m)
	}
}

func (v *view) replace(p *project, old, m *Memory, at opRef) {
	m.Lineage = old.Lineage
	v.retire(p, old, m.ID, at)
	v.create(p, m, at)
}

func (v *view) retire(p *project, m *Memory, by string, at opRef) {
	retired := *m
	retired.Active, retired.RetiredFor, retired.revised = false, by, at
	v.put(p, &retired)
}

// overlay sets what the op's payload says of the content, and returns m.
func (m *Memory) overlay(op *Op, p *project, s *set) *Memory {
	if m.Kind == "" {
		m.Kind, m.Visibility, m.Scope, m.byUser = KindObservation, VisibilityInternal, p.id, s.user
		m.Topic = s.Topic
	}
	for _, field := range op.Payload.Members {
		v := field.Value
		switch field.Name {
		case "content":
			m.Content = v.Str
		case "kind":
			m.Kind = v.Str
		case "event_type":
			m.EventType = v.Str
		case "scope":
			m.Scope = v.Str
		case "visibility":
			m.Visibility = v.Str
		case "fact_key":
			m.FactKey = v.Str
		case "subject":
			m.Subject = v.Str
		case "valid_from":
			m.ValidFrom = v.Str
		case "valid_to":
			m.ValidTo = v.Str
		case "confidence":
			m.Confidence = v.Str
		case "protected":
			m.Protected = v.Kind == canonical.True
		case "approval":
			m.Approval = v.Str
		case "topic_id":
			m.Topic = v.Str
		case "actor_id":
			m.Actor = v.Str
		case "tags":
			m.Tags = make([]string, len(v.Items))
			for i, tag := range v.Items {
				m.Tags[i] = tag.Str
			}
		}
	}
	m.EverPrivate = m.EverPrivate || m.Visibility == VisibilityPrivate
	return m
}

// approved reports whether a memory counts as approved by a user: it says so,
// and a person wrote it or a reviewed merge brought it in. What an agent says of
// its own memory on its own branch does not count.
func (p *project) approved(m *Memory) bool {
	return m.Approval == UserApproved && (m.byUser || !m.Unreviewed && p.landed(m.revised.set))
}
