package persist

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/ledger"
)

// stagedRecord is a line of a staged shard that is a record, whatever admission
// will say about it.
type stagedRecord struct {
	record ledger.Record
	item   Item
}

// shardLines is a staged shard taken apart.
type shardLines struct {
	records []stagedRecord
	bad     List // lines that are no records, the first maxLinesListed named
}

// refuse counts a line that is no record and names it if it is among the first.
func (l *shardLines) refuse(item Item, reason string) {
	if item.Reason = reason; len(l.bad.Items) < maxLinesListed {
		l.bad.Items = append(l.bad.Items, item)
	}
	l.bad.Count++
}

// readLines takes a shard apart. One line that is no record spoils no other.
func readLines(path string, content []byte) *shardLines {
	l := &shardLines{}
	for number, offset := 1, 0; offset < len(content); number++ {
		item := Item{Kind: KindLine, Path: path, Line: number, Offset: offset}
		line, _, ended := bytes.Cut(content[offset:], []byte("\n"))
		offset += len(line) + 1
		if !ended {
			l.refuse(item, "incomplete: the last line has no line feed")
			break
		}
		r, reason := readRecord(line, l.bad.Count < maxLinesListed)
		if reason != "" {
			l.refuse(item, reason)
			continue
		}
		item.Kind, item.SHA = KindRecord, r.SHA()
		l.records = append(l.records, stagedRecord{r, item})
	}
	return l
}

var byteOrderMark = []byte{0xef, 0xbb, 0xbf}

// readRecord reads one line. The reason says in what way it is no record; it is
// looked for only if it will be shown.
func readRecord(line []byte, shown bool) (ledger.Record, string) {
	switch {
	case len(bytes.TrimSpace(line)) == 0:
		return ledger.Record{}, "blank: a shard has one record a line and nothing else"
	case len(line) < minRecordBytes:
		return ledger.Record{}, fmt.Sprintf("no record: has %d bytes, the shortest record has %d", len(line), minRecordBytes)
	case bytes.HasPrefix(line, byteOrderMark):
		return ledger.Record{}, "no record: starts with a byte order mark"
	case line[len(line)-1] == '\r':
		return ledger.Record{}, "no record: ends with a carriage return"
	}
	r, code := ledger.ParseLine(line)
	if code == "" {
		return r, ""
	}
	if !shown {
		return r, code
	}
	return r, "no record: " + explain(line, code)
}

// members are those of a record.
var members = map[string]bool{"id": true, "parents": true, "payload": true, "sha": true, "timestamp": true, "type": true, "version": true}

// explain says what is wrong with a line that the ledger's parser refused: the
// code of the fault and, where there is one, the member at fault.
func explain(line []byte, code string) string {
	v, err := canonical.ParseStrict(line, canonical.MaxDepth)
	switch {
	case err != nil:
		// The error holds names of the line in ASCII, bounded, and no value.
		return code + ": " + err.Error()
	case v.Kind != canonical.Object:
		return code + ": not an object"
	}
	for _, m := range v.Members {
		if !members[m.Name] {
			return code + ": unknown member " + plainName(m.Name)
		}
	}
	for name := range strings.SplitSeq("id parents payload sha timestamp type version", " ") {
		if _, ok := v.Get(name); !ok {
			return code + ": member " + name + " is missing"
		}
	}
	switch code {
	case ledger.InvalidSHA:
		return code + ": the digest is not that of the line"
	case ledger.UnsupportedVersion:
		return code + ": version is not 1"
	}
	if text, err := v.Text(); err == nil && !bytes.Equal(text, line) {
		return code + ": not the canonical text of its value"
	}
	return code + ": a member is not of its form"
}

// plainName spells a name that a stranger chose in ASCII, bounded.
func plainName(name string) string {
	const shown = 64
	if !utf8.ValidString(name) || len(name) > shown {
		return printable(name[:min(len(name), shown)]) + "…"
	}
	return printable(name)
}
