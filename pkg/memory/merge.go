package memory

// Strategy is the shape of a merge.
type Strategy string

const (
	FastForward Strategy = "fast_forward" // the new head is the proposal's, and descends from the target's
	MergeCommit Strategy = "merge_commit" // the new head joins [target head, proposal head]
	CherryPick  Strategy = "cherry_pick"  // the new head has the target's head as only parent, and selected ops
)

func (f *fields) strategy(name string) Strategy {
	return Strategy(f.oneOf(name, string(FastForward), string(MergeCommit), string(CherryPick)))
}

// Merge is one movement of a protected ref, as the payload of a memory.merge
// record: the authorization that it consumes, the swap, and the advancement, in
// one:
//
//	schema_version  "memory_git/v1"
//	token           {envelope, mac}, see Token
//	merged_at       a time
//
// Project, ref, heads, proposal, strategy and nonce are those of the envelope.
type Merge struct {
	Token    Token
	MergedAt string
}

// Seal returns the payload.
func (m *Merge) Seal() []byte {
	var b object
	b.text("schema_version", SchemaVersion)
	b.put("token", m.Token.value())
	b.text("merged_at", m.MergedAt)
	return b.bytes()
}

// ParseMerge reads the payload of a memory.merge record.
func ParseMerge(payload []byte) (*Merge, *Refusal) {
	f := parsePayload(payload, "merge")
	m := &Merge{}
	f.oneOf("schema_version", SchemaVersion)
	v, _ := f.get("token")
	var fault *Refusal
	if m.Token, fault = readToken(v); fault != nil && f.fault == nil {
		return nil, fault
	}
	m.MergedAt = f.time("merged_at")
	return m, f.end()
}
