package memory

import (
	"strconv"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// Finding is one thing that an audit of the merges found.
type Finding struct {
	Seq    int         `json:"seq"`
	Record ledger.Hash `json:"record,omitzero"`
	Detail string      `json:"detail"`
}

// Reconcile checks that every protected head is reached from the root by an
// unbroken line of merge records and, with a ring, that each is signed. It writes
// nothing; no findings is a clean report.
func (s *State) Reconcile(keys *KeyRing, b Binding) []Finding {
	findings := []Finding{}
	if err := s.Authorizes(); err != nil {
		findings = append(findings, Finding{Detail: err.Error()})
	}
	for _, d := range s.contra {
		findings = append(findings, Finding{Record: d.SHA, Detail: string(d.Reason) + ": " + d.Detail})
	}
	for _, id := range sortedKeys(s.projects) {
		p := s.projects[id]
		for _, name := range sortedKeys(p.refs) {
			r := p.refs[name]
			if !IsProtected(name) {
				continue
			}
			at := Name{}
			for i, e := range r.log {
				if e.From != at {
					findings = append(findings, Finding{e.Seq, e.Record, name + " did not come from its last head"})
				}
				at = e.To
				if i == 0 {
					continue
				}
				record, _ := s.record(e.Record)
				m, fault := ParseMerge(record.Payload())
				if fault != nil {
					findings = append(findings, Finding{e.Seq, e.Record, name + " moved without a merge record"})
				} else if keys != nil {
					if err := m.Token.verifyMAC(keys, b); err != nil {
						findings = append(findings, Finding{e.Seq, e.Record, "entry " + strconv.Itoa(i) + ": " + err.Error()})
					}
				}
			}
			if at != r.head.Name() {
				findings = append(findings, Finding{Detail: name + " is not where its last merge left it"})
			}
		}
	}
	return findings
}
