// Package projection answers bounded, structured queries over a ledger from a
// disposable SQLite database in memory (specification, sections 5.1 and 5.2).
// Nothing else needs it: reading by id, appending and recovery work without it,
// and whatever goes wrong with it is cured by building it again.
//
// # Query
//
// A query is one JSON object ([ParseQuery]) with the members, all optional,
//
//	type   the record's type, 1 to 128 UTF-16 code units
//	where  0 to 8 conditions that must all hold: an object of path: {operator: operand}
//	limit  rows of a page, 1 to 500; 100 when it is missing
//	after  a record digest, exclusive: only greater ones follow
//
// It is strict about names and shapes (no repeated and no unknown member, no
// null for a missing one, at most 64 KiB of text) and reads operands as the
// reference runtime reads JSON: a lone surrogate is a value like others, since
// ledgers may hold it, and 9007199254740993 is the double ...992.
//
// # Paths
//
//	payload.name{.name}, 1 to 8 names, each [A-Za-z_][A-Za-z0-9_-]*, at most 1,024 bytes
//
// From the payload on, each name leads to the object's own member of that name.
// An array has one own member that a name can reach, length, its number of
// elements; nothing else has any. What leads nowhere is absent, which is not null.
//
// # Operators
//
//	eq      any operand; the value is equal if its canonical text is
//	in      an array of 0 to 32 operands; the value equals one of them
//	exists  true or false: whether the path leads to a value, null included
//	prefix  a string; the value is a string that starts with it
//	gt gte lt lte
//	        a number or a string; the value is of the same type and greater, ...
//
// So 1, "1" and true are three values, and {"a":1,"b":2} equals {"b":2,"a":1.0}.
// Numbers compare as IEEE 754 doubles, strings by UTF-16 code units, and a prefix
// is one of code units. The canonical text of a condition, the object of operator
// and operand, has at most 1,024 bytes.
//
// # Page
//
//	{"rows":[...],"hasMore":true,"nextCursor":"sha256:...","heads":[...],"diagnostics":[...]}
//
// Rows come in ascending order of their digests. hasMore says that more records
// match, and then nextCursor is the digest of the last row, to be given as after;
// otherwise it is null. A page also ends before its rows pass the bound of bytes
// that the caller set ([Query.Bytes]), but has at least one row if any match.
// The heads and diagnostics of the ledger follow, at most 64 and 20; what is left
// out is counted in two more members, moreHeads and moreDiagnostics, which are
// missing when that is nothing.
//
// Pages are no snapshot: what is written between two may appear in the second.
//
// # How it is answered
//
// Each path that is asked for gets one STRICT table of (type, key, sha), where
// key is a text of bytes computed here whose order is the order of values:
//
//	absent   no byte at all
//	null     01
//	false    02
//	true     03
//	number   10 and the 8 bytes of the double, made to sort
//	string   20 and its UTF-16 code units, each in the UTF-8 scheme
//	array    30 and the SHA-256 of its canonical text
//	object   31 and the SHA-256 of its canonical text
//
// Every operator is then one interval of keys, or a few points. Stored keys are
// cut at 64 bytes; a condition that reaches beyond is looked at again in the
// record itself. A query without a type has a table of its own, in which all
// types are one. The query without conditions uses the table of the empty path,
// where every key is empty.
//
// Points are read in the order of the primary key, which is that of the page. An
// interval with few records is read whole and put in order; one with many is
// walked in the order of digests by a second index, made when it is first needed,
// where many records also means that few steps fill a page. With several
// conditions the one with the fewest records leads and the others are judged on
// the records.
//
// # Departures from the reference runtime
//
// Answers are those of its predicate over JSON values, not of its SQL, which
// differs for arrays, NUL, lone surrogates and large integers. Queries are judged
// more strictly: a repeated or unknown member and a path over 1,024 bytes are
// errors here.
package projection
