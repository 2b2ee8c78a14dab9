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

	// minTokenBytes is the shortest access token: 32 bytes cannot be guessed.
	// maxTokenBytes keeps it within one header.
	minTokenBytes = 32
	maxTokenBytes = 1 << 10
	// maxHeaderBytes bounds the headers of a request; ours are a few hundred bytes.
	maxHeaderBytes = 32 << 10
	// maxSessions bounds the sessions over HTTP. A job has one client, a gateway a
	// few; one that does not end its sessions runs into this, not out of memory.
	maxSessions = 256
	// maxRequests bounds the messages that are in memory at once. They take turns
	// anyway; more of them wait unread.
	maxRequests = 8
	// headerTime and bodyTime bound how long a client may take to send a request,
	// idleTime how long a connection and sessionTime how long a session may do
	// nothing. A client whose session is gone begins another one.
	headerTime  = 10 * time.Second
	bodyTime    = time.Minute
	idleTime    = 2 * time.Minute
	sessionTime = time.Hour

	// pageBytes bounds the rows of a page when the query names no limit, so that
	// a client's context is not flooded by a question that did not ask for much.
	pageBytes = 28 << 10
	// longPageBytes bounds the rows of a page whose limit the query names.
	longPageBytes = 256 << 10
	// maxHeads and maxDiagnostics bound what ledger_status lists; it counts the rest.
	maxHeads       = 64
	maxDiagnostics = 20

	// maxShownSchema bounds the schema of payloads that the list of tools shows: the
	// list is a part of every conversation.
	maxShownSchema = 4 << 10

	// defaultMemoryRows and maxMemoryRows bound the entries of a page of a memory
	// tool, beside the bytes.
	defaultMemoryRows = 50
	maxMemoryRows     = 500
	// maxShownReviews, maxShownConflicts bound what one proposal or memory lists; it
	// counts the rest.
	maxShownReviews   = 16
	maxShownConflicts = 32

	// maxIdempotencyKeys is how many keys the server remembers; the oldest goes
	// first. A run appends far fewer records under keys.
	maxIdempotencyKeys = 1024
	// maxKeyBytes bounds one key.
	maxKeyBytes = 256
)
