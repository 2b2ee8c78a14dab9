package compaction

import "time"

// Bounds of plans and state, those of the reference runtime unless said
// otherwise. Over a bound is an error, never a part.
const (
	// MaxPlanBytes bounds a plan file: MaxPlanRecords digests twice, and room.
	MaxPlanBytes = 16 << 20
	// MaxPlanSources bounds the sources of one plan and so the files of one commit.
	MaxPlanSources = 256
	// MaxPlanRecords bounds the records of all sources of a plan together, one
	// that occurs in two sources counted twice.
	MaxPlanRecords = 100_000
	// MaxStateBytes bounds the state file; MaxRecentPlans ids take 2 KiB.
	MaxStateBytes = 64 << 10
	// MaxRecentPlans is how many applied plans the state remembers, so that one
	// that comes again is known after its replacement was compacted away.
	MaxRecentPlans = 20

	// maxPlanDepth is how deep a plan may nest; a valid one needs 4.
	maxPlanDepth = 8
	// maxPlanCommas bounds the values in a plan before it is parsed, and so the
	// memory that 16 MiB of hostile JSON can take: digests in sources and
	// replacement, four members a source, and slack.
	maxPlanCommas = 2*MaxPlanRecords + 4*MaxPlanSources + 1024
	// maxStateDepth is how deep a state may nest; a valid one needs 2.
	maxStateDepth = 4

	// proofSegmentBytes is the largest shard that any configuration reads; the
	// proof of no loss counts records in all of them.
	proofSegmentBytes = 10240 << 10
)

// Bounds and defaults of the configuration.
const (
	// MinMinSegments: compacting one segment gains nothing.
	MinMinSegments = 2
	// DefaultMinSegments keeps history in few commits: a ledger is left alone
	// until this many segments have come together.
	DefaultMinSegments = 32
	// DefaultMaxSegments bounds one round unless min-segments is larger.
	DefaultMaxSegments = 128
	// MaxRounds bounds the rounds of plan and apply in one maintenance run.
	MaxRounds = 8

	// fullPercent is how full a segment may be and still be selected: fuller ones
	// would be written again and again to save nothing.
	fullPercent = 75
)

// The times that must have passed since the last compaction.
const (
	dailyInterval  = 20 * time.Hour
	weeklyInterval = (7*24 - 4) * time.Hour
)
