// Package txlog is the ledger's transaction log: one audit event after each
// durable append, merged by a trusted step into the run's safe-output file and
// reported there (specification, sections 5.2 and 9). An event is evidence of an
// attempted or completed mutation and authorizes nothing; what counts is the
// validated content of the shards.
//
// # The log
//
// A file of its own, never the safe-output file, mode 0600. Each event is one
// line of canonical JSON (package canonical) and a line feed:
//
//	{"operation":"append","record":{"id":"ldg-00000000-0000-4000-8000-000000000002","parents":[],"payload_sha":"sha256:c91dd06a8db0fb155fa8f6527a200dbda37d149349480793e4892dfcf567ba86","sha":"sha256:d5f6df2ba46b305db2cd07aaaee7ab751ea28f492f98fa95af496fbb16432c2b","timestamp":"2026-11-30T05:00:00.000Z","type":"note"},"timestamp":"2026-11-30T05:00:00.000Z","type":"ledger_mutation"}
//
// record.sha is the record's digest, record.payload_sha the SHA-256 of the
// canonical text of its payload, the outer timestamp the time of the event. The
// payload itself never appears. A [Writer] appends each event with one write to
// a file opened for appending, on a fresh line if a crash left the last one torn,
// and syncs it; several writers may share a file, at the price of an empty line
// where one looked while another wrote. It stops at [MaxLogBytes], because a
// larger log is not merged at all.
//
// # The merge
//
// [Merge] treats the log as hostile and never fails. It takes no file that is a
// link, has a second name, or is not regular, and none that is the safe-output
// file itself. Lines that are only white space (ECMAScript's, so U+FEFF too) are
// skipped. Of the others it keeps those that are events: a strict JSON object
// with
//
//	type              "ledger_mutation"
//	operation         "append"
//	timestamp         YYYY-MM-DDTHH:MM:SS.mmmZ
//	record.id         ldg- and a UUID version 4 in lower case
//	record.type       1 to 128 UTF-16 code units, no control character
//	record.timestamp  YYYY-MM-DDTHH:MM:SS.mmmZ
//	record.parents    at most 64 digests, strictly ascending
//	record.sha, record.payload_sha  sha256: and 64 lower-case hexadecimal digits
//
// Other members are dropped; one whose name is one of these but for case,
// folding or characters that do not show spoils the line. The first event of
// each record.sha is kept, at most [MaxEntries] in the order of the log; an
// event for a record.sha that was seen is no fault. What is kept is appended
// with one write, on a fresh line, in the members and order of the reference
// runtime, without white space:
//
//	{"type":…,"operation":…,"timestamp":…,"record":{"id":…,"type":…,"timestamp":…,"parents":[…],"sha":…,"payload_sha":…}}
//
// A line that stands in the safe-output file already, byte for byte, is not
// written again, so the step may run twice; a different line about the same
// record suppresses nothing.
//
// # Departures from the reference runtime
//
// The log is hostile, so this package is stricter than the reference, which
// keeps such events: a repeated member name (the last counts there), invalid
// UTF-8 (read as U+FFFD there), an unpaired surrogate, a timestamp that is none
// (any text of up to 64 characters there), a control character in a type, more
// than 64 parents or parents out of order. The reference also glues its first
// line to an unfinished last line of the safe-output file.
package txlog
