package memory

import (
	"crypto/sha256"

	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/ledger"
)

// ManifestKind tells what went in from what came out.
type ManifestKind string

const (
	InputManifest  ManifestKind = "input"
	OutputManifest ManifestKind = "output"
)

// Pin is one memory of a context and why it is in.
type Pin struct{ ID, Reason string }

// Exclusion counts what is not in a context for one reason; IDs are the first of
// them, at most MaxExcludedIDs.
type Exclusion struct {
	Reason string   `json:"reason"`
	Count  int      `json:"count"`
	IDs    []string `json:"ids,omitzero"`
}

// Manifest is the payload of a memory.manifest record. An input manifest pins a
// context:
//
//	schema_version  "memory_git/v1"
//	manifest_id     UUID version 7
//	kind            "input"
//	project_id, ref_name
//	head_changeset_id  a name
//	memories        list of {id, reason}, in the order of the context
//	excluded        optional list of {reason, count, ids?}
//	conflict_ids    optional list: the open conflicts that the context names, the
//	                first MaxContextConflicts by id
//	conflict_count  how many there are
//	baseline        optional true: it was made with unreviewed memory
//	content_digest  "sha256:..." of the context's text
//	author, created_at
//
// An output manifest says what came of a run; persist writes it:
//
//	kind            "output"
//	base_changeset_id       a name: what the run's work started from
//	resulting_changeset_id  optional name: the last changeset admitted
//	target_ref      optional: of the proposal, or the ref that moved
//	unresolved_conflicts    optional list of ids, the first MaxContextConflicts
//	conflict_count  how many there are
//	proposal_id     optional: the last proposal admitted
//	input_manifest_id       optional
type Manifest struct {
	ID        string
	Kind      ManifestKind
	Project   string
	Author    Author
	CreatedAt string

	Ref           string // input
	Head          Name
	Memories      []Pin
	Excluded      []Exclusion
	Conflicts     []string // both kinds
	Baseline      bool
	ContentDigest string

	Base, Result    Name // output
	TargetRef       string
	ConflictCount   int
	Proposal, Input string
}

// Seal returns the payload.
func (m *Manifest) Seal() []byte {
	var b object
	b.text("schema_version", SchemaVersion)
	b.text("manifest_id", m.ID)
	b.text("kind", string(m.Kind))
	b.text("project_id", m.Project)
	b.put("author", m.Author.value())
	b.text("created_at", m.CreatedAt)
	if m.Kind == OutputManifest {
		b.text("base_changeset_id", m.Base.String())
		b.maybe("resulting_changeset_id", m.Result.String())
		b.maybe("target_ref", m.TargetRef)
		b.texts("unresolved_conflicts", m.Conflicts)
		b.number("conflict_count", m.ConflictCount)
		b.maybe("proposal_id", m.Proposal)
		b.maybe("input_manifest_id", m.Input)
		return b.bytes()
	}
	b.text("ref_name", m.Ref)
	b.text("head_changeset_id", m.Head.String())
	pins := make([]canonical.Value, len(m.Memories))
	for i, p := range m.Memories {
		var o object
		o.text("id", p.ID)
		o.text("reason", p.Reason)
		pins[i] = o.value()
	}
	b.put("memories", canonical.Value{Kind: canonical.Array, Items: pins})
	var excluded []canonical.Value
	for _, e := range m.Excluded {
		var o object
		o.text("reason", e.Reason)
		o.number("count", e.Count)
		o.texts("ids", e.IDs)
		excluded = append(excluded, o.value())
	}
	b.list("excluded", excluded)
	b.texts("conflict_ids", m.Conflicts)
	b.number("conflict_count", m.ConflictCount)
	b.flag("baseline", m.Baseline)
	b.text("content_digest", m.ContentDigest)
	return b.bytes()
}

// ParseManifest reads the payload of a memory.manifest record.
func ParseManifest(payload []byte) (*Manifest, *Refusal) {
	f := parsePayload(payload, "manifest")
	m := &Manifest{}
	f.oneOf("schema_version", SchemaVersion)
	m.ID, m.Kind = f.uuid("manifest_id"), ManifestKind(f.oneOf("kind", string(InputManifest), string(OutputManifest)))
	m.Project, m.Author, m.CreatedAt = f.segment("project_id"), f.author(), f.time("created_at")
	if m.Kind == OutputManifest {
		m.Base, m.Result = f.name("base_changeset_id"), f.maybeName("resulting_changeset_id")
		if _, there := f.get("target_ref"); there {
			m.TargetRef = f.ref("target_ref")
		}
		m.Conflicts, m.ConflictCount = f.texts("unresolved_conflicts", MaxContextConflicts, MaxFieldBytes), f.number("conflict_count", maxVerdicts)
		m.Proposal, m.Input = f.maybe("proposal_id", MaxFieldBytes), f.maybe("input_manifest_id", MaxFieldBytes)
		return m, f.end()
	}
	m.Ref, m.Head = f.ref("ref_name"), f.name("head_changeset_id")
	for _, item := range f.list("memories", MaxContextMemories) {
		in := readObject(item, "pin")
		m.Memories = append(m.Memories, Pin{in.text("id", MaxFieldBytes), in.text("reason", MaxFieldBytes)})
		f.join(in)
	}
	for _, item := range f.list("excluded", MaxFindings) {
		in := readObject(item, "exclusion")
		m.Excluded = append(m.Excluded, Exclusion{in.text("reason", MaxFieldBytes), in.number("count", maxSeq), in.texts("ids", MaxExcludedIDs, MaxFieldBytes)})
		f.join(in)
	}
	m.Conflicts, m.ConflictCount = f.texts("conflict_ids", MaxContextConflicts, MaxFieldBytes), f.number("conflict_count", maxVerdicts)
	m.Baseline = f.flag("baseline")
	m.ContentDigest = f.hash("content_digest").String()
	return m, f.end()
}

func contentDigest(text []byte) string { return ledger.Hash(sha256.Sum256(text)).String() }
