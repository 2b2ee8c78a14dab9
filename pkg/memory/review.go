package memory

// Operation is what a review does.
type Operation string

const (
	Comment        Operation = "comment"
	RequestChanges Operation = "request-changes"
	Approve        Operation = "approve"
	Reject         Operation = "reject"
	Cancel         Operation = "cancel"
	Expire         Operation = "expire"
)

// Review is a verdict of a trusted job, as the payload of a memory.review record:
//
//	schema_version  "memory_git/v1"
//	review_id       UUID version 7
//	project_id, proposal_id
//	operation       comment, request-changes, approve, reject, cancel or expire
//	reviewer        {principal, persona?, actor}
//	findings        optional list of strings
//	acknowledged    optional list of conflict ids (approve)
//	state_digest    "sha256:...": what the reviewer was shown (approve)
//	new_head        a name: what the merge shall set (approve)
//	strategy        fast_forward, merge_commit or cherry_pick (approve)
//	nonce           that of the authorization (approve)
//	created_at      a time
type Review struct {
	ID, Project, Proposal  string
	Operation              Operation
	Reviewer               Author
	Findings, Acknowledged []string
	StateDigest            string
	NewHead                Name
	Strategy               Strategy
	Nonce                  string
	CreatedAt              string
}

// Seal returns the payload.
func (r *Review) Seal() []byte {
	var b object
	b.text("schema_version", SchemaVersion)
	b.text("review_id", r.ID)
	b.text("project_id", r.Project)
	b.text("proposal_id", r.Proposal)
	b.text("operation", string(r.Operation))
	b.put("reviewer", r.Reviewer.value())
	b.texts("findings", r.Findings)
	b.texts("acknowledged", r.Acknowledged)
	b.maybe("state_digest", r.StateDigest)
	b.maybe("new_head", r.NewHead.String())
	b.maybe("strategy", string(r.Strategy))
	b.maybe("nonce", r.Nonce)
	b.text("created_at", r.CreatedAt)
	return b.bytes()
}

// ParseReview reads the payload of a memory.review record.
func ParseReview(payload []byte) (*Review, *Refusal) {
	f := parsePayload(payload, "review")
	r := &Review{}
	f.oneOf("schema_version", SchemaVersion)
	r.ID, r.Project, r.Proposal = f.uuid("review_id"), f.segment("project_id"), f.uuid("proposal_id")
	r.Operation = Operation(f.oneOf("operation", string(Comment), string(RequestChanges), string(Approve), string(Reject), string(Cancel), string(Expire)))
	in := f.object("reviewer")
	r.Reviewer = Author{in.text("principal", MaxFieldBytes), in.maybe("persona", MaxFieldBytes), in.segment("actor")}
	f.join(in)
	r.Findings = f.texts("findings", MaxFindings, MaxNoteBytes)
	r.CreatedAt = f.time("created_at")
	if r.Operation == Approve {
		r.Acknowledged = f.texts("acknowledged", MaxConflicts, MaxFieldBytes)
		r.StateDigest, r.NewHead = f.hash("state_digest").String(), f.name("new_head")
		r.Strategy = f.strategy("strategy")
		r.Nonce = f.nonce("nonce")
	}
	return r, f.end()
}
