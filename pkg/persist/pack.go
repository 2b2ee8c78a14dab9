package persist

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// metadata is that of every shard that persistence makes, in the digest that
// names it.
const metadata = "{}"

// pack puts the admitted records into shards, in reconstruction order, a new
// shard when the next line would not fit. A shard whose name is taken on the
// branch by something else is left out with what descends from it; nothing is
// overwritten (specification, section 9).
func (c *changer) pack(a admission) ([]ledger.Segment, []stagedRecord, error) {
	for {
		segments, err := c.cut(a.admitted)
		if err != nil {
			return nil, nil, err
		}
		taken := slices.IndexFunc(segments, c.isTaken)
		if taken < 0 {
			return segments, a.admitted, nil
		}
		c.report.warnf("shard %s: its name is on the branch with other content; the records that would stand in it are left out", segments[taken].ID)
		a.admitted = c.leaveOut(a.admitted, segments[taken])
	}
}

// cut makes shards of records in the order given.
func (c *changer) cut(records []stagedRecord) ([]ledger.Segment, error) {
	var (
		segments []ledger.Segment
		part     []ledger.Record
		size     int
	)
	flush := func() error {
		if len(part) == 0 {
			return nil
		}
		segment, err := ledger.BuildSegment(part, metadata, c.options.Limits.MaxSegmentBytes)
		if err != nil {
			return fmt.Errorf("shard cannot be made: %w", err)
		}
		segments = append(segments, segment)
		part, size = nil, 0
		return nil
	}
	for _, s := range records {
		n := len(s.record.Line()) + 1
		if size+n > c.options.Limits.MaxSegmentBytes {
			if err := flush(); err != nil {
				return nil, err
			}
		}
		part, size = append(part, s.record), size+n
	}
	return segments, flush()
}

// isTaken reports whether the branch has something else under a shard's name.
func (c *changer) isTaken(segment ledger.Segment) bool {
	path := ledger.ShardPath(segment.ID)
	standing, there := c.snap.Files[path]
	_, irregular := c.snap.Irregular[path]
	return irregular || there && !bytes.Equal(standing, segment.Content)
}

// leaveOut rejects the records of a segment and those that descend from them.
func (c *changer) leaveOut(records []stagedRecord, segment ledger.Segment) []stagedRecord {
	out := map[ledger.Hash]bool{}
	for _, r := range segment.Records {
		out[r.SHA()] = true
	}
	var kept []stagedRecord
	for _, s := range records {
		switch {
		case out[s.record.SHA()]:
			c.report.reject(s.item, "the shard that it would stand in has its name taken on the branch")
		case slices.ContainsFunc(s.record.Parents(), func(parent ledger.Hash) bool { return out[parent] }):
			out[s.record.SHA()] = true
			c.report.reject(s.item, "descends from a record whose shard has its name taken on the branch")
		default:
			kept = append(kept, s)
		}
	}
	return kept
}

// headsAfter are the heads of the ledger with the records added.
func (c *changer) headsAfter(records []ledger.Record) []ledger.Hash {
	if len(records) == 0 {
		return c.report.HeadsBefore
	}
	named := map[ledger.Hash]bool{}
	for _, r := range records {
		for _, parent := range r.Parents() {
			named[parent] = true
		}
	}
	if slices.ContainsFunc(c.ledger.Diagnostics(), func(d ledger.Diagnostic) bool { return d.Code == ledger.MissingParent }) {
		// What is added may be the parent that a record on the branch lacked.
		for r := range c.ledger.Records() {
			for _, parent := range r.Parents() {
				named[parent] = true
			}
		}
	}
	heads := slices.DeleteFunc(c.ledger.Heads(), func(h ledger.Hash) bool { return named[h] })
	for _, r := range records {
		if !named[r.SHA()] {
			heads = append(heads, r.SHA())
		}
	}
	slices.SortFunc(heads, ledger.Hash.Compare)
	return heads
}
