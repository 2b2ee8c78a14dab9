package main

import (
	"encoding/json"

	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/memory"
)

// payload is canonical text as a part of an answer.
func payload(text []byte) json.RawMessage { return text }

func payloads[T any](list []T, seal func(*T) []byte) []json.RawMessage {
	texts := []json.RawMessage{}
	for i := range list {
		texts = append(texts, seal(&list[i]))
	}
	return texts
}

// proposalState is a proposal and what became of it.
type proposalState struct {
	Proposal  json.RawMessage       `json:"proposal"`
	Status    memory.ProposalStatus `json:"status"`
	Time      string                `json:"admitted_at"`
	Record    ledger.Hash           `json:"record"`
	Approved  bool                  `json:"approved"`
	Merged    string                `json:"merged,omitempty"`
	Reviews   []json.RawMessage     `json:"reviews"`
	Conflicts []json.RawMessage     `json:"conflicts"`
}

func proposalOf(p memory.ProposalInfo) proposalState {
	return proposalState{payload(p.Seal()), p.Status, p.Time, p.Record, p.Approved, p.Merged.String(),
		payloads(p.Reviews, (*memory.Review).Seal), payloads(p.Conflicts, (*memory.Conflict).Seal)}
}

// projectState is all that the fold says of a project.
type projectState struct {
	Project   string              `json:"project_id"`
	Refs      []memory.RefInfo    `json:"refs"`
	Memories  map[string][]string `json:"memories"` // active ids by ref
	Proposals []proposalState     `json:"proposals"`
	Conflicts []json.RawMessage   `json:"conflicts"`
	Baseline  int                 `json:"baseline"`
}

// foldedState is all that the fold says of a ledger, in a fixed order: two folds
// of the same records print the same bytes.
type foldedState struct {
	Seq         int                 `json:"seq"`
	Time        string              `json:"time"`
	Digest      ledger.Hash         `json:"digest"` // of all that the fold says
	Fault       string              `json:"fault,omitempty"`
	Projects    []projectState      `json:"projects"`
	Diagnostics []memory.Diagnostic `json:"diagnostics"`
}

func stateOf(s *memory.State) foldedState {
	f := foldedState{Projects: []projectState{}, Diagnostics: s.Diagnostics(), Digest: s.Digest()}
	f.Seq, f.Time = s.Seq()
	if err := s.Authorizes(); err != nil {
		f.Fault = err.Error()
	}
	for _, project := range s.Projects() {
		p := projectState{Project: project, Refs: s.Refs(project), Memories: map[string][]string{}, Proposals: []proposalState{}, Baseline: len(s.Baseline(project)),
			Conflicts: payloads(s.Conflicts(project), (*memory.Conflict).Seal)}
		for _, r := range p.Refs {
			ids := []string{}
			for _, m := range s.MemoryAt(project, r.Head) {
				ids = append(ids, m.ID)
			}
			p.Memories[r.Name] = ids
		}
		for _, q := range s.Proposals(project) {
			p.Proposals = append(p.Proposals, proposalOf(q))
		}
		f.Projects = append(f.Projects, p)
	}
	return f
}
