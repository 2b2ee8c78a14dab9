// Package ledger is an append-only, content-addressed ledger: records in JSONL
// shards that anyone can verify, reconstruct in one order, and extend without a
// lock. It knows files and bytes, and no git, SQL, network or workflow.
//
// # Record
//
// A record is one line: the canonical text (package canonical) of an object with
// exactly seven members, followed by one newline.
//
//	id         "ldg-" and a UUID version 4 in lower case; a bare UUID is read too
//	parents    0 to 64 record digests, ascending, each once
//	payload    any JSON value
//	sha        the record's digest: SHA-256 of the canonical text of the other six
//	timestamp  UTC as YYYY-MM-DDTHH:MM:SS.mmmZ
//	type       1 to 128 UTF-16 code units
//	version    1
//
// Since a line is valid only if its text is canonical, the digest is that of the
// line with its member "sha" cut out, and nothing is ever serialized again. For
// example the record
//
//	{"id":"ldg-00000000-0000-4000-8000-aaa000000001","parents":[],"payload":{"a":2,"b":1},"sha":"sha256:608e6efd118083f4f0adf549da830fba6a4585b9318e8403723da52c8931150e","timestamp":"2026-11-30T04:00:00.000Z","type":"note","version":1}
//
// has the SHA-256 of
//
//	{"id":"ldg-00000000-0000-4000-8000-aaa000000001","parents":[],"payload":{"a":2,"b":1},"timestamp":"2026-11-30T04:00:00.000Z","type":"note","version":1}
//
// Digests prove content, never authorship.
//
// # Files
//
//	ledger/shards/<uuid4>.jsonl        records, one a line
//	ledger/coverage/<sha256>.jsonl     a coverage declaration (see [Retirement])
//	ledger/compaction/state.json       what compaction did last
//
// A shard belongs to the writer that created it. One that nobody may write
// (mode 0444) is closed. Readers take names in byte order, follow no links, stop
// at the shard bound, and skip what is no record with a [Diagnostic].
//
// # Order
//
// Records form a graph by their parents. The order is that of (longest distance
// from a root among the parents present, digest); it depends on nothing but the
// set of records. Heads are the records that none present names as a parent.
//
// # Departures from the reference runtime
//
// Ledgers written by either are read and continued by the other. Here a line
// with invalid UTF-8 spoils itself and not its shard, since readers must not
// discard valid records; no count of [Status] is negative; of the lines of one
// shard that are no records 100 are diagnosed and the rest counted; and what is
// written is judged more strictly than what is read (see [Admission]): payloads
// nest at most 29 deep, since deeper ones cannot be compacted, and more than 64
// heads are joined 64 at a time instead of refused. A writer that finds the name
// of its next shard taken, if only by a pending one, takes another name.
package ledger
