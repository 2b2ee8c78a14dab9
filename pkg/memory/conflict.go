package memory

import (
	"crypto/sha256"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// ConflictType is what a detector found.
type ConflictType string

const (
	IncompatibleFact      ConflictType = "incompatible_fact"
	ContradictoryDecision ConflictType = "contradictory_decision"
	ProtectedDecision     ConflictType = "protected_decision"
	DuplicateContent      ConflictType = "duplicate_content"
	StaleBase             ConflictType = "stale_base"
	ScopeFlow             ConflictType = "scope_flow"
	TrustDowngrade        ConflictType = "trust_downgrade"
	BoundaryViolation     ConflictType = "boundary_violation"
	TooManyConflicts      ConflictType = "too_many_conflicts"
)

// Severity is what a conflict asks of the reviewer.
type Severity string

const (
	Blocks Severity = "blocks"      // no approval while it is open
	Asks   Severity = "acknowledge" // approval names it
	Tells  Severity = "informs"
)

// ConflictStatus is where a conflict is in its life.
type ConflictStatus string

const (
	ConflictOpen       ConflictStatus = "open"
	ConflictResolved   ConflictStatus = "resolved"
	ConflictRejected   ConflictStatus = "rejected"
	ConflictSuperseded ConflictStatus = "superseded"
	ConflictCanceled   ConflictStatus = "canceled"
	ConflictDeferred   ConflictStatus = "deferred"
)

// Label says how two memories that differ are related.
type Label string

const (
	TemporalUpdate      Label = "temporal_update"      // one replaced the other, over any number of steps
	DirectContradiction Label = "direct_contradiction" // no lineage joins them
)

// Conflict is a finding of the detectors about a proposal, as the payload of a
// memory.conflict record:
//
//	schema_version  "memory_git/v1"
//	conflict_id     "sha256:...", see ID
//	project_id, proposal_id
//	base, left, right   names; left is the target's head, right the proposal's
//	type            incompatible_fact, contradictory_decision, ...
//	severity        blocks, acknowledge or informs
//	identity        what is affected: memory:<id>, pair:<length>:<id> <id>, or
//	                <what>:<changeset>#<ordinal>
//	left_memories, right_memories   optional lists of memory ids
//	label           optional: temporal_update or direct_contradiction
//	status          open, resolved, rejected, superseded, canceled or deferred
//	note            optional: why it has this status
//
// A record with the same conflict_id and another status is the conflict's next
// step: open or deferred become any other, the rest are final.
type Conflict struct {
	ID, Project, Proposal       string
	Base, Left, Right           Name
	Type                        ConflictType
	Severity                    Severity
	Identity                    string
	LeftMemories, RightMemories []string
	Label                       Label
	Status                      ConflictStatus
	Note                        string
}

// identify sets the id: a digest of the project, base, left, right, type and
// identity, so that the same finding made again is the same conflict.
func (c *Conflict) identify() {
	var o object
	o.text("project_id", c.Project)
	o.text("base", c.Base.String())
	o.text("left", c.Left.String())
	o.text("right", c.Right.String())
	o.text("type", string(c.Type))
	o.text("identity", c.Identity)
	c.ID = ledger.Hash(sha256.Sum256(append([]byte("memory_git/v1 conflict\n"), o.bytes()...))).String()
}

// Seal returns the payload.
func (c *Conflict) Seal() []byte {
	var b object
	b.text("schema_version", SchemaVersion)
	b.text("conflict_id", c.ID)
	b.text("project_id", c.Project)
	b.text("proposal_id", c.Proposal)
	b.text("base", c.Base.String())
	b.text("left", c.Left.String())
	b.text("right", c.Right.String())
	b.text("type", string(c.Type))
	b.text("severity", string(c.Severity))
	b.text("identity", c.Identity)
	b.texts("left_memories", c.LeftMemories)
	b.texts("right_memories", c.RightMemories)
	b.maybe("label", string(c.Label))
	b.text("status", string(c.Status))
	b.maybe("note", c.Note)
	return b.bytes()
}

// ParseConflict reads the payload of a memory.conflict record.
func ParseConflict(payload []byte) (*Conflict, *Refusal) {
	f := parsePayload(payload, "conflict")
	c := &Conflict{}
	f.oneOf("schema_version", SchemaVersion)
	c.ID = f.hash("conflict_id").String()
	c.Project, c.Proposal = f.segment("project_id"), f.uuid("proposal_id")
	c.Base, c.Left, c.Right = f.name("base"), f.name("left"), f.name("right")
	c.Type = ConflictType(f.oneOf("type", string(IncompatibleFact), string(ContradictoryDecision), string(ProtectedDecision), string(DuplicateContent),
		string(StaleBase), string(ScopeFlow), string(TrustDowngrade), string(BoundaryViolation), string(TooManyConflicts)))
	c.Severity = Severity(f.oneOf("severity", string(Blocks), string(Asks), string(Tells)))
	c.Identity = f.text("identity", 4*MaxFieldBytes)
	c.LeftMemories = f.texts("left_memories", MaxConflictMemories, MaxFieldBytes)
	c.RightMemories = f.texts("right_memories", MaxConflictMemories, MaxFieldBytes)
	if _, there := f.get("label"); there {
		c.Label = Label(f.oneOf("label", string(TemporalUpdate), string(DirectContradiction)))
	}
	c.Status = ConflictStatus(f.oneOf("status", string(ConflictOpen), string(ConflictResolved), string(ConflictRejected),
		string(ConflictSuperseded), string(ConflictCanceled), string(ConflictDeferred)))
	c.Note = f.maybe("note", MaxNoteBytes)
	fault := f.end()
	if id := c.ID; fault == nil {
		if c.identify(); c.ID != id {
			fault = refuse(ReasonDigest, "the conflict_id is not that of the conflict")
		}
	}
	return c, fault
}
