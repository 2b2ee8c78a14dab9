package memory

import (
	"crypto/sha256"

	"github.com/repo-memory/ledger/pkg/canonical"
)

// ProposalKind says what a proposal is about.
type ProposalKind string

const (
	BranchProposal    ProposalKind = "merge_request" // a branch
	ChangesetProposal ProposalKind = "changeset"     // selected ops, or one changeset
	MemoryProposal    ProposalKind = "memory"        // a revert or another single correction
)

// Selection is one selected op: a changeset and an ordinal in it.
type Selection struct {
	Changeset Name
	Ordinal   int
}

// Proposal asks for a merge into a protected ref, as the payload of a
// memory.proposal record:
//
//	schema_version     "memory_git/v1"
//	proposal_id        UUID version 7
//	project_id
//	kind               merge_request, changeset or memory
//	target_ref         a protected ref
//	source_ref         optional: the branch that is proposed
//	base_changeset_id  a name: what the work started from
//	head_changeset_id  a name: what is proposed
//	selected_ops       optional list of {changeset_id, ordinal}: a cherry-pick
//	conflict_ids       optional list: what the proposer knew of; advice only
//	review_findings    optional list of strings; advice only
//	message, author, created_at, idempotency_key
type Proposal struct {
	ID, Project           string
	Kind                  ProposalKind
	TargetRef, SourceRef  string
	Base, Head            Name
	Selected              []Selection
	ConflictIDs, Findings []string
	Message               string
	Author                Author
	CreatedAt, Key        string
}

// Seal returns the payload.
func (p *Proposal) Seal() []byte {
	var b object
	b.text("schema_version", SchemaVersion)
	b.text("proposal_id", p.ID)
	b.text("project_id", p.Project)
	b.text("kind", string(p.Kind))
	b.text("target_ref", p.TargetRef)
	b.maybe("source_ref", p.SourceRef)
	b.text("base_changeset_id", p.Base.String())
	b.text("head_changeset_id", p.Head.String())
	b.list("selected_ops", selectionValues(p.Selected))
	b.texts("conflict_ids", p.ConflictIDs)
	b.texts("review_findings", p.Findings)
	b.text("message", p.Message)
	b.put("author", p.Author.value())
	b.text("created_at", p.CreatedAt)
	b.text("idempotency_key", p.Key)
	return b.bytes()
}

func selectionValues(list []Selection) []canonical.Value {
	var items []canonical.Value
	for _, s := range list {
		var o object
		o.text("changeset_id", s.Changeset.String())
		o.number("ordinal", s.Ordinal)
		items = append(items, o.value())
	}
	return items
}

// ParseProposal reads the payload of a memory.proposal record.
func ParseProposal(payload []byte) (*Proposal, *Refusal) {
	f := parsePayload(payload, "proposal")
	p := &Proposal{}
	f.oneOf("schema_version", SchemaVersion)
	p.ID, p.Project = f.uuid("proposal_id"), f.segment("project_id")
	p.Kind = ProposalKind(f.oneOf("kind", string(BranchProposal), string(ChangesetProposal), string(MemoryProposal)))
	p.TargetRef = f.ref("target_ref")
	if _, there := f.get("source_ref"); there {
		p.SourceRef = f.ref("source_ref")
	}
	p.Base, p.Head = f.name("base_changeset_id"), f.name("head_changeset_id")
	seen := map[Selection]bool{}
	for _, item := range f.list("selected_ops", MaxSelected) {
		in := readObject(item, "selected op")
		s := Selection{in.name("changeset_id"), in.number("ordinal", MaxOps)}
		f.join(in)
		if seen[s] {
			f.failf("selects an op twice")
		}
		seen[s] = true
		p.Selected = append(p.Selected, s)
	}
	p.ConflictIDs = f.texts("conflict_ids", MaxConflicts, MaxFieldBytes)
	p.Findings = f.texts("review_findings", MaxFindings, MaxNoteBytes)
	p.Message, p.Author, p.CreatedAt, p.Key = f.text("message", MaxNoteBytes), f.author(), f.time("created_at"), f.text("idempotency_key", MaxFieldBytes)
	return p, f.end()
}

func (p *Proposal) requestDigest() [32]byte {
	again := *p
	again.ID, again.CreatedAt = "-", "-"
	return sha256.Sum256(append([]byte("memory_git/v1 proposal request\n"), again.Seal()...))
}
