package projection

import "github.com/repo-memory/ledger/pkg/ledger"

const (
	// DefaultLimit is how many rows a page has when a query does not say.
	DefaultLimit = 100
	// MaxLimit is how many rows a page has at most (reference runtime).
	MaxLimit = 500
	// MaxConditions is how many conditions a query has at most (reference runtime).
	MaxConditions = 8
	// MaxConditionBytes bounds the canonical text of one condition (reference
	// runtime).
	MaxConditionBytes = 1024
	// MaxInValues is how many operands "in" takes (reference runtime).
	MaxInValues = 32
	// MaxPathNames is how many names a path has (reference runtime).
	MaxPathNames = 8
	// MaxPathBytes bounds one path, whose names the reference does not bound: it
	// is kept as long as its table.
	MaxPathBytes = 1024
	// MaxQueryBytes bounds the JSON text of a query: all conditions and paths
	// with every byte escaped, and some white space.
	MaxQueryBytes = 64 << 10
	// MaxHeads is how many heads a page repeats; as many as the next record names.
	MaxHeads = ledger.MaxParents
	// MaxDiagnostics is how many diagnostics a page repeats: enough to see what is
	// wrong, few enough for a client that reads every page.
	MaxDiagnostics = 20

	// maxTables is how many path tables are kept: those of one query with every
	// condition it may have. A table takes some 60 to 220 bytes a record, twice
	// when it is walked by digest; one that is not used goes first, so a client
	// that asks for ever new paths costs itself time and nobody memory.
	maxTables = MaxConditions
	// maxKeyBytes is where a stored key is cut, so that long texts do not stand
	// in memory once more for each path.
	maxKeyBytes = 64
	// sparse is how many records an interval may have to be read whole. An
	// interval with more of 50,000 fills a page of 100 in fewer steps than that.
	sparse = 2000
	// insertRows is how many rows one statement inserts; more gain nothing.
	insertRows = 50
	// firstBatch and maxBatch bound how many candidates are fetched at a time
	// when other conditions have still to be judged.
	firstBatch = 256
	maxBatch   = 4096
)
