package compaction

import (
	"maps"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// covers proves a coverage declaration: every record of every source is in the
// replacement (specification, section 5.4).
func covers(inv *Inventory, c ledger.Coverage, replacement ledger.Segment) bool {
	if replacement.ID != c.Replacement {
		return false
	}
	kept := make(map[ledger.Hash]bool, len(replacement.Records))
	for _, r := range replacement.Records {
		kept[r.SHA()] = true
	}
	for _, id := range c.Sources {
		s, ok := inv.segment(id)
		if !ok || id == c.Replacement {
			return false
		}
		for _, r := range s.Records {
			if !kept[r.SHA()] {
				return false
			}
		}
	}
	return true
}

// lossless proves that a reader of the whole branch finds the same records after
// the change as before, those in damaged shards included. It depends on nothing
// that led to the change.
func lossless(before ledger.Snapshot, change ledger.Change) bool {
	after := ledger.Snapshot{Files: maps.Clone(before.Files), Irregular: before.Irregular}
	for _, path := range change.Delete {
		if _, ok := after.Files[path]; !ok {
			return false
		}
		delete(after.Files, path)
	}
	maps.Copy(after.Files, change.Add)
	limits := ledger.Limits{MaxShards: ledger.MaxReadShards, MaxSegmentBytes: proofSegmentBytes,
		MaxRecordBytes: proofSegmentBytes, MaxPatchBytes: proofSegmentBytes}
	old, now := ledger.OpenSnapshot(before, limits), ledger.OpenSnapshot(after, limits)
	if old.Whole() != nil || now.Whole() != nil || old.Len() != now.Len() {
		return false
	}
	for r := range old.Added(0) {
		if !now.Has(r.SHA()) {
			return false
		}
	}
	return true
}
