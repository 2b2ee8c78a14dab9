package ledger

import (
	"crypto/sha256"
	"unicode/utf8"

	"github.com/repo-memory/ledger/pkg/canonical"
)

// The fixed parts of a record's line, in order.
const (
	idMark      = `{"id":"`
	parentsMark = `","parents":[`
	payloadMark = `],"payload":`
	shaMark     = `,"sha":"sha256:`
	timeMark    = `","timestamp":"`
	typeMark    = `","type":"`
	versionMark = `","version":1}`

	idStart = len(idMark)
)

// layout is where the parts of a record stand in its line, in bytes.
type layout struct {
	payloadStart, payloadEnd int32
	typeStart, typeEnd       int32
	parents                  uint8
	bareID                   bool
}

func (l layout) idLen() int {
	if l.bareID {
		return uuidLen
	}
	return len(idPrefix) + uuidLen
}

// shaStart is where the member "sha" starts, its comma included.
func (l layout) shaStart() int { return int(l.payloadEnd) }

// ParseLine reads one line, without its newline. A line that is no record gives
// the zero Record and the code of its fault (see [Diagnostic]); the fault is ""
// otherwise. The Record keeps line.
func ParseLine(line []byte) (Record, string) {
	var p lineParser
	if utf8.Valid(line) && p.parse(line, nil) {
		return Record{line: line, sha: p.sha, at: p.at}, ""
	}
	fault := faultOf(line)
	if fault == "" {
		fault = InvalidEnvelope // longer than any shard
	}
	return Record{}, fault
}

// lineParser is the fast path: it says yes, or "look again". Its input is valid
// UTF-8. It is reused from line to line to keep its scratch space.
type lineParser struct {
	at      layout
	sha     Hash
	id      recordID
	scratch []byte
}

// parse reads line and hands each parent to parents.
func (p *lineParser) parse(line []byte, parents func(Hash)) bool {
	if !has(line, 0, idMark) {
		return false
	}
	p.at.bareID = !has(line, idStart, idPrefix)
	pos := idStart + p.at.idLen()
	if pos > len(line) {
		return false
	}
	var ok bool
	if p.id, ok = parseID(line[idStart:pos]); !ok {
		return false
	}
	if !has(line, pos, parentsMark) {
		return false
	}
	if pos, ok = p.parseParents(line, pos+len(parentsMark), parents); !ok {
		return false
	}
	if !has(line, pos, payloadMark) {
		return false
	}
	pos += len(payloadMark)
	end := canonical.Scan(line, pos, 1)
	if end < 0 || !has(line, end, shaMark) || len(line) > maxSegmentBytes {
		return false
	}
	p.at.payloadStart, p.at.payloadEnd = int32(pos), int32(end)
	pos = end + len(shaMark)
	if len(line) < pos+64 || !unhex(p.sha[:], line[pos:pos+64]) {
		return false
	}
	pos += 64
	if !has(line, pos, timeMark) || !p.parseTail(line, pos+len(timeMark)) {
		return false
	}
	return p.checkSum(line)
}

// parseParents reads the list whose opening bracket stands before pos and
// returns where its closing bracket stands.
func (p *lineParser) parseParents(line []byte, pos int, parents func(Hash)) (int, bool) {
	p.at.parents = 0
	if pos < len(line) && line[pos] == ']' {
		return pos, true
	}
	var last Hash
	for n := 0; n < MaxParents; n++ {
		var parent Hash
		if !has(line, pos, `"`+hashPrefix) || len(line) < pos+hashLen+2 ||
			!unhex(parent[:], line[pos+1+len(hashPrefix):pos+1+hashLen]) || line[pos+1+hashLen] != '"' {
			return 0, false
		}
		if n > 0 && last.Compare(parent) >= 0 {
			return 0, false
		}
		last = parent
		if parents != nil {
			parents(parent)
		}
		p.at.parents++
		if pos += hashLen + 2; pos >= len(line) {
			return 0, false
		}
		if line[pos] == ']' {
			return pos, true
		}
		if line[pos] != ',' {
			return 0, false
		}
		pos++
	}
	return 0, false
}

// parseTail reads timestamp, type and version; the timestamp starts at pos.
func (p *lineParser) parseTail(line []byte, pos int) bool {
	end := pos + len(timestampLayout)
	if !has(line, end, `"`) {
		end = pos + len("+YYYYYY-MM-DDTHH:MM:SS.mmmZ")
	}
	if end > len(line) || !isTimestamp(line[pos:end]) || !has(line, end, typeMark) {
		return false
	}
	start := end + len(typeMark)
	end = canonical.Scan(line, start-1, 1) - 1
	if end <= start || !has(line, end, versionMark) || end+len(versionMark) != len(line) {
		return false
	}
	p.at.typeStart, p.at.typeEnd = int32(start), int32(end)
	return end-start <= MaxTypeUnits || canonical.Units(unquote(line[start:end])) <= MaxTypeUnits
}

// checkSum proves the digest: it is that of the line without the member "sha".
func (p *lineParser) checkSum(line []byte) bool {
	cut := p.at.shaStart()
	p.scratch = append(append(p.scratch[:0], line[:cut]...), line[cut+len(shaMark)+64+len(`"`):]...)
	return sha256.Sum256(p.scratch) == p.sha
}

func has(line []byte, pos int, mark string) bool {
	return len(line) >= pos+len(mark) && string(line[pos:pos+len(mark)]) == mark
}
