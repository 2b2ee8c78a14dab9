package ledger

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"github.com/repo-memory/ledger/pkg/canonical"
)

// Segment is a shard whose name follows from what it holds: the same records
// under the same metadata give the same id and bytes wherever they are put
// together, so that equal work converges (specification, section 6).
type Segment struct {
	ID      string
	Records []Record // ascending by digest, each once
	Content []byte   // their lines
}

// ErrSegment: the bytes are not those of a segment.
var ErrSegment = errors.New("not a canonical segment")

// BuildSegment returns the segment of records under metadata, which is canonical
// text. Its id is shaped like a UUID version 4 from the SHA-256 of the canonical
// text of {"metadata": metadata as a string, "records": [...]}. No records, a
// record nested too deep to be wrapped so, or more than maxBytes are errors.
func BuildSegment(records []Record, metadata string, maxBytes int) (Segment, error) {
	if len(records) == 0 {
		return Segment{}, fmt.Errorf("segment needs at least one record")
	}
	sorted := slices.Clone(records)
	slices.SortFunc(sorted, func(a, b Record) int { return a.sha.Compare(b.sha) })
	sorted = slices.CompactFunc(sorted, func(a, b Record) bool { return a.sha == b.sha })
	size := 0
	for _, r := range sorted {
		size += len(r.line) + 1
	}
	if size > maxBytes {
		return Segment{}, fmt.Errorf("segment is %d bytes, at most %d are allowed", size, maxBytes)
	}
	body := canonical.AppendString(append(make([]byte, 0, size+256), `{"metadata":`...), metadata)
	body = append(body, `,"records":[`...)
	content := make([]byte, 0, size)
	for i, r := range sorted {
		if canonical.Scan(r.Payload(), 0, canonical.MaxDepth-MaxPayloadDepth) < 0 {
			return Segment{}, fmt.Errorf("record %s nests more than %d deep: it cannot be re-emitted", r.sha, MaxPayloadDepth)
		}
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, r.line...)
		content = append(append(content, r.line...), '\n')
	}
	body = append(body, `]}`...)
	sum := sha256.Sum256(body)
	var id [16]byte
	copy(id[:], sum[:])
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return Segment{ID: formatUUID(id), Records: sorted, Content: content}, nil
}

// ReadSegment reads the bytes of a shard that must be whole: every line a record
// and the last one ended. The records come ascending by digest.
func ReadSegment(content []byte) ([]Record, error) {
	s := shard{content: content}
	var (
		p       lineParser
		records []Record
		bad     int
	)
	s.scan(&p, nil, func(line []byte, _ int, ok bool) {
		if !ok {
			bad = max(bad, s.count)
			return
		}
		records = append(records, Record{line: line, sha: p.sha, at: p.at})
	})
	switch {
	case s.truncated != 0 || s.count == 0:
		return nil, fmt.Errorf("%w: line %d is incomplete", ErrSegment, max(1, s.truncated))
	case bad != 0:
		return nil, fmt.Errorf("%w: line %d is no record", ErrSegment, bad)
	}
	slices.SortFunc(records, func(a, b Record) int { return a.sha.Compare(b.sha) })
	return records, nil
}
