package ledger

import (
	"bytes"
	"os"
	"strings"
	"unicode/utf8"
)

// Paths below the root of a ledger.
const (
	Dir            = "ledger"
	ShardDir       = "ledger/shards"
	CoverageDir    = "ledger/coverage"
	CompactionFile = "ledger/compaction/state.json"

	// ShardExt ends the name of every shard and coverage declaration.
	ShardExt = ".jsonl"
)

// ShardPath returns the path of the shard called id.
func ShardPath(id string) string { return ShardDir + "/" + id + ShardExt }

// ShardID returns the id in a shard's file name; ok is false when it has none.
func ShardID(file string) (id string, ok bool) {
	id, ok = strings.CutSuffix(file, ShardExt)
	return id, ok && IsUUID(id)
}

// shard is one file and what was read of it.
type shard struct {
	file    string
	size    int64 // of the file, also when it was not read
	content []byte
	fault   bool // left out as a whole
	// truncated is the number of the last line if it has no newline, else 0.
	truncated int
	lines     []Diagnostic
	// faults counts the lines that are no records, also those not in lines.
	faults int
	// read and count are the bytes and lines of content already looked at.
	read  int
	count int

	// seen is what a file in a directory looked like when it was last read.
	seen os.FileInfo
}

var byteOrderMark = []byte{0xef, 0xbb, 0xbf}

// scan looks at the lines of content that were not looked at yet and hands each
// to visit, with the offset that the reference gives it and whether it is a
// record; p then holds its parts, and its parents went to keep. UTF-8 is checked
// for all of it at once; only when that fails, line by line.
func (s *shard) scan(p *lineParser, keep func(Hash), visit func(line []byte, offset int, ok bool)) {
	start := 0
	if s.read == 0 && bytes.HasPrefix(s.content, byteOrderMark) {
		// The reference's decoder drops one mark at the start of a shard; the
		// first record still has offset 0 there.
		start = len(byteOrderMark)
	}
	clean := utf8.Valid(s.content[s.read:])
	for {
		from := s.read + start
		n := bytes.IndexByte(s.content[from:], '\n')
		if n < 0 {
			break
		}
		line := s.content[from : from+n]
		s.count++
		visit(line, s.read, (clean || utf8.Valid(line)) && p.parse(line, keep))
		s.read = from + n + 1
		start = 0
	}
	s.truncated = 0
	if s.read+start < len(s.content) {
		s.truncated = s.count + 1
	}
}
