package memory

import (
	"fmt"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/ledger"
)

func long(n int) string { return strings.Repeat("a", n) }

func TestOperationsAreValidated(t *testing.T) {
	const ok = ""
	tags := func(n, size int) string {
		return `["` + strings.Join(strings.Fields(strings.Repeat(long(size)+" ", n)), `","`) + `"]`
	}
	tests := map[string]struct {
		ops  []Op
		want string // in the refusal; "" is none
	}{
		"content that is blank":                {ops(add(`{"content":" \n\t "}`)), "blank"},
		"no content":                           {ops(add(`{"kind":"fact"}`)), "blank"},
		"a kind that there is not":             {ops(add(`{"content":"x","kind":"rumour"}`)), "kind must be"},
		"every kind":                           {ops(add(`{"content":"x","kind":"observation"}`), add(`{"content":"x","kind":"fact"}`), add(`{"content":"x","kind":"decision"}`), add(`{"content":"x","kind":"task"}`), add(`{"content":"x","kind":"flag"}`), add(`{"content":"x","kind":"record"}`)), ok},
		"a visibility that there is not":       {ops(add(`{"content":"x","visibility":"secret"}`)), "visibility must be"},
		"a confidence of 1":                    {ops(add(`{"content":"x","confidence":1}`)), ok},
		"a confidence over 1":                  {ops(add(`{"content":"x","confidence":1.1}`)), "confidence"},
		"a confidence below 0":                 {ops(add(`{"content":"x","confidence":-0.1}`)), "confidence"},
		"a confidence as text":                 {ops(add(`{"content":"x","confidence":"1"}`)), "confidence"},
		"tags":                                 {ops(add(`{"content":"x","tags":["a","b"]}`)), ok},
		"64 tags of 128 bytes":                 {ops(add(`{"content":"x","tags":` + tags(64, 128) + `}`)), ok},
		"65 tags":                              {ops(add(`{"content":"x","tags":` + tags(65, 1) + `}`)), "tags"},
		"a tag of 129 bytes":                   {ops(add(`{"content":"x","tags":` + tags(1, 129) + `}`)), "tags"},
		"an empty tag":                         {ops(add(`{"content":"x","tags":["a",""]}`)), "tags"},
		"tags as text":                         {ops(add(`{"content":"x","tags":"a"}`)), "tags"},
		"a tag that is a number":               {ops(add(`{"content":"x","tags":[1]}`)), "tags"},
		"protected as text":                    {ops(add(`{"content":"x","protected":"yes"}`)), "protected"},
		"content of 16 KiB":                    {ops(add(`{"content":"` + long(MaxContentBytes) + `"}`)), ok},
		"content over 16 KiB":                  {ops(add(`{"content":"` + long(MaxContentBytes+1) + `"}`)), "content has 16385 bytes"},
		"a summary of 4 KiB":                   {ops(add(`{"content":"x","summary":"` + long(MaxNoteBytes) + `"}`)), ok},
		"a summary over 4 KiB":                 {ops(add(`{"content":"x","summary":"` + long(MaxNoteBytes+1) + `"}`)), "summary has 4097 bytes"},
		"a subject over 1 KiB":                 {ops(add(`{"content":"x","subject":"` + long(MaxFieldBytes+1) + `"}`)), "subject has 1025 bytes"},
		"a subject that is null":               {ops(add(`{"content":"x","subject":null}`)), "subject must be a string"},
		"an unknown key":                       {ops(add(`{"content":"x","trust":"high"}`)), `unknown payload key "trust"`},
		"a key of another case":                {ops(add(`{"Content":"x"}`)), `unknown payload key "Content"`},
		"a key of another op":                  {ops(add(`{"content":"x","source_trust":"user"}`)), `unknown payload key "source_trust"`},
		"an op that there is not":              {ops(op("drop_memory", "", "", `{}`)), "no known op_type"},
		"a target for an add":                  {ops(op(AddMemory, "base", "", `{"content":"x"}`)), "no target_event_id"},
		"times":                                {ops(add(`{"content":"x","valid_from":"2026-01-01T00:00:00Z","valid_to":"2026-01-01T01:00:00+01:00"}`)), ok},
		"a time that is none":                  {ops(add(`{"content":"x","valid_from":"2026-01-01"}`)), "RFC 3339"},
		"an end before the beginning":          {ops(add(`{"content":"x","valid_from":"2026-01-02T00:00:00Z","valid_to":"2026-01-01T00:00:00Z"}`)), "before"},
		"an identity that is taken":            {ops(named("base", `{"content":"x"}`)), "active memory already"},
		"an identity twice in one":             {ops(named("m", `{"content":"x"}`), named("m", `{"content":"y"}`)), "op 1 (add_memory): the resulting identity is an active memory already"},
		"an identity that is free again":       {ops(op(SupersedeMemory, "base", "", `{}`), named("base", `{"content":"y"}`)), ok},
		"channels that agree":                  {ops(op(AddMemory, "", "m", `{"content":"x","memory_id":"m","event_id":"m"}`)), ok},
		"channels that disagree":               {ops(op(AddMemory, "", "m", `{"content":"x","memory_id":"n"}`)), "two identities"},
		"an identity with a space":             {ops(named("a b", `{"content":"x"}`)), "visible ASCII"},
		"an identity in another script":        {ops(named("caf\u00e9", `{"content":"x"}`)), "visible ASCII"},
		"an identity of a correction":          {ops(op(CorrectMemory, "base", "a\u200bb", `{"content":"x"}`)), "visible ASCII"},
		"an identity of ours":                  {ops(named("mem:x:0", `{"content":"x"}`)), "mem:"},
		"an identity of a record":              {ops(named("sha256:"+strings.Repeat("0", 64), `{"content":"x"}`)), "sha256:"},
		"an identity over 1 KiB":               {ops(named(long(MaxFieldBytes+1), `{"content":"x"}`)), "1025 bytes"},
		"a correction":                         {ops(op(CorrectMemory, "base", "", `{"content":"x"}`)), ok},
		"a correction with a new identity":     {ops(op(CorrectMemory, "base", "m", `{"content":"x"}`), op(CorrectMemory, "m", "", `{"content":"y"}`)), ok},
		"a correction of what was corrected":   {ops(op(CorrectMemory, "base", "m", `{"content":"x"}`), op(CorrectMemory, "base", "", `{"content":"y"}`)), "op 1 (correct_memory): target_event_id is no active memory"},
		"a correction of nothing":              {ops(op(CorrectMemory, "base", "", `{"summary":"x"}`)), "at least one field"},
		"a correction without a target":        {ops(op(CorrectMemory, "", "", `{"content":"x"}`)), "needs target_event_id"},
		"a correction of what is not there":    {ops(op(CorrectMemory, "none", "", `{"content":"x"}`)), "no active memory"},
		"a correction into itself":             {ops(op(CorrectMemory, "base", "base", `{"content":"x"}`)), "must differ"},
		"a correction with a memory_id":        {ops(op(CorrectMemory, "base", "", `{"content":"x","memory_id":"m"}`)), "unknown payload key"},
		"a correction to blank":                {ops(op(CorrectMemory, "base", "", `{"content":" "}`)), "blank"},
		"an inference on approved memory":      {ops(op(CorrectMemory, "approved", "", `{"content":"x","source_trust":"inference"}`)), "inference"},
		"a model's inference on it":            {ops(op(SupersedeMemory, "approved", "", `{"content":"x","source_trust":"model_inference"}`)), "inference"},
		"an inference that lies of the target": {ops(op(SupersedeMemory, "approved", "", `{"content":"x","source_trust":"inference","target_trust":"inference"}`)), "inference"},
		"an inference on other memory":         {ops(op(CorrectMemory, "base", "", `{"content":"x","source_trust":"inference","target_trust":"user_approved"}`)), ok},
		"an inference on one's own claim":      {ops(named("m", `{"content":"x","approval":"user_approved"}`), op(CorrectMemory, "m", "", `{"content":"y","source_trust":"inference"}`)), ok},
		"a supersede by content":               {ops(op(SupersedeMemory, "base", "", `{"content":"x"}`)), ok},
		"a supersede without content":          {ops(op(SupersedeMemory, "base", "", `{"summary":"gone"}`)), ok},
		"a supersede by another":               {ops(op(SupersedeMemory, "base", "second", `{}`)), ok},
		"a supersede by nothing there":         {ops(op(SupersedeMemory, "base", "none", `{}`)), "no active memory"},
		"a supersede by itself":                {ops(op(SupersedeMemory, "base", "base", `{"content":"x"}`)), "supersede itself"},
		"a supersede into a taken identity":    {ops(op(SupersedeMemory, "base", "second", `{"content":"x"}`)), "active memory already"},
		"a replacement without content":        {ops(op(SupersedeMemory, "base", "", `{"kind":"fact"}`)), "without content"},
		"a duplicate":                          {ops(op(MarkDuplicate, "", "", `{"duplicate_id":"base","duplicate_of":"second"}`)), ok},
		"a duplicate by the op's channels":     {ops(op(MarkDuplicate, "base", "second", `{}`)), ok},
		"a duplicate that disagrees":           {ops(op(MarkDuplicate, "second", "", `{"duplicate_id":"base","duplicate_of":"second"}`)), "two identities"},
		"a duplicate of itself":                {ops(op(MarkDuplicate, "", "", `{"duplicate_id":"base","duplicate_of":"base"}`)), "must differ"},
		"a duplicate of nothing":               {ops(op(MarkDuplicate, "", "", `{"duplicate_id":"base"}`)), "needs duplicate_of"},
		"a duplicate of what is not there":     {ops(op(MarkDuplicate, "", "", `{"duplicate_id":"base","duplicate_of":"none"}`)), "duplicate_of is no active memory"},
		"a relationship":                       {ops(op(AddRelationship, "", "", `{"kind":"causes","from_memory_id":"base","to_memory_id":"second"}`)), ok},
		"a relationship without a kind":        {ops(op(AddRelationship, "", "", `{"kind":" ","from_memory_id":"base","to_memory_id":"second"}`)), "kind"},
		"a relationship with itself":           {ops(op(AddRelationship, "", "", `{"kind":"k","from_memory_id":"base","to_memory_id":"base"}`)), "must differ"},
		"a relationship that disagrees":        {ops(op(AddRelationship, "second", "", `{"kind":"k","from_memory_id":"base","to_memory_id":"second"}`)), "two identities"},
		"a relationship to nothing there":      {ops(op(AddRelationship, "", "", `{"kind":"k","from_memory_id":"base","to_memory_id":"x"}`)), "no active memory"},
		"a deprecation":                        {ops(op(ProposeDeprecation, "base", "", `{"reason":"old"}`)), ok},
		"a deprecation without a reason":       {ops(op(ProposeDeprecation, "base", "", `{"reason":""}`)), "reason"},
		"a deprecation of nothing":             {ops(op(ProposeDeprecation, "", "", `{"reason":"old"}`)), "needs target_event_id"},
		"evidence":                             {ops(op(AttachEvidence, "base", "", `{"source":"https://example.com","note":"seen"}`)), ok},
		"evidence for nothing there":           {ops(op(AttachEvidence, "none", "", `{"note":"seen"}`)), "no active memory"},
		"an attestation":                       {ops(op(AttachVerification, "", "", `{"summary":"ok","reviewer":"ada"}`)), ok},
		"an attestation without provenance":    {ops(op(AttachVerification, "", "", `{"summary":"ok"}`)), "attestation"},
		"an attestation without a summary":     {ops(op(AttachEvidence, "", "", `{"reviewer":"ada"}`)), "attestation"},
		"a mark that creates":                  {ops(op(AttachEvidence, "base", "m", `{"note":"x"}`)), "creates nothing"},
		"a payload that is no object":          {ops(op(AddMemory, "", "", `[]`)), "object"},
	}
	w := newWorld(t)
	w.limits.MaxRecordBytes = 1 << 20
	w.root()
	w.land(w.propose(one, w.commit(one, session("one", "base"), named("base", `{"content":"the base"}`), named("second", `{"content":"the second"}`),
		named("approved", `{"content":"approved","approval":"user_approved"}`))))
	s := w.fold()
	for name, test := range tests {
		_, err := s.Commit(w.agent(one), Commit{Project: "demo", Ref: session("one", "t"), Create: true, Parents: []Name{w.ref(SharedMain)}, Message: "m", Key: nextKey(), Ops: test.ops})
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

func TestAPayloadOver64KiBIsRefusedByItsCanonicalText(t *testing.T) {
	// A control character takes six bytes as text.
	o := add(`{"content":"` + strings.Repeat(`\u0001`, 12<<10) + `"}`)
	if detail := o.checkPayload(); !strings.Contains(detail, "payload has") {
		t.Error(detail)
	}
}

func TestARefusalNamesNoContent(t *testing.T) {
	w := newWorld(t)
	w.root()
	for _, o := range ops(add(`{"content":"x","kind":"hunter2"}`), add(`{"content":"x","confidence":"hunter2"}`), op(CorrectMemory, "hunter2", "", `{"content":"hunter2"}`)) {
		_, err := w.fold().Commit(w.agent(one), Commit{Project: "demo", Ref: session("one", "t"), Create: true, Parents: []Name{w.ref(SharedMain)}, Message: "m", Key: "k", Ops: ops(o)})
		if err == nil || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "\n") {
			t.Error(err)
		}
	}
}

func TestAChangesetHasToFitTheRecordBound(t *testing.T) {
	w := newWorld(t)
	w.root()
	a := w.agent(one)
	commit := func(n int) (Request, error) {
		return w.fold().Commit(a, Commit{Project: "demo", Ref: session("one", "t"), Create: true, Parents: []Name{w.ref(SharedMain)}, Message: "m", Key: "k",
			Ops: ops(add(`{"content":"`+long(16300)+`"}`), add(`{"content":"`+long(n)+`"}`))})
	}
	_, err := commit(16384)
	wantReason(t, err, ReasonTooLarge)
	// What just fits as computed fits as a record, and one byte more does not.
	q, err := commit(15000)
	if err != nil {
		t.Fatal(err)
	}
	fits := len(w.stage(q.Records[0])[0].Line()) + 1
	for n := 15000 + w.limits.MaxRecordBytes - fits - 80; ; n++ {
		q, err := commit(n)
		if err != nil {
			wantReason(t, err, ReasonTooLarge)
			if !strings.Contains(err.Error(), "make it 1 bytes smaller") {
				t.Error(err)
			}
			break
		}
		fits = len(w.stage(q.Records[0])[0].Line()) + 1
	}
	if want := w.limits.MaxRecordBytes; fits > want || fits < want-80 { // the agent counts two parents, the branch has one head
		t.Errorf("the largest has %d bytes of %d", fits, want)
	}
}

func TestFitRecordCountsExactly(t *testing.T) {
	w := newWorld(t)
	for n := range 5 {
		heads := make([]ledger.Hash, n)
		for i := range heads {
			heads[i][0] = byte(i)
		}
		r := w.seal(TypeRef, []byte(`{"a":1}`), heads...)
		limits := w.limits
		limits.MaxRecordBytes = len(r.Line()) + 1
		if fault := FitRecord(TypeRef, []byte(`{"a":1}`), n, limits); fault != nil {
			t.Errorf("%d parents: %v", n, fault)
		}
		limits.MaxRecordBytes--
		if fault := FitRecord(TypeRef, []byte(`{"a":1}`), n, limits); fault == nil {
			t.Errorf("%d parents: fits a byte less", n)
		}
	}
}

func TestEveryOpTypeHasItsClosedKeys(t *testing.T) {
	for _, typ := range OpTypes() {
		for _, key := range append(append(append([]string{}, contentKeys...), provenanceKeys...), "duplicate_id", "reason", "from_memory_id", "memory_id", "note", "id") {
			o := op(typ, "", "", fmt.Sprintf(`{%q:{}}`, key))
			unknown := strings.Contains(o.checkPayload(), "unknown payload key")
			if unknown == payloadKeys[typ][key] {
				t.Errorf("%s %s: unknown is %v", typ, key, unknown)
			}
		}
	}
}
