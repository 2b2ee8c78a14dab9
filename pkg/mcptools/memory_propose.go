package mcptools

import (
	"cmp"
	"context"

	"github.com/repo-memory/ledger/pkg/memory"
)

func (m *memoryTools) mergePropose(_ context.Context, arguments []byte) (answer, error) {
	var in struct {
		Source   *string `json:"source"`
		Target   string  `json:"target_ref"`
		Base     string  `json:"base_changeset_id"`
		Kind     string  `json:"kind"`
		Message  string  `json:"message"`
		Selected []struct {
			Changeset string `json:"changeset_id"`
			Ordinal   int    `json:"ordinal"`
		} `json:"selected_ops"`
		Conflicts []string `json:"conflict_ids"`
		Findings  []string `json:"review_findings"`
		Key       *string  `json:"idempotency_key"`
	}
	if err := m.begin(arguments, &in, func() *string { return in.Key }); err != nil {
		return answer{}, err
	}
	if in.Source == nil {
		return answer{}, refusal("invalid arguments: source is missing")
	}
	q := memory.Proposal{Project: m.Project, Kind: memory.ProposalKind(in.Kind), TargetRef: in.Target, Message: in.Message, ConflictIDs: in.Conflicts, Findings: in.Findings, Key: *in.Key}
	var err error
	if q.Head, err = m.resolve("source", *in.Source); err != nil {
		return answer{}, err
	}
	if _, isRef := memory.ParseRef(*in.Source); isRef {
		q.SourceRef = *in.Source
	}
	if in.Base != "" {
		if q.Base, err = m.resolve("base_changeset_id", in.Base); err != nil {
			return answer{}, err
		}
	}
	for _, s := range in.Selected {
		name, err := m.resolve("selected_ops", s.Changeset)
		if err != nil {
			return answer{}, err
		}
		q.Selected = append(q.Selected, memory.Selection{Changeset: name, Ordinal: s.Ordinal})
	}
	if len(q.Selected) > 0 && q.Kind == "" {
		q.Kind = memory.ChangesetProposal
	}
	return m.propose(q, written{}, nil)
}

// propose makes a proposal, and says what the detectors find here; persistence
// runs them on the branch as it is then.
func (m *memoryTools) propose(q memory.Proposal, w written, remarks []string) (answer, error) {
	request, err := m.state.Propose(m.agent(), q)
	if err != nil {
		return answer{}, err
	}
	shas, more, err := m.append(request)
	if err != nil {
		return answer{}, err
	}
	w.Proposal, w.Replay = request.ID, request.Replay != ""
	w.Records, remarks = append(w.Records, shas...), append(remarks, more...)
	if found, err := m.state.Detect(m.Project, request.ID); err == nil {
		w.Conflicts = conflictRows(found)
		w.More = len(found) - len(w.Conflicts)
	}
	return w.answer(remarks)
}

func (m *memoryTools) revertPropose(_ context.Context, arguments []byte) (answer, error) {
	var in struct {
		Changeset *string `json:"changeset_id"`
		Ref       *string `json:"ref_name"`
		Target    string  `json:"target_ref"`
		Message   string  `json:"message"`
		Key       *string `json:"idempotency_key"`
	}
	if err := m.begin(arguments, &in, func() *string { return in.Key }); err != nil {
		return answer{}, err
	}
	if in.Changeset == nil || in.Ref == nil {
		return answer{}, refusal("invalid arguments: changeset_id and ref_name are needed")
	}
	if err := m.reserved(*in.Ref); err != nil {
		return answer{}, err
	}
	name, err := m.resolve("changeset_id", *in.Changeset)
	if err != nil {
		return answer{}, err
	}
	target, err := m.ref("target_ref", in.Target)
	if err != nil {
		return answer{}, err
	}
	ops, err := m.state.RevertOps(m.Project, target.Head, name)
	if err != nil {
		return answer{}, err
	}
	message := cmp.Or(in.Message, "revert "+name.ID)
	w, remarks, err := m.commit(m.agent(), memory.Commit{Project: m.Project, Ref: *in.Ref, Parents: []memory.Name{target.Head}, Create: true,
		Message: message, Key: *in.Key, Ops: ops})
	if err != nil {
		return answer{}, err
	}
	return m.propose(memory.Proposal{Project: m.Project, Kind: memory.MemoryProposal, TargetRef: target.Name, SourceRef: *in.Ref, Base: target.Head, Head: w.Changeset,
		Message: message, Key: *in.Key + revertKey}, w, remarks)
}

// revertKey ends the key of a revert's proposal; the changeset has the key itself.
const revertKey = " proposal"
