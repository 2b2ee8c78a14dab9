package compaction

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/ledger"
)

// Segment is one shard of which every line is a record.
type Segment struct {
	ID     string
	SHA256 ledger.Hash // of the file
	Bytes  int         // of the file
	// Records come ascending by digest; those of a shard that cannot be written
	// again may have one twice.
	Records []ledger.Record

	// flaw says why the segment cannot be written again, "" when it can.
	flaw string
}

// Skipped is a shard that compaction leaves alone, and why.
type Skipped struct {
	ID     string // a UUID
	Reason string // one line, without anything of the shard
}

// Inventory is what a snapshot holds, as far as compaction is concerned.
type Inventory struct {
	config Config
	// names are the shards' ids; content is nil for what is no regular file.
	names map[string][]byte
	// segments come ascending by id, flawed ones included.
	segments []Segment
	skipped  []Skipped
}

// Load reads and verifies every segment of a snapshot (specification, section
// 5.3). A ledger of more than [ledger.MaxReadShards] shards is an error, since
// what was not read whole authorizes nothing.
func Load(snap ledger.Snapshot, c Config) (*Inventory, error) {
	inv := &Inventory{config: c, names: map[string][]byte{}}
	shards := map[string]bool{}
	note := func(path string, content []byte) {
		file, ok := strings.CutPrefix(path, ledger.ShardDir+"/")
		if !ok {
			return
		}
		file, _, below := strings.Cut(file, "/")
		id, ok := strings.CutSuffix(file, ledger.ShardExt)
		if !ok {
			return
		}
		shards[id] = true
		if !ledger.IsUUID(id) {
			return
		}
		if below {
			content = nil // a folder with a shard's name
		}
		inv.names[id] = content
	}
	for path, content := range snap.Files {
		if content == nil {
			content = []byte{}
		}
		note(path, content)
	}
	for path := range snap.Irregular {
		note(path, nil)
	}
	if len(shards) > ledger.MaxReadShards {
		return nil, fmt.Errorf("ledger has %d shards, compaction reads at most %d: retire some by hand", len(shards), ledger.MaxReadShards)
	}
	for _, id := range slices.Sorted(maps.Keys(inv.names)) {
		s, flaw := readSegment(id, inv.names[id], c.MaxSegmentBytes)
		if flaw == "" {
			inv.segments = append(inv.segments, s)
			flaw = s.flaw
		}
		if flaw != "" {
			inv.skipped = append(inv.skipped, Skipped{ID: id, Reason: flaw})
		}
	}
	return inv, nil
}

// readSegment reads one shard; invalid says why it is no segment.
func readSegment(id string, content []byte, maxBytes int) (s Segment, invalid string) {
	switch {
	case content == nil:
		return s, "not a regular file"
	case len(content) > maxBytes:
		return s, fmt.Sprintf("%d bytes, over max-segment-kb", len(content))
	}
	records, err := ledger.ReadSegment(content)
	if err != nil {
		return s, err.Error()
	}
	s = Segment{ID: id, SHA256: sha256.Sum256(content), Bytes: len(content), Records: records}
	for i, r := range records {
		switch {
		case i > 0 && records[i-1].SHA() == r.SHA():
			s.flaw = "holds a record twice"
		case canonical.Scan(r.Payload(), 0, canonical.MaxDepth-ledger.MaxPayloadDepth) < 0:
			s.flaw = fmt.Sprintf("record %s nests more than %d deep and cannot be written again", r.SHA(), ledger.MaxPayloadDepth)
			return s, ""
		}
	}
	return s, ""
}

// Skipped names the shards that are left alone, ascending.
func (inv *Inventory) Skipped() []Skipped { return inv.skipped }

// Len returns the number of segments that could be compacted, full ones included.
func (inv *Inventory) Len() int {
	n := 0
	for _, s := range inv.segments {
		if s.flaw == "" {
			n++
		}
	}
	return n
}

// present reports whether anything stands under the shard's name.
func (inv *Inventory) present(id string) bool {
	_, ok := inv.names[id]
	return ok
}

// segment returns the segment called id.
func (inv *Inventory) segment(id string) (*Segment, bool) {
	i, ok := slices.BinarySearchFunc(inv.segments, id, func(s Segment, id string) int { return strings.Compare(s.ID, id) })
	if !ok {
		return nil, false
	}
	return &inv.segments[i], true
}

// hashes returns the digests of the segment's records, ascending.
func (s *Segment) hashes() []ledger.Hash {
	list := make([]ledger.Hash, len(s.Records))
	for i, r := range s.Records {
		list[i] = r.SHA()
	}
	return list
}
