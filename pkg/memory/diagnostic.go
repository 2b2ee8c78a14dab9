package memory

import (
	"slices"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// DiagnosticKind says what is wrong with a memory record.
type DiagnosticKind string

const (
	Unlisted     DiagnosticKind = "unlisted"     // no admission lists it: pending, or forged
	Refused      DiagnosticKind = "refused"      // an admission lists it as refused
	Contradicted DiagnosticKind = "contradicted" // listed as accepted, but the fold does not bear it out
	NoLink       DiagnosticKind = "no-link"      // an admission that is none, or not in the chain
)

// Diagnostic is about one memory record that has no effect.
type Diagnostic struct {
	SHA    ledger.Hash    `json:"sha,omitzero"`
	Kind   DiagnosticKind `json:"kind"`
	Reason Reason         `json:"reason,omitzero"`
	Detail string         `json:"detail,omitzero"`
	Count  int            `json:"count,omitzero"` // stands for so many more
}

// Diagnostics returns the records without effect: those in the chain in its
// order, then links outside it and unlisted records by digest, at most
// maxUnlisted of each and a count of the rest.
func (s *State) Diagnostics() []Diagnostic {
	list := []Diagnostic{}
	for _, k := range s.chain {
		for _, v := range k.Verdicts {
			if !v.Accepted {
				list = append(list, Diagnostic{SHA: v.SHA, Kind: Refused, Reason: v.Reason, Detail: v.Detail})
			}
		}
	}
	list = append(list, s.contra...)
	var links, unlisted []Diagnostic
	for sha, detail := range s.bad {
		links = append(links, Diagnostic{SHA: sha, Kind: NoLink, Reason: ReasonShape, Detail: detail})
	}
	inChain := make(map[ledger.Hash]bool, len(s.chain))
	for _, k := range s.chain {
		inChain[k.sha] = true
	}
	for sha := range s.linkOf {
		if !inChain[sha] {
			links = append(links, Diagnostic{SHA: sha, Kind: NoLink, Reason: ReasonChain})
		}
	}
	for _, sha := range s.seen {
		if s.listed[sha] == nil {
			unlisted = append(unlisted, Diagnostic{SHA: sha, Kind: Unlisted})
		}
	}
	return append(append(list, firstBySHA(links)...), firstBySHA(unlisted)...)
}

func firstBySHA(list []Diagnostic) []Diagnostic {
	slices.SortFunc(list, func(a, b Diagnostic) int { return a.SHA.Compare(b.SHA) })
	if more := len(list) - maxUnlisted; more > 0 {
		list = append(list[:maxUnlisted], Diagnostic{Kind: list[0].Kind, Count: more})
	}
	return list
}
