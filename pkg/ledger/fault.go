package ledger

import (
	"bytes"
	"strings"

	"github.com/repo-memory/ledger/pkg/canonical"
)

// Codes of a [Diagnostic], those of the reference runtime.
const (
	InvalidJSON         = "invalid-json"
	InvalidEnvelope     = "invalid-envelope"
	UnsupportedVersion  = "unsupported-version"
	InvalidSHA          = "invalid-sha"
	TruncatedRecord     = "truncated-record"
	DuplicateIDConflict = "duplicate-id-conflict"
	MissingParent       = "missing-parent"
)

// faultOf is the slow path of the line parser: it names what is wrong with a
// line, by reading it as the reference does and asking in the reference's order.
// It is "" for a record, and then the fast path has said yes.
func faultOf(line []byte) string {
	v, err := canonical.Parse(line)
	if err != nil {
		if err.(*canonical.Error).Rule == canonical.Syntax {
			return InvalidJSON
		}
		return InvalidEnvelope
	}
	if version, ok := v.Get("version"); ok && (version.Kind != canonical.Number || version.Str != "1") {
		return UnsupportedVersion
	}
	if !isRecordShape(v) {
		return InvalidEnvelope
	}
	text, err := v.Text()
	if err != nil {
		return InvalidEnvelope
	}
	var body canonical.Value
	body.Kind = canonical.Object
	for _, m := range v.Members {
		if m.Name != "sha" {
			body.Members = append(body.Members, m)
		}
	}
	unsealed, err := body.Text()
	if err != nil {
		return InvalidEnvelope
	}
	if sha, _ := v.Get("sha"); canonical.Sum(unsealed) != sha.Str {
		return InvalidSHA
	}
	if !bytes.Equal(text, line) {
		return InvalidEnvelope
	}
	return ""
}

// isRecordShape reports whether v has a record's members, each of its form.
func isRecordShape(v canonical.Value) bool {
	names := make([]string, len(v.Members))
	for i, m := range v.Members {
		names[i] = m.Name
	}
	if strings.Join(names, ",") != "id,parents,payload,sha,timestamp,type,version" {
		return false
	}
	text := func(name string) (string, bool) {
		m, _ := v.Get(name)
		return m.Str, m.Kind == canonical.String
	}
	if id, ok := text("id"); !ok || !IsID(id) {
		return false
	}
	if typ, ok := text("type"); !ok || typ == "" || canonical.Units(typ) > MaxTypeUnits {
		return false
	}
	if timestamp, ok := text("timestamp"); !ok || !isTimestamp([]byte(timestamp)) {
		return false
	}
	if sha, ok := text("sha"); !ok || !isHash(sha) {
		return false
	}
	parents, _ := v.Get("parents")
	if parents.Kind != canonical.Array || len(parents.Items) > MaxParents {
		return false
	}
	for i, parent := range parents.Items {
		if parent.Kind != canonical.String || !isHash(parent.Str) || i > 0 && parents.Items[i-1].Str >= parent.Str {
			return false
		}
	}
	return true
}

func isHash(text string) bool {
	_, ok := ParseHash(text)
	return ok
}
