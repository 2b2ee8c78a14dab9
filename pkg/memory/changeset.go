package memory

import (
	"bytes"
	"crypto/sha256"

	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/ledger"
)

// SchemaVersion is that of every record of this package.
const SchemaVersion = "memory_git/v1"

// Record types.
const (
	TypeChangeset = "memory.changeset"
	TypeRef       = "memory.ref"
	TypeProposal  = "memory.proposal"
	TypeReview    = "memory.review"
	TypeConflict  = "memory.conflict"
	TypeMerge     = "memory.merge"
	TypeManifest  = "memory.manifest"
	TypeAdmission = "memory.admission"
)

// Author says who made a record. The principal and the actor are those of the
// admission, or the record is refused.
type Author struct {
	Principal string // a numeric user id, or a workflow's path
	Persona   string // optional
	Actor     string // a segment
}

// Verification is one verification record of a changeset.
type Verification struct{ Kind, Source, Status, Note string }

// Changeset is one immutable set of semantic ops, the payload of a
// memory.changeset record. Its members in JSON, each a string unless said
// otherwise and absent when optional and not set:
//
//	changeset_id         UUID version 7, "legacy-root" for a project's root
//	schema_version       "memory_git/v1"
//	project_id           a segment
//	ref_name             the ref that it was made for
//	parent_ids           list of names, none twice; empty only for the root
//	author               {principal, persona?, actor}
//	surface, model, environment, session_id, topic_id, context_manifest_id
//	                     optional
//	message              at most MaxNoteBytes
//	created_at           a time as in records
//	idempotency_key      unique for the project and principal
//	expected_head        optional name: the head that the caller saw
//	create_ref           optional true: the caller asked for a new ref
//	operations           list of {ordinal, op_type, target_event_id?,
//	                     resulting_event_id?, payload}
//	evidence_refs        optional list of strings
//	verification_records optional list of {kind, source?, status?, note?}
//	baseline             the root only: {heads, missing}, lists of record digests
//	integrity_digest     "sha256:" and the SHA-256 of "memory_git/v1 changeset\n"
//	                     and the canonical text of the other members
//
// expected_head and create_ref are the control fields of the request that made
// the changeset; the movement itself is a record of its own (see Movement).
type Changeset struct {
	ID, Project, Ref               string
	Parents                        []Name
	Author                         Author
	Surface, Model, Environment    string
	Session, Topic, Manifest       string
	Message, CreatedAt, Key        string
	Expected                       Name
	Create                         bool
	Ops                            []Op
	Evidence                       []string
	Verifications                  []Verification
	BaselineHeads, BaselineMissing []ledger.Hash
	Digest                         ledger.Hash
}

// Name returns the name of the changeset.
func (c *Changeset) Name() Name { return Name{c.ID, c.Digest} }

const (
	digestDomain = "memory_git/v1 changeset\n"
	digestMark   = `"integrity_digest":"`
	digestLen    = len(digestMark) + len("sha256:") + 64 + len(`",`)
)

// body is the changeset without its digest.
func (c *Changeset) body() object {
	var b object
	b.text("changeset_id", c.ID)
	b.text("schema_version", SchemaVersion)
	b.text("project_id", c.Project)
	b.text("ref_name", c.Ref)
	items := make([]canonical.Value, len(c.Parents))
	for i, p := range c.Parents {
		items[i] = str(p.String())
	}
	b.put("parent_ids", canonical.Value{Kind: canonical.Array, Items: items})
	b.put("author", c.Author.value())
	b.maybe("surface", c.Surface)
	b.maybe("model", c.Model)
	b.maybe("environment", c.Environment)
	b.maybe("session_id", c.Session)
	b.maybe("topic_id", c.Topic)
	b.maybe("context_manifest_id", c.Manifest)
	b.text("message", c.Message)
	b.text("created_at", c.CreatedAt)
	b.text("idempotency_key", c.Key)
	b.maybe("expected_head", c.Expected.String())
	b.flag("create_ref", c.Create)
	ops := make([]canonical.Value, len(c.Ops))
	for i := range c.Ops {
		ops[i] = c.Ops[i].value(i)
	}
	b.put("operations", canonical.Value{Kind: canonical.Array, Items: ops})
	b.texts("evidence_refs", c.Evidence)
	var list []canonical.Value
	for _, v := range c.Verifications {
		var o object
		o.text("kind", v.Kind)
		o.maybe("source", v.Source)
		o.maybe("status", v.Status)
		o.maybe("note", v.Note)
		list = append(list, o.value())
	}
	b.list("verification_records", list)
	if c.ID == RootID {
		var o object
		o.texts("heads", hashTexts(c.BaselineHeads))
		o.texts("missing", hashTexts(c.BaselineMissing))
		b.put("baseline", o.value())
	}
	return b
}

func (a Author) value() canonical.Value {
	var o object
	o.text("principal", a.Principal)
	o.maybe("persona", a.Persona)
	o.text("actor", a.Actor)
	return o.value()
}

func (f *fields) author() Author {
	in := f.object("author")
	a := Author{in.text("principal", MaxFieldBytes), in.maybe("persona", MaxFieldBytes), in.segment("actor")}
	f.join(in)
	return a
}

func hashTexts(list []ledger.Hash) []string {
	texts := make([]string, len(list))
	for i, h := range list {
		texts[i] = h.String()
	}
	return texts
}

func (f *fields) hashes(name string, most int) []ledger.Hash {
	list := f.texts(name, most, MaxFieldBytes)
	hashes := make([]ledger.Hash, len(list))
	for i, s := range list {
		var ok bool
		if hashes[i], ok = ledger.ParseHash(s); !ok || i > 0 && hashes[i-1].Compare(hashes[i]) >= 0 {
			f.failf("needs ascending digests in %s", name)
			return nil
		}
	}
	return hashes
}

// Seal computes the digest and returns the payload.
func (c *Changeset) Seal() []byte {
	b := c.body()
	c.Digest = changesetDigest(b.bytes())
	b.text("integrity_digest", c.Digest.String())
	return b.bytes()
}

func changesetDigest(text ...[]byte) (sum ledger.Hash) {
	h := sha256.New()
	h.Write([]byte(digestDomain))
	for _, part := range text {
		h.Write(part)
	}
	h.Sum(sum[:0])
	return sum
}

// ParseChangeset reads the payload of a memory.changeset record and proves its
// digest. It judges the form of the changeset, not its ops' semantics.
func ParseChangeset(payload []byte) (*Changeset, *Refusal) {
	return readChangeset(parsePayload(payload, "changeset"), payload)
}

func readChangeset(f *fields, payload []byte) (*Changeset, *Refusal) {
	c := &Changeset{}
	c.ID = f.text("changeset_id", MaxFieldBytes)
	if f.fault == nil && c.ID != RootID && !IsUUIDv7(c.ID) {
		f.failf("needs a UUID version 7 as changeset_id")
	}
	f.oneOf("schema_version", SchemaVersion)
	c.Project, c.Ref = f.segment("project_id"), f.ref("ref_name")
	c.Parents = f.names("parent_ids", MaxParents)
	c.Author = f.author()
	c.Surface, c.Model, c.Environment = f.maybe("surface", MaxFieldBytes), f.maybe("model", MaxFieldBytes), f.maybe("environment", MaxFieldBytes)
	c.Session, c.Topic, c.Manifest = f.maybe("session_id", MaxFieldBytes), f.maybe("topic_id", MaxFieldBytes), f.maybe("context_manifest_id", MaxFieldBytes)
	c.Message, c.CreatedAt, c.Key = f.text("message", MaxNoteBytes), f.time("created_at"), f.text("idempotency_key", MaxFieldBytes)
	c.Expected, c.Create = f.maybeName("expected_head"), f.flag("create_ref")
	items := f.list("operations", MaxOps)
	c.Ops = make([]Op, len(items))
	for i, item := range items {
		var fault *Refusal
		if c.Ops[i], fault = readOp(item, i); fault != nil {
			f.failf("has a bad op %d: %s", i, fault.Detail)
			break
		}
	}
	c.Evidence = f.texts("evidence_refs", MaxRefs, MaxFieldBytes)
	for _, item := range f.list("verification_records", MaxRefs) {
		in := readObject(item, "verification record")
		c.Verifications = append(c.Verifications, Verification{in.text("kind", MaxFieldBytes), in.maybe("source", MaxFieldBytes),
			in.maybe("status", MaxFieldBytes), in.maybe("note", MaxNoteBytes)})
		f.join(in)
	}
	if c.ID == RootID {
		in := f.object("baseline")
		c.BaselineHeads, c.BaselineMissing = in.hashes("heads", MaxBaselineHeads), in.hashes("missing", MaxBaselineHeads)
		f.join(in)
		if len(c.Parents)+len(c.Ops) > 0 {
			f.failf("that is a root has no parents and no operations")
		}
	} else if len(c.Parents) == 0 {
		f.failf("needs parent_ids")
	}
	for i, p := range c.Parents {
		for _, other := range c.Parents[:i] {
			if p == other {
				f.failf("names a parent twice")
			}
		}
	}
	c.Digest = f.hash("integrity_digest")
	if fault := f.end(); fault != nil {
		return nil, fault
	}
	// No member within can have this name: all sets of members are closed, but
	// for payloads, whose texts cannot hold an unescaped quote, and whose keys are
	// judged with the ops. An occurrence that is none of the top level therefore
	// only makes the digest wrong.
	at := bytes.Index(payload, []byte(digestMark))
	if at < 0 || at+digestLen > len(payload) || changesetDigest(payload[:at], payload[at+digestLen:]) != c.Digest {
		return nil, refuse(ReasonDigest, "the integrity digest is not that of the changeset")
	}
	return c, nil
}

// requestDigest identifies what was asked for: everything but what the server
// chose for it, so that the same request made again has the same digest.
func (c *Changeset) requestDigest() ledger.Hash {
	again := *c
	again.ID, again.CreatedAt = "-", "-"
	return ledger.Hash(sha256.Sum256(append([]byte("memory_git/v1 changeset request\n"), again.body().bytes()...)))
}

// FitRecord returns a refusal that says by how much a payload is over the record
// bound, as a record with so many parents.
func FitRecord(typ string, payload []byte, parents int, limits ledger.Limits) *Refusal {
	const fixed, perParent = 215, 74 // a line with its newline, and a digest in it
	n := fixed + len(typ) + len(payload) + max(0, perParent*parents-1)
	if n > limits.MaxRecordBytes {
		return refuse(ReasonTooLarge, "%s takes %d bytes as a record, max-record-kb allows %d: make it %d bytes smaller, or two of it",
			typ, n, limits.MaxRecordBytes, n-limits.MaxRecordBytes)
	}
	return nil
}
