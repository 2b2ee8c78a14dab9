package script

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// Segment is one segment of the ledger as the selection script sees it: what
// identifies it, and what a policy may go by. Payloads are not given.
type Segment struct {
	ID      string         // UUIDv4, the shard's id
	SHA256  string         // "sha256:" and 64 hexadecimal digits, of the segment's bytes
	Bytes   int64          // size
	Records []string       // SHAs of its records, sorted
	Types   map[string]int // records of each type; may be nil
	Oldest  string         // earliest record timestamp; may be ""
	Newest  string         // latest record timestamp; may be ""
}

// SelectionOptions are the settings that the built-in selection goes by.
type SelectionOptions struct {
	Ledger          string
	Branch          string
	Trigger         string // "scheduled" or "requested"
	MinSegments     int
	MaxSegments     int
	MaxSegmentBytes int64
}

// Selection is what the script proposes: ids of given segments, in its order,
// each once. It may be empty.
type Selection struct {
	Report
	Sources []string
}

// Select runs the selection script (specification, section 4.2). Every error
// means that there is no proposal; the caller reports it as a warning, makes no
// plan and succeeds. The proposal still has to pass the planner's own checks.
func Select(ctx context.Context, o Options, source []byte, segments []Segment, settings SelectionOptions) (Selection, error) {
	var selection Selection
	args, err := encodeSelection(segments, settings)
	if err != nil {
		return selection, named("selection", err)
	}
	result, err := call(ctx, o, source, []string{"segments", "options"}, args, &selection.Report)
	if err != nil {
		return selection, named("selection", err)
	}
	sources, err := decodeSources(result)
	if err != nil {
		return selection, named("selection", err)
	}
	given := make(map[string]bool, len(segments))
	for _, s := range segments {
		given[s.ID] = true
	}
	for i, id := range sources {
		if !given[id] {
			return selection, named("selection", fmt.Errorf("%w: source %d is not one of the segments it was given", ErrFailed, i+1))
		}
	}
	selection.Sources = sources
	return selection, nil
}

func encodeSelection(segments []Segment, o SelectionOptions) ([]byte, error) {
	var b builder
	b.raw("[[")
	for i, s := range segments {
		b.field(separator(i)+"{", "id")
		b.string(s.ID)
		b.field(",", "sha256")
		b.string(s.SHA256)
		b.field(",", "bytes")
		b.int(s.Bytes)
		b.field(",", "records")
		b.raw("[")
		for j, sha := range s.Records {
			b.raw(separator(j))
			b.string(sha)
		}
		b.raw("]")
		b.field(",", "types")
		b.raw("{")
		for j, name := range slices.Sorted(maps.Keys(s.Types)) {
			b.raw(separator(j))
			b.string(name)
			b.raw(":")
			b.int(int64(s.Types[name]))
		}
		b.raw("}")
		b.field(",", "oldest")
		b.string(s.Oldest)
		b.field(",", "newest")
		b.string(s.Newest)
		b.raw("}")
		if b.err != nil {
			return nil, b.err
		}
	}
	b.field("],{", "ledger")
	b.string(o.Ledger)
	b.field(",", "branch")
	b.string(o.Branch)
	b.field(",", "trigger")
	b.string(o.Trigger)
	b.field(",", "minSegments")
	b.int(int64(o.MinSegments))
	b.field(",", "maxSegments")
	b.int(int64(o.MaxSegments))
	b.field(",", "maxSegmentBytes")
	b.int(o.MaxSegmentBytes)
	b.raw("}]")
	return b.text, b.err
}
