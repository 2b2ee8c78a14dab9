package memory

import (
	"slices"

	"github.com/repo-memory/ledger/pkg/canonical"
)

// OpType is what an op does.
type OpType string

const (
	AddMemory          OpType = "add_memory"
	CorrectMemory      OpType = "correct_memory"
	SupersedeMemory    OpType = "supersede_memory"
	MarkDuplicate      OpType = "mark_duplicate"
	AddRelationship    OpType = "add_relationship"
	ProposeDeprecation OpType = "propose_deprecation"
	AttachEvidence     OpType = "attach_evidence"
	AttachVerification OpType = "attach_verification"
)

// Op is one semantic operation of a changeset.
type Op struct {
	Type OpType
	// Target and Result are the identity channels of the op itself; "" when absent.
	Target, Result string
	// Payload is the object as it came.
	Payload canonical.Value
}

// Text returns a string of the payload, "" when it has none.
func (o *Op) Text(key string) string {
	for i := range o.Payload.Members {
		if m := &o.Payload.Members[i]; m.Name == key && m.Value.Kind == canonical.String {
			return m.Value.Str
		}
	}
	return ""
}

func (o *Op) has(key string) bool {
	_, ok := o.Payload.Get(key)
	return ok
}

// Payload keys by op type: a key that is not listed for the type is refused.
var (
	commonKeys     = []string{"summary", "project_id", "topic_id", "actor_id", "from_visibility", "to_visibility"}
	provenanceKeys = []string{"reviewer", "proposal_id", "source_changeset_id", "rejected_from", "cherrypicked_from", "left_branch", "right_branch"}
	contentKeys    = []string{"content", "kind", "event_type", "scope", "visibility", "tags", "confidence", "fact_key", "subject",
		"valid_from", "valid_to", "protected", "approval"}
	trustKeys = []string{"target_trust", "source_trust"}

	payloadKeys = func() map[OpType]map[string]bool {
		own := map[OpType][]string{
			AddMemory:          append(slices.Clone(contentKeys), "memory_id", "event_id"),
			CorrectMemory:      append(slices.Clone(contentKeys), trustKeys...),
			SupersedeMemory:    append(slices.Clone(contentKeys), append(trustKeys, "memory_id", "event_id")...),
			MarkDuplicate:      {"duplicate_id", "duplicate_of"},
			AddRelationship:    {"kind", "from_memory_id", "to_memory_id"},
			ProposeDeprecation: {"reason"},
			AttachEvidence:     {"kind", "source", "note", "status"},
			AttachVerification: {"kind", "source", "note", "status"},
		}
		keys := map[OpType]map[string]bool{}
		for op, list := range own {
			keys[op] = map[string]bool{}
			for _, key := range slices.Concat(commonKeys, provenanceKeys, list) {
				keys[op][key] = true
			}
		}
		return keys
	}()
)

// PayloadKeys returns the payload keys of an op type, ascending.
func PayloadKeys(op OpType) []string {
	var list []string
	for key := range payloadKeys[op] {
		list = append(list, key)
	}
	slices.Sort(list)
	return list
}

// OpTypes are all types, in the order of the specification.
func OpTypes() []OpType {
	return []OpType{AddMemory, CorrectMemory, SupersedeMemory, MarkDuplicate, AddRelationship, ProposeDeprecation, AttachEvidence, AttachVerification}
}

// readOp reads the op that has to have this ordinal.
func readOp(v canonical.Value, ordinal int) (Op, *Refusal) {
	f := readObject(v, "op")
	op := Op{Type: OpType(f.text("op_type", MaxFieldBytes))}
	if n := f.number("ordinal", MaxOps); f.fault == nil && n != ordinal {
		f.failf("ordinals must count up from 0")
	}
	op.Target, op.Result = f.maybe("target_event_id", MaxFieldBytes), f.maybe("resulting_event_id", MaxFieldBytes)
	op.Payload, _ = f.get("payload")
	op.Payload.Members = slices.Clone(op.Payload.Members) // see scanner.parse
	return op, f.end()
}

func (o *Op) value(ordinal int) canonical.Value {
	var b object
	b.number("ordinal", ordinal)
	b.text("op_type", string(o.Type))
	b.maybe("target_event_id", o.Target)
	b.maybe("resulting_event_id", o.Result)
	b.put("payload", o.Payload)
	return b.value()
}

// NewOp builds an op from a payload given as JSON text.
func NewOp(op OpType, target, result string, payload []byte) (Op, *Refusal) {
	v, err := canonical.ParseStrict(payload, maxParseDepth)
	if err != nil {
		return Op{}, refuse(ReasonShape, "the payload of an op is not strict JSON")
	}
	return Op{Type: op, Target: target, Result: result, Payload: v}, nil
}

// textOp builds an op whose payload holds strings only: name, value, ...
func textOp(op OpType, target, result string, pairs ...string) Op {
	var b object
	for i := 0; i < len(pairs); i += 2 {
		b.maybe(pairs[i], pairs[i+1])
	}
	return Op{Type: op, Target: target, Result: result, Payload: b.value()}
}
