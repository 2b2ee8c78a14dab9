package txlog

import "github.com/repo-memory/ledger/pkg/safeoutput"

// Every bound of the package.
const (
	// MaxLogBytes is the largest log that is merged, and that a Writer writes; it
	// is the reference runtime's.
	MaxLogBytes = 4 << 20

	// MaxEntries is how many events one merge keeps and one listing holds; it is
	// the reference runtime's.
	MaxEntries = 1000

	// maxLines bounds the lines that are decoded. A log of the largest size
	// holds some 10,000 events; what has far more lines is filler.
	maxLines = 1 << 16

	// maxLineBytes bounds one line that is decoded: an event of 64 parents has
	// 6 KB, and an event with foreign members some more.
	maxLineBytes = 64 << 10

	// maxOutputBytes bounds the safe-output or agent-output file that is searched
	// for lines that stand there already, or listed; it is what its readers take.
	maxOutputBytes = safeoutput.MaxBytes

	// MaxFaults is how many dropped lines are named; all are counted.
	MaxFaults = 100
)
