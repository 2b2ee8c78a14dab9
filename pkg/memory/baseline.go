package memory

import (
	"strings"

	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/ledger"
)

// baseline is the plain records that stood on the branch before a project's
// root: those that its heads lead to without passing a parent that was missing
// then. It is found when first asked for; no later record can be part of it.
type baseline struct {
	heads, missing []ledger.Hash
	memories       map[string]*Memory // nil until asked for
	order          []*Memory          // by digest
}

// baselineMemory returns the memory that a plain record of the baseline is; its
// id is the record's digest.
func (p *project) baselineMemory(id string) *Memory {
	if !strings.HasPrefix(id, "sha256:") {
		return nil
	}
	return p.readBaseline()[id]
}

func (p *project) readBaseline() map[string]*Memory {
	b := p.baseline
	if b == nil || b.memories != nil {
		if b == nil {
			return nil
		}
		return b.memories
	}
	b.memories = map[string]*Memory{}
	seen := map[ledger.Hash]bool{}
	for _, h := range b.missing {
		seen[h] = true
	}
	next := append([]ledger.Hash{}, b.heads...)
	for len(next) > 0 {
		sha := next[len(next)-1]
		next = next[:len(next)-1]
		if seen[sha] || p.state.ledger == nil {
			continue
		}
		seen[sha] = true
		r, here := p.state.ledger.Get(sha)
		if !here {
			continue
		}
		next = append(next, r.Parents()...)
		if m := p.plainMemory(r); m != nil {
			b.memories[m.ID] = m
			b.order = append(b.order, m)
		}
	}
	sortMemories(b.order)
	return b.memories
}

// plainMemory reads a record with a string payload.content; one that names
// another project is none of this one's.
func (p *project) plainMemory(r ledger.Record) *Memory {
	if ledger.IsReserved(r.Type()) {
		return nil
	}
	v, err := canonical.ParseStrict(r.Payload(), maxParseDepth)
	if err != nil {
		return nil
	}
	content, _ := v.Get("content")
	if content.Kind != canonical.String || strings.TrimSpace(content.Str) == "" || len(content.Str) > MaxContentBytes {
		return nil
	}
	if of, named := v.Get("project_id"); named && of.Str != p.id {
		return nil
	}
	id := r.SHA().String()
	return &Memory{ID: id, Lineage: id, Content: content.Str, Kind: KindObservation, EventType: r.Type(), Scope: p.id,
		Visibility: VisibilityInternal, Active: true, Unreviewed: true, origin: opRef{set: 0, ordinal: -1}, revised: opRef{set: 0, ordinal: -1}}
}
