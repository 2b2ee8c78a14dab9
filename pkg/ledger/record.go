package ledger

import (
	"crypto/sha256"
	"fmt"

	"github.com/repo-memory/ledger/pkg/canonical"
)

// Record is one record, seen through its canonical line. The zero Record is none.
type Record struct {
	line []byte
	sha  Hash
	at   layout
}

// Line returns the canonical text of the record without its newline; callers
// must not change it.
func (r Record) Line() []byte { return r.line }

// SHA returns the record's digest.
func (r Record) SHA() Hash { return r.sha }

// ID returns the record's id.
func (r Record) ID() string { return string(r.line[idStart : idStart+r.at.idLen()]) }

// Type returns the record's type, in the string encoding of canonical.Value.
func (r Record) Type() string { return unquote(r.line[r.at.typeStart:r.at.typeEnd]) }

// Timestamp returns the record's timestamp.
func (r Record) Timestamp() string {
	start := r.at.shaStart() + len(shaMark) + 64 + len(timeMark)
	return string(r.line[start : int(r.at.typeStart)-len(typeMark)])
}

// Parents returns the digests that the record names, ascending.
func (r Record) Parents() []Hash {
	parents := make([]Hash, r.at.parents)
	pos := idStart + r.at.idLen() + len(parentsMark) + 1
	for i := range parents {
		unhex(parents[i][:], r.line[pos+len(hashPrefix):pos+hashLen])
		pos += hashLen + len(`","`)
	}
	return parents
}

// Payload returns the canonical text of the payload; callers must not change it.
func (r Record) Payload() []byte { return r.line[r.at.payloadStart:r.at.payloadEnd] }

// MarshalJSON returns the record's line.
func (r Record) MarshalJSON() ([]byte, error) {
	if r.line == nil {
		return []byte("null"), nil
	}
	return r.line, nil
}

// Draft is what a record is made of before it has a digest.
type Draft struct {
	ID        string
	Parents   []Hash // ascending, without repeats, at most MaxParents
	Payload   []byte // canonical text
	Timestamp string
	Type      string
}

// Seal writes the record of d: its canonical line and digest (specification,
// section 2). The parts must be valid; an invalid one is an error.
func Seal(d Draft) (Record, error) {
	line := make([]byte, 0, 256+len(d.Payload)+len(d.Parents)*(hashLen+3))
	line = append(line, `{"id":`...)
	line = canonical.AppendString(line, d.ID)
	line = append(line, `,"parents":[`...)
	for i, parent := range d.Parents {
		if i > 0 {
			line = append(line, ',')
		}
		line = append(append(append(line, '"'), parent.String()...), '"')
	}
	line = append(append(line, `],"payload":`...), d.Payload...)
	cut := len(line)
	line = canonical.AppendString(append(line, `,"timestamp":`...), d.Timestamp)
	line = canonical.AppendString(append(line, `,"type":`...), d.Type)
	line = append(line, `,"version":1}`...)
	sum := Hash(sha256.Sum256(line))
	sealed := make([]byte, 0, len(line)+hashLen+len(`,"sha":""`))
	sealed = append(append(sealed, line[:cut]...), `,"sha":"`...)
	sealed = append(append(sealed, sum.String()...), '"')
	sealed = append(sealed, line[cut:]...)
	r, fault := ParseLine(sealed)
	if fault != "" {
		return Record{}, fmt.Errorf("record cannot be sealed: %s", fault)
	}
	return r, nil
}

// unquote decodes the inside of a canonical string.
func unquote(raw []byte) string {
	for _, c := range raw {
		if c == '\\' {
			v, err := canonical.Parse(append(append([]byte{'"'}, raw...), '"'))
			if err != nil {
				return ""
			}
			return v.Str
		}
	}
	return string(raw)
}
