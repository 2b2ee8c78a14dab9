package memory

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/repo-memory/ledger/pkg/canonical"
)

// isInference reports whether a source_trust admits to be an inference.
func isInference(trust string) bool { return trust == "inference" || trust == "model_inference" }

// notes are the keys with the bound of a note.
var notes = []string{"summary", "reason", "note"}

// provenance are the keys of which an attestation needs one (specification,
// "Semantic validation").
var provenance = provenanceKeys

// validateOp judges one op against the memory that it finds: v holds the effect of
// all ops before it. The refusal names the op by ordinal and never its values.
func (v view) validateOp(p *project, s *set, ordinal int) *Refusal {
	op := &s.Ops[ordinal]
	fail := func(format string, args ...any) *Refusal {
		return refuse(ReasonOperation, "op %d (%s): %s", ordinal, quotedType(op.Type), fmt.Sprintf(format, args...))
	}
	if detail := op.checkPayload(); detail != "" {
		return fail("%s", detail)
	}
	id, agree := op.identify()
	if !agree {
		return fail("names two identities for one: use one channel, or the same value in each")
	}
	need := func(what, id string) (*Memory, *Refusal) {
		if id == "" {
			return nil, fail("needs %s", what)
		}
		if m := v.active(p, id); m != nil {
			return m, nil
		}
		return nil, fail("%s is no active memory of this project here", what)
	}
	free := func(id string) *Refusal {
		if id != "" && v.active(p, id) != nil {
			return fail("the resulting identity is an active memory already")
		}
		if !isVisible(id) {
			return fail("an identity has visible ASCII characters only")
		}
		if op.Type == AddMemory && v.find(p, id) != nil {
			return nil // brought back
		}
		return p.checkReserved(id, s, op, fail)
	}
	switch op.Type {
	case AddMemory:
		if op.Target != "" {
			return fail("creates memory and has no target_event_id")
		}
		if strings.TrimSpace(op.Text("content")) == "" {
			return fail("needs content that is not blank")
		}
		if id.result == "" {
			id.result = defaultID(s.ID, ordinal)
		}
		return free(id.result)
	case CorrectMemory:
		target, fault := need("target_event_id", id.target)
		switch {
		case fault != nil:
			return fault
		case id.result == id.target:
			return fail("resulting_event_id must differ from the target, or be absent")
		case !slices.ContainsFunc(contentKeys, op.has):
			return fail("needs at least one field to correct")
		case p.approved(target) && isInference(op.Text("source_trust")):
			return fail("an inference cannot replace what a user approved")
		}
		return free(id.result)
	case SupersedeMemory:
		target, fault := need("target_event_id", id.target)
		switch {
		case fault != nil:
			return fault
		case id.result == id.target:
			return fail("a memory cannot supersede itself")
		case p.approved(target) && isInference(op.Text("source_trust")):
			return fail("an inference cannot replace what a user approved")
		case op.has("content"):
			if id.result == "" {
				id.result = defaultID(s.ID, ordinal)
			}
			return free(id.result)
		case slices.ContainsFunc(contentKeys, op.has):
			return fail("describes a replacement without content")
		case id.result != "":
			_, fault = need("the superseding identity", id.result)
		}
		return fault
	case MarkDuplicate, AddRelationship:
		first, second := "duplicate_id", "duplicate_of"
		if op.Type == AddRelationship {
			first, second = "from_memory_id", "to_memory_id"
			if strings.TrimSpace(op.Text("kind")) == "" {
				return fail("needs a kind")
			}
		}
		if _, fault := need(first, id.target); fault != nil {
			return fault
		}
		if id.result == id.target {
			return fail("%s and %s must differ", first, second)
		}
		_, fault := need(second, id.result)
		return fault
	}
	// What is left only marks.
	if id.result != "" {
		return fail("creates nothing and has no resulting_event_id")
	}
	if op.Type == ProposeDeprecation {
		if strings.TrimSpace(op.Text("reason")) == "" {
			return fail("needs a reason")
		}
		_, fault := need("target_event_id", id.target)
		return fault
	}
	if id.target != "" {
		_, fault := need("target_event_id", id.target)
		return fault
	}
	if strings.TrimSpace(op.Text("summary")) == "" || !slices.ContainsFunc(provenance, op.has) {
		return fail("without a target it is an attestation: it needs a summary and one of %s", strings.Join(provenance, ", "))
	}
	return nil
}

// checkReserved keeps the identities that ops without names get: one that starts
// with "mem:" is only taken by the op that it stands for, picked into another
// changeset, and names of baseline records never.
func (p *project) checkReserved(id string, s *set, op *Op, fail func(string, ...any) *Refusal) *Refusal {
	if strings.HasPrefix(id, "sha256:") {
		return fail("identities that start with sha256: are those of records")
	}
	rest, reserved := strings.CutPrefix(id, "mem:")
	if !reserved {
		return nil
	}
	changeset, ordinal, _ := strings.Cut(rest, ":")
	n, err := strconv.Atoi(ordinal)
	if err == nil && strconv.Itoa(n) == ordinal && n >= 0 {
		if changeset == s.ID && n < len(s.Ops) && &s.Ops[n] == op {
			return nil
		}
		if i, known := p.byID[changeset]; known && n < len(p.sets[i].Ops) && n < MaxOps {
			source := &p.sets[i].Ops[n]
			if source.Type == op.Type && op.Text("cherrypicked_from") == pickedFrom(p.sets[i].Name(), n) {
				return nil
			}
		}
	}
	return fail("identities that start with mem: are given to ops without one")
}

// isVisible reports whether id is visible ASCII: two identities that look alike, or
// differ in their composition only, cannot be told apart in a review.
func isVisible(id string) bool {
	for i := range len(id) {
		if id[i] <= ' ' || id[i] > '~' {
			return false
		}
	}
	return true
}

func quotedType(t OpType) string {
	if payloadKeys[t] != nil {
		return string(t)
	}
	return quoted(string(t))
}

// checkPayload judges form and bounds of an op's payload; "" is sound.
func (o *Op) checkPayload() string {
	keys := payloadKeys[o.Type]
	if keys == nil {
		return "is no known op_type"
	}
	if o.Payload.Kind != canonical.Object {
		return "needs an object as payload"
	}
	size := 0
	for i := range o.Payload.Members {
		name, v := o.Payload.Members[i].Name, o.Payload.Members[i].Value
		if !keys[name] {
			return "unknown payload key " + quoted(name)
		}
		size += len(name) + len(v.Str) + 8
		switch name {
		case "tags":
			if v.Kind != canonical.Array || len(v.Items) > MaxTags {
				return fmt.Sprintf("tags must be a list of at most %d", MaxTags)
			}
			for _, tag := range v.Items {
				size += len(tag.Str) + 4
				if tag.Kind != canonical.String || strings.TrimSpace(tag.Str) == "" || len(tag.Str) > MaxTagBytes {
					return fmt.Sprintf("tags must be strings of 1 to %d bytes", MaxTagBytes)
				}
			}
		case "confidence":
			c, err := strconv.ParseFloat(v.Str, 64)
			if v.Kind != canonical.Number || err != nil || c < 0 || c > 1 {
				return "confidence must be a number from 0 to 1"
			}
		case "protected":
			if v.Kind != canonical.True && v.Kind != canonical.False {
				return "protected must be true or false"
			}
		default:
			most := MaxFieldBytes
			if name == "content" {
				most = MaxContentBytes
			} else if slices.Contains(notes, name) {
				most = MaxNoteBytes
			}
			if v.Kind != canonical.String {
				return name + " must be a string"
			}
			if len(v.Str) > most {
				return fmt.Sprintf("%s has %d bytes, at most %d are allowed", name, len(v.Str), most)
			}
		}
	}
	// Escapes make the canonical text longer than what was counted, at most sixfold.
	if size*6 > MaxPayloadBytes {
		if text, err := o.Payload.Text(); err != nil || len(text) > MaxPayloadBytes {
			return fmt.Sprintf("payload has %d bytes, at most %d are allowed", len(text), MaxPayloadBytes)
		}
	}
	return o.checkContent()
}

// checkContent judges the values of content keys.
func (o *Op) checkContent() string {
	if !o.writes() {
		return ""
	}
	var from, to time.Time
	for i := range o.Payload.Members {
		name, s := o.Payload.Members[i].Name, o.Payload.Members[i].Value.Str
		switch name {
		case "content":
			if strings.TrimSpace(s) == "" {
				return "content must not be blank"
			}
		case "kind":
			if !slices.Contains(kinds, s) {
				return "kind must be one of " + strings.Join(kinds, ", ")
			}
		case "visibility":
			if !slices.Contains(visibilities, s) {
				return "visibility must be one of " + strings.Join(visibilities, ", ")
			}
		case "valid_from", "valid_to":
			t, err := time.Parse(time.RFC3339, s)
			if err != nil {
				return name + " must be a time as in RFC 3339"
			}
			if name == "valid_from" {
				from = t
			} else {
				to = t
			}
		}
	}
	if !from.IsZero() && !to.IsZero() && to.Before(from) {
		return "valid_to lies before valid_from"
	}
	return ""
}
