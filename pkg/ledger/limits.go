package ledger

import (
	"fmt"
	"strconv"
)

// Fixed bounds of the format.
const (
	// MaxParents is how many parents a record names at most (reference runtime).
	MaxParents = 64
	// MaxTypeUnits is the length of a record type in UTF-16 code units.
	MaxTypeUnits = 128
	// MaxPayloadDepth is how deep a payload may nest and still be compacted: a
	// segment digest wraps it in three more levels of canonical.MaxDepth.
	MaxPayloadDepth = 29
	// MaxReadShards is how many shards the compaction jobs read, so that they can
	// cure a ledger that everybody else refuses as too wide.
	MaxReadShards = 8192
	// MaxNewHeads is how many heads one staging may add. Every append joins at
	// least that many, so a run that stages records cannot make the ledger wider
	// than the next few runs make it narrow.
	MaxNewHeads = 8
	// MaxFutureSeconds is how far a staged timestamp may lie ahead of the clock
	// that judges it: runner clocks differ by seconds, never by minutes.
	MaxFutureSeconds = 300

	// maxSegmentBytes bounds a shard whatever the configuration says.
	maxSegmentBytes = 10240 << 10
	// maxShardFaults is how many lines of one shard that are no records are
	// diagnosed one by one. A shard can hold a line per byte; the rest are counted.
	maxShardFaults = 100
	// maxNames is how many names for a shard are tried; a random one is never
	// taken unless somebody knew it.
	maxNames = 8
	// maxInserts is how many records are put in their place one at a time before
	// it is cheaper, and linear, to bring all into order anew.
	maxInserts = 256
	// maxStateBytes bounds the compaction state, which takes 2 KiB.
	maxStateBytes = 64 << 10
	// maxDirectoryEntries bounds the listing of a shard directory, which has to
	// be read whole to know its first names; it is far above MaxReadShards.
	maxDirectoryEntries = 1 << 17
)

// Limits bounds one ledger, in shards and bytes.
type Limits struct {
	// MaxShards is how many shards a reader inspects and a writer lets exist.
	MaxShards int
	// MaxSegmentBytes bounds one shard file.
	MaxSegmentBytes int
	// MaxRecordBytes bounds one record: its line with the newline.
	MaxRecordBytes int
	// MaxPatchBytes bounds the records that one run adds: their lines with
	// newlines, whatever the ledger held before.
	MaxPatchBytes int
}

// LimitSpec is the one description of a configured limit: its name as an input
// and a flag, its unit, bounds and default, all in the unit.
type LimitSpec struct {
	Name              string
	KiB               bool
	Min, Max, Default int
	field             func(*Limits) *int
}

// LimitSpecs lists the configured limits (specification, section 7). Sizes are
// in KiB and become bytes exactly once, in [ParseLimits].
var LimitSpecs = []LimitSpec{
	{"max-shards", false, 1, 1024, 1024, func(l *Limits) *int { return &l.MaxShards }},
	{"max-segment-kb", true, 1, 10240, 100, func(l *Limits) *int { return &l.MaxSegmentBytes }},
	{"max-record-kb", true, 1, 1024, 32, func(l *Limits) *int { return &l.MaxRecordBytes }},
	{"max-patch-kb", true, 1, 10240, 100, func(l *Limits) *int { return &l.MaxPatchBytes }},
}

// DefaultLimits returns the limits of a ledger whose configuration says nothing.
func DefaultLimits() Limits {
	limits, err := ParseLimits(func(string) string { return "" })
	if err != nil {
		panic("ledger: bad default limits: " + err.Error())
	}
	return limits
}

// ParseLimits reads the configured limits by name; "" is the default. A value
// that is no plain decimal within its bounds is an error, as is a record limit
// above the segment limit: nothing is widened silently.
func ParseLimits(value func(name string) string) (Limits, error) {
	var limits Limits
	for _, spec := range LimitSpecs {
		n := spec.Default
		if text := value(spec.Name); text != "" {
			var err error
			n, err = strconv.Atoi(text)
			if err != nil || strconv.Itoa(n) != text || n < spec.Min || n > spec.Max {
				return Limits{}, fmt.Errorf("%s must be a whole number from %d to %d", spec.Name, spec.Min, spec.Max)
			}
		}
		if spec.KiB {
			n <<= 10
		}
		*spec.field(&limits) = n
	}
	if limits.MaxRecordBytes > limits.MaxSegmentBytes {
		return Limits{}, fmt.Errorf("max-record-kb (%d) must not exceed max-segment-kb (%d): lower the one or raise the other",
			limits.MaxRecordBytes>>10, limits.MaxSegmentBytes>>10)
	}
	return limits, nil
}
