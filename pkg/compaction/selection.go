package compaction

import (
	"fmt"
	"slices"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// Selection is what to compact.
type Selection struct {
	// Sources are ids of segments, ascending; none when there is nothing to do.
	Sources []string
	// Reason says in one line why there are none.
	Reason string
	// Eligible counts the segments that were considered.
	Eligible int
}

// Select is the built-in selection; the package comment states its rules.
func (inv *Inventory) Select() Selection {
	var candidates []candidate
	for i := range inv.segments {
		if s := &inv.segments[i]; s.flaw == "" && s.Bytes*100 <= inv.config.MaxSegmentBytes*fullPercent {
			candidates = append(candidates, candidate{Segment: s})
		}
	}
	selection := Selection{Eligible: len(candidates), Reason: inv.tooFew(len(candidates))}
	if selection.Reason != "" {
		return selection
	}
	split(candidates)
	collides := false
	for ; len(candidates) > 1; candidates = candidates[1:] {
		picked := inv.pass(candidates)
		for ; len(picked) > 1; picked = picked[:len(picked)-1] {
			if collides = inv.collides(picked); !collides {
				selection.Sources = picked
				return selection
			}
		}
	}
	selection.Reason = "no combination of eligible segments fits within max-segment-kb"
	if collides {
		selection.Reason = "every replacement would collide with a shard that holds other bytes"
	}
	return selection
}

func (inv *Inventory) tooFew(n int) string {
	if n >= inv.config.MinSegments {
		return ""
	}
	return fmt.Sprintf("%d eligible segment(s); compaction needs at least %d", n, inv.config.MinSegments)
}

// candidate is a segment with its records told apart: those that no other
// candidate holds, of which only the size matters, and the shared ones.
type candidate struct {
	*Segment
	ownBytes int
	shared   []ledger.Record
}

func split(candidates []candidate) {
	holders := map[ledger.Hash]int{}
	for _, c := range candidates {
		for _, r := range c.Records {
			holders[r.SHA()]++
		}
	}
	for i := range candidates {
		for _, r := range candidates[i].Records {
			if holders[r.SHA()] > 1 {
				candidates[i].shared = append(candidates[i].shared, r)
			} else {
				candidates[i].ownBytes += lineBytes(r)
			}
		}
	}
}

// lineBytes is the size of a record in a segment.
func lineBytes(r ledger.Record) int { return len(r.Line()) + 1 }

// pass takes each candidate that still fits.
func (inv *Inventory) pass(candidates []candidate) []string {
	var picked []string
	seen := map[ledger.Hash]bool{}
	size, records := 0, 0
	for _, c := range candidates {
		if len(picked) == inv.config.MaxSegments {
			break
		}
		added := c.ownBytes
		for i := 0; i < len(c.shared) && size+added <= inv.config.MaxSegmentBytes; i++ {
			if !seen[c.shared[i].SHA()] {
				added += lineBytes(c.shared[i])
			}
		}
		if size+added > inv.config.MaxSegmentBytes || records+len(c.Records) > MaxPlanRecords {
			continue
		}
		for _, r := range c.shared {
			seen[r.SHA()] = true
		}
		size += added
		records += len(c.Records)
		picked = append(picked, c.ID)
	}
	return picked
}

// collides reports whether another shard stands under the id that the
// replacement of the selected segments would have.
func (inv *Inventory) collides(sources []string) bool {
	replacement, _, err := inv.Merge(sources)
	if err != nil {
		return true
	}
	content := inv.names[replacement.ID]
	return inv.present(replacement.ID) && string(content) != string(replacement.Content)
}

// Offer returns the segments that a selection script may choose from, ascending
// by id: all that can be written again and are not full to the last byte. With
// fewer than min-segments of them there are none, and the reason says so.
func (inv *Inventory) Offer() (segments []Segment, reason string) {
	for _, s := range inv.segments {
		if s.flaw == "" && s.Bytes < inv.config.MaxSegmentBytes {
			segments = append(segments, s)
		}
	}
	if reason = inv.tooFew(len(segments)); reason != "" {
		return nil, reason
	}
	return segments, ""
}

// Propose judges a selection that somebody else made among the segments of
// [Inventory.Offer]. None at all is a selection, anything but 2 to max-segments
// different ones that fit together is an error.
func (inv *Inventory) Propose(sources []string) (Selection, error) {
	offered, reason := inv.Offer()
	selection := Selection{Eligible: len(offered), Reason: reason}
	switch {
	case reason != "":
		return selection, nil
	case len(sources) == 0:
		selection.Reason = "compaction script selected no segments"
		return selection, nil
	case len(sources) < 2 || len(sources) > inv.config.MaxSegments:
		return Selection{}, fmt.Errorf("selection names %d segments, from 2 to %d are allowed", len(sources), inv.config.MaxSegments)
	}
	records := 0
	sorted := slices.Sorted(slices.Values(sources))
	for i, id := range sorted {
		s, ok := inv.segment(id)
		if !ok || s.flaw != "" || s.Bytes >= inv.config.MaxSegmentBytes {
			return Selection{}, fmt.Errorf("selection names a segment that was not offered")
		}
		if i > 0 && id == sorted[i-1] {
			return Selection{}, fmt.Errorf("selection names a segment twice")
		}
		if records += len(s.Records); records > MaxPlanRecords {
			return Selection{}, fmt.Errorf("selection holds over %d records: select fewer segments", MaxPlanRecords)
		}
	}
	if _, _, err := inv.Merge(sorted); err != nil {
		return Selection{}, fmt.Errorf("selection does not fit: %w", err)
	}
	if inv.collides(sorted) {
		return Selection{}, fmt.Errorf("the selection's replacement would collide with a shard that holds other bytes: select others")
	}
	selection.Sources = sorted
	return selection, nil
}
