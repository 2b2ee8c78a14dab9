package mcptools

import (
	"context"
	"encoding/json"

	"github.com/repo-memory/ledger/pkg/memory"
)

func (m *memoryTools) show(_ context.Context, arguments []byte) (answer, error) {
	var in struct {
		Changeset *string `json:"changeset_id"`
		Proposal  *string `json:"proposal_id"`
		Manifest  *string `json:"manifest_id"`
		Memory    *string `json:"memory_id"`
		At        *string `json:"at"`
	}
	if err := decodeArguments(arguments, &in); err != nil {
		return answer{}, err
	}
	given := 0
	for _, one := range []*string{in.Changeset, in.Proposal, in.Manifest, in.Memory} {
		if one != nil {
			given++
		}
	}
	if given != 1 || in.At != nil && in.Memory == nil {
		return answer{}, refusal("invalid arguments: give one of changeset_id, proposal_id, manifest_id and memory_id; at goes with memory_id")
	}
	if err := m.sync(); err != nil {
		return answer{}, err
	}
	switch {
	case in.Changeset != nil:
		return m.showChangeset(*in.Changeset)
	case in.Proposal != nil:
		return m.showProposal(*in.Proposal)
	case in.Manifest != nil:
		return m.showManifest(*in.Manifest)
	}
	at := ""
	if in.At != nil {
		at = *in.At
	}
	return m.showMemory(*in.Memory, at)
}

func (m *memoryTools) showChangeset(text string) (answer, error) {
	name, err := m.resolve("changeset_id", text)
	if err != nil {
		return answer{}, err
	}
	c, _ := m.state.Changeset(m.Project, name)
	r, ok := m.server.writer.Get(c.Record)
	if !ok {
		return answer{}, errInternal
	}
	return marshal(struct {
		changesetRow
		Changeset json.RawMessage `json:"changeset"`
	}{m.row(c), r.Payload()})
}

func (m *memoryTools) showProposal(id string) (answer, error) {
	p, ok := m.state.Proposal(m.Project, id)
	if !ok || p.Author.Actor != m.entry.Actor && !m.state.MayReadChangeset(m.entry, m.Project, p.Head) {
		return answer{}, refusal("refused: unknown: proposal_id is no proposal that this principal may read")
	}
	type review struct {
		Operation memory.Operation `json:"operation"`
		Reviewer  string           `json:"reviewer"`
		Findings  []string         `json:"findings,omitzero"`
		CreatedAt string           `json:"created_at"`
	}
	out := struct {
		Status        memory.ProposalStatus `json:"status"`
		Merged        memory.Name           `json:"merged_changeset_id,omitzero"`
		Reviews       []review              `json:"reviews"`
		ReviewCount   int                   `json:"review_count"`
		Conflicts     []conflictRow         `json:"conflicts"`
		ConflictCount int                   `json:"conflict_count"`
		Proposal      json.RawMessage       `json:"proposal"`
	}{Status: p.Status, Merged: p.Merged, ReviewCount: len(p.Reviews), ConflictCount: len(p.Conflicts), Reviews: []review{}, Proposal: p.Seal()}
	// The newest reviews are what the proposer has to answer.
	for _, r := range p.Reviews[max(0, len(p.Reviews)-maxShownReviews):] {
		out.Reviews = append(out.Reviews, review{r.Operation, r.Reviewer.Principal, r.Findings, r.CreatedAt})
	}
	out.Conflicts = conflictRows(p.Conflicts)
	return marshal(out)
}

// conflictRow is one conflict in a list.
type conflictRow struct {
	ID       string                `json:"conflict_id"`
	Type     memory.ConflictType   `json:"type"`
	Severity memory.Severity       `json:"severity"`
	Status   memory.ConflictStatus `json:"status"`
	Identity string                `json:"identity"`
	Label    memory.Label          `json:"label,omitzero"`
	Left     []string              `json:"left_memories,omitzero"`
	Right    []string              `json:"right_memories,omitzero"`
}

// conflictRows are the first conflicts of a list.
func conflictRows(list []memory.Conflict) []conflictRow {
	rows := []conflictRow{}
	for _, c := range list[:min(len(list), maxShownConflicts)] {
		rows = append(rows, conflictRow{c.ID, c.Type, c.Severity, c.Status, c.Identity, c.Label, c.LeftMemories, c.RightMemories})
	}
	return rows
}

func (m *memoryTools) manifest(id string) (*memory.Manifest, error) {
	f, ok := m.state.Manifest(m.Project, id)
	if !ok || f.Author.Actor != m.entry.Actor && !(f.Kind == memory.InputManifest && m.state.MayRead(m.entry, m.Project, f.Ref)) {
		return nil, refusal("refused: unknown: manifest_id is no manifest that this principal may read")
	}
	return f, nil
}

func (m *memoryTools) showManifest(id string) (answer, error) {
	f, err := m.manifest(id)
	if err != nil {
		return answer{}, err
	}
	return marshal(map[string]json.RawMessage{"manifest": f.Seal()})
}

func (m *memoryTools) showMemory(id, at string) (answer, error) {
	head, err := m.resolve("at", orMain(at))
	if err != nil {
		return answer{}, err
	}
	for _, list := range [][]memory.Memory{m.state.MemoryAt(m.Project, head), m.state.Baseline(m.Project)} {
		for _, e := range list {
			if e.ID != id {
				continue
			}
			type relation struct {
				Kind string `json:"kind"`
				To   string `json:"to_memory_id"`
			}
			relations := []relation{}
			for _, r := range e.Relations.List()[:min(e.Relations.Len(), maxShownConflicts)] {
				relations = append(relations, relation{r.Kind, r.To})
			}
			out := struct {
				Head          memory.Name     `json:"head_changeset_id"`
				ID            string          `json:"id"`
				Content       string          `json:"content"`
				Kind          string          `json:"kind"`
				EventType     string          `json:"event_type,omitzero"`
				Scope         string          `json:"scope"`
				Visibility    string          `json:"visibility"`
				Tags          []string        `json:"tags,omitzero"`
				Confidence    json.RawMessage `json:"confidence,omitzero"`
				FactKey       string          `json:"fact_key,omitzero"`
				Subject       string          `json:"subject,omitzero"`
				ValidFrom     string          `json:"valid_from,omitzero"`
				ValidTo       string          `json:"valid_to,omitzero"`
				Protected     bool            `json:"protected"`
				Approval      string          `json:"approval,omitzero"`
				Unreviewed    bool            `json:"unreviewed"`
				Lineage       string          `json:"lineage"`
				Relations     []relation      `json:"relations"`
				RelationCount int             `json:"relation_count"`
			}{head, e.ID, e.Content, e.Kind, e.EventType, e.Scope, e.Visibility, e.Tags, nil, e.FactKey, e.Subject, e.ValidFrom, e.ValidTo,
				e.Protected, e.Approval, e.Unreviewed, e.Lineage, relations, e.Relations.Len()}
			if e.Confidence != "" {
				out.Confidence = json.RawMessage(e.Confidence)
			}
			return marshal(out)
		}
	}
	return answer{}, refusal("refused: unknown: there is no active memory with this memory_id at that head")
}
