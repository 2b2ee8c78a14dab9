package mcptools

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/memory"
)

// written is the answer of a tool that writes.
type written struct {
	Ref       string        `json:"ref_name,omitzero"`
	Changeset memory.Name   `json:"changeset_id,omitzero"`
	Proposal  string        `json:"proposal_id,omitzero"`
	Conflicts []conflictRow `json:"conflicts,omitzero"`
	More      int           `json:"moreConflicts,omitzero"`
	Records   []ledger.Hash `json:"records"`
	Replay    bool          `json:"replay"`
}

func (w written) answer(remarks []string) (answer, error) {
	if w.Records == nil {
		w.Records = []ledger.Hash{}
	}
	if w.Replay {
		remarks = append(remarks, replayed)
	}
	a, err := marshal(w)
	a.remarks = remarks
	return a, err
}

// begin is what every writer asks first.
func (m *memoryTools) begin(arguments []byte, in any, key func() *string) error {
	if err := decodeArguments(arguments, in); err != nil {
		return err
	}
	if err := checkKey(key()); err != nil {
		return err
	}
	if err := m.sync(); err != nil {
		return err
	}
	return m.mayWrite()
}

func (m *memoryTools) branchCreate(_ context.Context, arguments []byte) (answer, error) {
	var in struct {
		Ref  *string `json:"ref_name"`
		From string  `json:"from"`
		Key  *string `json:"idempotency_key"`
	}
	if err := m.begin(arguments, &in, func() *string { return in.Key }); err != nil {
		return answer{}, err
	}
	if in.Ref == nil {
		return answer{}, refusal("invalid arguments: ref_name is missing")
	}
	if err := m.reserved(*in.Ref); err != nil {
		return answer{}, err
	}
	head, err := m.resolve("from", orMain(in.From))
	if err != nil {
		return answer{}, err
	}
	q, err := m.state.Branch(m.agent(), m.Project, *in.Ref, head, memory.Name{}, *in.Key)
	if err != nil {
		return answer{}, err
	}
	shas, remarks, err := m.append(q)
	if err != nil {
		return answer{}, err
	}
	return written{Ref: *in.Ref, Changeset: head, Records: shas, Replay: q.Replay != ""}.answer(remarks)
}

// reserved refuses a topic that the policy gives to somebody else.
func (m *memoryTools) reserved(ref string) error {
	if m.Policy.Reserves(ref, m.entry) {
		return refusal("refused: owner: the policy gives this topic to somebody else")
	}
	return nil
}

// opArgument is one op as an agent sends it.
type opArgument struct {
	Type    string         `json:"op_type"`
	Target  string         `json:"target_event_id"`
	Result  string         `json:"resulting_event_id"`
	Payload jsontext.Value `json:"payload"`
}

func readOps(list []opArgument) ([]memory.Op, error) {
	ops := make([]memory.Op, len(list))
	for i, o := range list {
		if o.Payload == nil {
			return nil, refusal(fmt.Sprintf("invalid arguments: operations[%d].payload is missing", i))
		}
		op, refused := memory.NewOp(memory.OpType(o.Type), o.Target, o.Result, o.Payload)
		if refused != nil {
			return nil, refused
		}
		ops[i] = op
	}
	return ops, nil
}

func (m *memoryTools) changesetCreate(_ context.Context, arguments []byte) (answer, error) {
	var in struct {
		Ref           *string      `json:"ref_name"`
		Expected      string       `json:"expected_head"`
		Create        bool         `json:"create_ref"`
		Parents       []string     `json:"parent_ids"`
		Message       string       `json:"message"`
		Ops           []opArgument `json:"operations"`
		Evidence      []string     `json:"evidence_refs"`
		Verifications []struct {
			Kind   string `json:"kind"`
			Source string `json:"source"`
			Status string `json:"status"`
			Note   string `json:"note"`
		} `json:"verification_records"`
		Topic    string  `json:"topic_id"`
		Manifest string  `json:"context_manifest_id"`
		Model    string  `json:"model"`
		Persona  string  `json:"persona"`
		Key      *string `json:"idempotency_key"`
	}
	if err := m.begin(arguments, &in, func() *string { return in.Key }); err != nil {
		return answer{}, err
	}
	switch {
	case in.Ref == nil:
		return answer{}, refusal("invalid arguments: ref_name is missing")
	case in.Create == (in.Expected != ""):
		return answer{}, refusal("invalid arguments: give expected_head, or create_ref true for a ref that does not exist")
	}
	if err := m.reserved(*in.Ref); err != nil {
		return answer{}, err
	}
	q := memory.Commit{Project: m.Project, Ref: *in.Ref, Create: in.Create, Message: in.Message, Key: *in.Key, Topic: in.Topic, Manifest: in.Manifest, Evidence: in.Evidence}
	var err error
	if _, isRef := memory.ParseRef(in.Expected); isRef {
		return answer{}, refusal("invalid arguments: expected_head must be the head that you saw, by its name; a ref would agree with every head")
	} else if in.Expected != "" {
		if q.Expected, err = m.resolve("expected_head", in.Expected); err != nil {
			return answer{}, err
		}
	} else if len(in.Parents) == 0 {
		in.Parents = []string{memory.SharedMain}
	}
	for _, text := range in.Parents {
		parent, err := m.resolve("parent_ids", text)
		if err != nil {
			return answer{}, err
		}
		q.Parents = append(q.Parents, parent)
	}
	if q.Ops, err = readOps(in.Ops); err != nil {
		return answer{}, err
	}
	for _, v := range in.Verifications {
		q.Verifications = append(q.Verifications, memory.Verification{Kind: v.Kind, Source: v.Source, Status: v.Status, Note: v.Note})
	}
	agent := m.agent()
	agent.Model, agent.Persona = in.Model, in.Persona
	w, remarks, err := m.commit(agent, q)
	if err != nil {
		return answer{}, err
	}
	return w.answer(remarks)
}

// commit makes a changeset and moves its ref. Where an earlier try stands without
// the movement, the movement is made now.
func (m *memoryTools) commit(agent memory.Agent, q memory.Commit) (written, []string, error) {
	request, err := m.state.Commit(agent, q)
	if err != nil {
		return written{}, nil, err
	}
	w := written{Ref: q.Ref, Changeset: request.Name, Replay: request.Replay != ""}
	var remarks []string
	if w.Replay {
		move, err := m.state.Branch(agent, q.Project, q.Ref, request.Name, q.Expected, q.Key)
		if err != nil {
			return w, []string{"the changeset stands; the movement of its ref is " + sentence(err)}, nil
		}
		request.Records = move.Records
	}
	w.Records, remarks, err = m.append(request)
	return w, remarks, err
}
