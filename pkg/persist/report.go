package persist

import (
	"fmt"

	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/txlog"
)

// Report is what became of a staging on one head. Every staged item lands in
// exactly one of the three lists. Beside an error the Report is filled as far as
// the work came.
type Report struct {
	// Accepted items are part of the Change; Ignored ones stand on the branch
	// already or ask for nothing; Rejected ones are refused and block no other.
	Accepted, Ignored, Rejected List

	// Records and Files are how many staged ones the Change adds, Replaced how many
	// of the files stand on the branch under that name.
	Records, Files, Replaced int
	// RecordBytes and FileBytes are what they add, as the patch bounds count it.
	RecordBytes, FileBytes int
	// Refused counts the records that admission refused, by rule.
	Refused map[ledger.Rule]int

	// Head is the head that the Change was made for, "" for a branch that does
	// not exist.
	Head string
	// HeadsBefore and HeadsAfter are the heads of the ledger, ascending.
	HeadsBefore, HeadsAfter []ledger.Hash
	// ShardsBefore and ShardsAfter count its shards, MaxShards is their bound.
	ShardsBefore, ShardsAfter, MaxShards int
	// CompactionNeeded is set from three quarters of that bound on.
	CompactionNeeded bool
	// Diagnostics counts what was wrong on the branch itself and left as it is.
	Diagnostics int

	// Memory is what became of the records of Memory Git; nil when none was staged.
	Memory *MemoryReport

	// Warnings are sentences for people who look after the workflow.
	Warnings []string
	// Gaps compares the staged records with the transaction log; nil when none
	// was given. It is a notice and had no influence (specification, section 8).
	Gaps *txlog.Gaps
}

// Err returns an error when items were rejected: their count and the first one.
// They are no reason to fail a run.
func (r *Report) Err() error {
	if r.Rejected.Count == 0 {
		return nil
	}
	return fmt.Errorf("%d staged items rejected, the first: %s", r.Rejected.Count, r.Rejected.Items[0])
}

func (r *Report) accept(i Item, reason string) {
	i.Reason = reason
	r.Accepted.add(i)
}

func (r *Report) ignore(i Item, reason string) {
	i.Reason = reason
	r.Ignored.add(i)
}

func (r *Report) reject(i Item, reason string) {
	i.Reason = reason
	r.Rejected.add(i)
}

func (r *Report) warnf(format string, args ...any) {
	r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
}
