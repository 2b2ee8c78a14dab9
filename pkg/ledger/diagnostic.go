package ledger

import "fmt"

// Diagnostic says what a reader found wrong and left out, or could not prove.
// Codes, members and order are those of the reference runtime:
//
//	invalid-json, invalid-envelope, unsupported-version, invalid-sha: the line
//	    (counted from 1) is no record; without a line, the whole shard was left out
//	truncated-record: the last line has no newline and was left out
//	duplicate-id-conflict: the record is kept, but another has the same id
//	missing-parent: the record is kept, but a parent of it is not here
//
// They come in this order: a cut at the shard bound, then shard by shard the
// truncated line, the other lines ascending, and the number of lines that are no
// records beyond the first 100 of the shard, then missing parents in
// reconstruction order.
type Diagnostic struct {
	Code   string `json:"code"`
	Detail string `json:"detail,omitzero"`
	File   string `json:"file,omitzero"`
	Line   int    `json:"line,omitzero"`
	ID     string `json:"id,omitzero"`
}

func (d Diagnostic) String() string {
	s := d.Code
	if d.File != "" {
		s += fmt.Sprintf(" %q", d.File)
	}
	if d.Line != 0 {
		s += fmt.Sprintf(" line %d", d.Line)
	}
	if d.ID != "" {
		s += " " + d.ID
	}
	if d.Detail != "" {
		s += ": " + d.Detail
	}
	return s
}

// Status is a summary of a ledger, as ledger_status answers it.
type Status struct {
	// Records counts the lines that are or should be records; ValidRecords those
	// that are proved, InvalidRecords the diagnostics about lines and shards,
	// IncompleteRecords the records with a parent that is not here.
	Records           int          `json:"records"`
	ValidRecords      int          `json:"validRecords"`
	InvalidRecords    int          `json:"invalidRecords"`
	IncompleteRecords int          `json:"incompleteRecords"`
	Heads             []Hash       `json:"heads"`
	Shards            int          `json:"shards"`
	Diagnostics       []Diagnostic `json:"diagnostics"`
}

// Status returns the summary. Counts are the reference's, but for a record that
// is both incomplete and in conflict, which it subtracts twice: no count is ever
// below zero.
func (l *Ledger) Status() Status {
	s := Status{Heads: l.Heads(), Shards: len(l.shards), Diagnostics: l.Diagnostics()}
	conflicts := 0
	for _, d := range s.Diagnostics {
		switch d.Code {
		case MissingParent:
			s.IncompleteRecords++
			continue
		case DuplicateIDConflict:
			conflicts++
		}
		s.InvalidRecords++
	}
	for _, shard := range l.shards {
		if more := shard.faults - maxShardFaults; more > 0 {
			s.InvalidRecords += more - 1 // one diagnostic stands for all of them
		}
	}
	s.Records = len(l.entries) + s.InvalidRecords - conflicts
	s.ValidRecords = max(0, len(l.entries)-s.IncompleteRecords-conflicts)
	return s
}
