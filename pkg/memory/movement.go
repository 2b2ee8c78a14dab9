package memory

import "crypto/sha256"

// Movement asks to create a ref or to move one, as the payload of a memory.ref
// record:
//
//	schema_version   "memory_git/v1"
//	project_id, ref_name
//	author           {principal, persona?, actor}
//	expected_head    the head that the ref must have; absent when create is true
//	new_head         the head that it gets
//	create           optional true: the ref must not exist
//	idempotency_key  unique for the project and principal; that of the changeset
//	                 where both were made by one request
//	created_at       a time
type Movement struct {
	Project, Ref   string
	Author         Author
	Expected, Head Name
	Create         bool
	Key, CreatedAt string
}

// Seal returns the payload.
func (m *Movement) Seal() []byte {
	var b object
	b.text("schema_version", SchemaVersion)
	b.text("project_id", m.Project)
	b.text("ref_name", m.Ref)
	b.put("author", m.Author.value())
	b.maybe("expected_head", m.Expected.String())
	b.text("new_head", m.Head.String())
	b.flag("create", m.Create)
	b.text("idempotency_key", m.Key)
	b.text("created_at", m.CreatedAt)
	return b.bytes()
}

// ParseMovement reads the payload of a memory.ref record.
func ParseMovement(payload []byte) (*Movement, *Refusal) {
	return readMovement(parsePayload(payload, "movement"))
}

func readMovement(f *fields) (*Movement, *Refusal) {
	m := &Movement{}
	f.oneOf("schema_version", SchemaVersion)
	m.Project, m.Ref, m.Author = f.segment("project_id"), f.ref("ref_name"), f.author()
	m.Expected, m.Head, m.Create = f.maybeName("expected_head"), f.name("new_head"), f.flag("create")
	m.Key, m.CreatedAt = f.text("idempotency_key", MaxFieldBytes), f.time("created_at")
	if m.Create != (m.Expected == Name{}) {
		f.failf("needs either expected_head or create")
	}
	return m, f.end()
}

// requestDigest identifies what was asked for.
func (m *Movement) requestDigest() [32]byte {
	again := *m
	again.CreatedAt = "-"
	return sha256.Sum256(append([]byte("memory_git/v1 ref request\n"), again.Seal()...))
}
