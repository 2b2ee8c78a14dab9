package memory

import (
	"crypto/sha256"
	"fmt"
	"hash"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// Digest is a digest of everything that the State answers, diagnostics included:
// whoever folds the same records, in whatever order they were read, gets the same.
// It is the SHA-256 of lines of text in a fixed order and stands in no record.
func (s *State) Digest() ledger.Hash {
	h := sha256.New()
	seq, at := s.Seq()
	line(h, "state", seq, at)
	if s.fault != nil {
		line(h, "fault", s.fault.Error())
	}
	for _, id := range s.Projects() {
		s.projects[id].digest(h)
	}
	for _, d := range s.Diagnostics() {
		line(h, "diagnostic", d.SHA, d.Kind, d.Reason, d.Detail, d.Count)
	}
	return ledger.Hash(h.Sum(nil))
}

func (p *project) digest(h hash.Hash) {
	line(h, "project", p.id)
	for _, t := range p.sets {
		line(h, "changeset", t.Name(), t.seq, t.sha, t.landed)
	}
	for _, name := range sortedKeys(p.refs) {
		r := p.refs[name]
		line(h, "ref", name, r.head.Name(), r.creator)
		for _, e := range r.log {
			line(h, "moved", e.Seq, e.Time, e.Principal, e.From, e.To, e.Proposal, e.Record)
		}
		if !IsProtected(name) {
			continue // there can be many, each with all that is accepted
		}
		for _, m := range p.state.MemoryAt(p.id, r.head.Name()) {
			line(h, "memory", m.ID, m.Content, m.Kind, m.Scope, m.Visibility, m.FactKey, m.Subject, m.ValidFrom, m.ValidTo, m.Protected, m.Approval, m.Lineage)
		}
	}
	for _, t := range p.order {
		line(h, "proposal", t.ID, t.status, t.time, t.sha, t.merged)
		for _, r := range t.reviews {
			line(h, "review", string(r.Seal()))
		}
	}
	for _, c := range p.found {
		line(h, "conflict", c.ID, c.Conflict.Proposal, c.status)
	}
	for _, id := range p.manifestIDs {
		line(h, "manifest", id, string(p.manifests[id].Seal()))
	}
}

// line writes one line; the quotes keep its parts apart.
func line(h hash.Hash, parts ...any) {
	for _, part := range parts {
		fmt.Fprintf(h, "%q ", fmt.Sprint(part))
	}
	_, _ = h.Write([]byte{'\n'})
}
