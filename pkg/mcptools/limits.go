package mcptools

import "time"

const (
	// maxLineBytes bounds one message from the client, with its line feed. It
	// admits the largest record that can be configured, 1,024 KiB, with every byte
	// of its payload spelled as a six-byte escape, and its envelope.
	maxLineBytes = 8 << 20
	// keptOfLongLine is how much of each end of a longer message is kept, to find
	// the id that its answer needs.
	keptOfLongLine = 1 << 10
	// maxMessageDepth is how deep a message may nest, which is what the SDK reads.
	// Admission bounds payloads far below that.
	maxMessageDepth = 1000
	// maxIDBytes bounds a request's id, which its answer repeats; clients count, or
	// take a UUID.
	maxIDBytes = 200
	// answerTime is how long a call may still be answered after the client closed
	// its end or the server was told to stop. Appends take milliseconds; only a
	// client that does not read makes anybody wait so long.
	answerTime = 5 * time.Second

	// pageBytes bounds the rows of a page when the query names no limit, so that
	// a client's context is not flooded by a question that did not ask for much.
	pageBytes = 28 << 10
	// longPageBytes bounds the rows of a page whose limit the query names.
	longPageBytes = 256 << 10
	// maxHeads and maxDiagnostics bound what ledger_status lists; it counts the rest.
	maxHeads       = 64
	maxDiagnostics = 20

	// maxIdempotencyKeys is how many keys the server remembers; the oldest goes
	// first. A run appends far fewer records under keys.
	maxIdempotencyKeys = 1024
	// maxKeyBytes bounds one key.
	maxKeyBytes = 256
)
