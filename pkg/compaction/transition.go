package compaction

import (
	"fmt"
	"slices"
	"time"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// Status is what a plan comes to on a snapshot.
type Status string

const (
	// Ready: the change of the Result carries the plan out.
	Ready Status = "ready"
	// AlreadyApplied: the plan was carried out before.
	AlreadyApplied Status = "already_applied"
	// Stale: sources were retired since the plan was made; plan again.
	Stale Status = "stale"
	// Conflict: a segment of the plan is not what it was; plan again.
	Conflict Status = "conflict"
	// Rejected: no planner made this plan from this ledger.
	Rejected Status = "rejected"
)

// Stats counts what a ready plan does.
type Stats struct {
	SourceSegments     int // retired
	SourceRecords      int // in them, repeats counted
	ReplacementRecords int
	BytesBefore        int // of sources and replacement, if that is there
	BytesAfter         int
	UnrelatedSegments  int // valid ones that the plan leaves alone
}

// Result is what Prepare finds.
type Result struct {
	Status Status
	// Reason is one line that names segments at most.
	Reason string
	// Change is the transition when Status is Ready, without a message; it is
	// empty otherwise.
	Change ledger.Change
	// Coverage says, when Status is Ready, what the replacement stands for; it was
	// made here and proved against the records of the snapshot.
	Coverage ledger.Coverage
	Stats    Stats
	// Skipped names the shards that no compaction can touch.
	Skipped []Skipped
}

// Prepare judges a plan against the branch as it stands now and computes the one
// change that carries it out; the package comment states how. It is idempotent:
// on a branch that holds the change it answers AlreadyApplied. The error means
// that the ledger could not be read whole; then nothing was judged.
func Prepare(p *Plan, snap ledger.Snapshot, c Config, now time.Time) (Result, error) {
	inv, err := Load(snap, c)
	if err != nil {
		return Result{}, err
	}
	t := &transition{plan: p, snap: snap, inv: inv, state: ReadState(snap)}
	r := t.judge()
	r.Skipped = inv.skipped
	if r.Status != Ready {
		return r, nil
	}
	replacement, ok := t.rebuild()
	if !ok {
		return refuse(r, "replacement segment does not match the content-addressed union of the source records"), nil
	}
	r.Coverage = ledger.Coverage{Replacement: replacement.ID}
	for _, s := range p.sources {
		r.Coverage.Sources = append(r.Coverage.Sources, s.Segment)
	}
	r.Change = t.change(r.Coverage, replacement, now)
	if !covers(inv, r.Coverage, replacement) || !lossless(snap, r.Change) {
		return refuse(r, "transition would lose ledger records"), nil
	}
	r.Stats = t.stats(replacement)
	return r, nil
}

func refuse(r Result, reason string) Result {
	return Result{Status: Rejected, Reason: reason, Skipped: r.Skipped}
}

type transition struct {
	plan  *Plan
	snap  ledger.Snapshot
	inv   *Inventory
	state *State
}

// judge compares the plan with what is there; Ready still has to be proved.
func (t *transition) judge() Result {
	if t.plan.ledger != t.inv.config.Ledger || t.plan.branch != t.inv.config.Branch {
		return Result{Status: Rejected, Reason: "plan targets a different ledger"}
	}
	missing := 0
	flawed := ""
	for _, want := range t.plan.sources {
		if !t.inv.present(want.Segment) {
			missing++
			continue
		}
		s, ok := t.inv.segment(want.Segment)
		if !ok {
			return Result{Status: Conflict, Reason: fmt.Sprintf("source segment %s is not a valid canonical segment", want.Segment)}
		}
		if s.SHA256 != want.SHA256 || s.Bytes != want.Bytes || !slices.Equal(s.hashes(), want.Records) {
			return Result{Status: Conflict, Reason: fmt.Sprintf("source segment %s no longer matches the plan", want.Segment)}
		}
		if s.flaw != "" {
			flawed = want.Segment
		}
	}
	id := t.plan.replacement.Segment
	if t.inv.present(id) {
		s, ok := t.inv.segment(id)
		if !ok || s.SHA256 != t.plan.replacement.SHA256 || s.Bytes != t.plan.replacement.Bytes {
			return Result{Status: Conflict, Reason: fmt.Sprintf("replacement segment %s exists with different content", id)}
		}
	}
	switch {
	case missing == len(t.plan.sources) && (t.inv.present(id) || t.state.records(t.plan.id)):
		return Result{Status: AlreadyApplied, Reason: "every source segment has already been retired by this plan"}
	case missing == len(t.plan.sources):
		return Result{Status: Stale, Reason: "every source segment has already been retired"}
	case missing > 0:
		return Result{Status: Stale, Reason: fmt.Sprintf("%d source segment(s) were retired after planning", missing)}
	case flawed != "":
		return Result{Status: Rejected, Reason: fmt.Sprintf("source segment %s cannot be written again", flawed)}
	}
	return Result{Status: Ready, Reason: "plan validated against the latest ledger state"}
}

// rebuild makes the replacement from the branch's own records and compares it
// with the plan's: from the sources', or from those of the replacement that is
// there already, which may hold more.
func (t *transition) rebuild() (ledger.Segment, bool) {
	var from []string
	if id := t.plan.replacement.Segment; t.inv.present(id) {
		from = append(from, id)
	} else {
		for _, s := range t.plan.sources {
			from = append(from, s.Segment)
		}
	}
	rebuilt, _, err := t.inv.Merge(from)
	if err != nil {
		return ledger.Segment{}, false
	}
	got, want := identify(rebuilt), t.plan.replacement
	return rebuilt, got.Segment == want.Segment && got.SHA256 == want.SHA256 && got.Bytes == want.Bytes &&
		slices.Equal(got.Records, want.Records)
}

// change is the transition: the sources that the coverage names go, the
// replacement and the state come.
func (t *transition) change(c ledger.Coverage, replacement ledger.Segment, now time.Time) ledger.Change {
	change := ledger.Change{Add: map[string][]byte{ledger.CompactionFile: t.state.after(t.plan, now).text()}}
	if !t.inv.present(replacement.ID) {
		change.Add[ledger.ShardPath(replacement.ID)] = replacement.Content
	}
	for _, id := range c.Sources {
		change.Delete = append(change.Delete, ledger.ShardPath(id))
	}
	return change
}

func (t *transition) stats(replacement ledger.Segment) Stats {
	s := Stats{SourceSegments: len(t.plan.sources), ReplacementRecords: len(replacement.Records), BytesAfter: len(replacement.Content),
		UnrelatedSegments: len(t.inv.segments) - len(t.plan.sources)}
	for _, source := range t.plan.sources {
		s.SourceRecords += len(source.Records)
		s.BytesBefore += source.Bytes
	}
	if t.inv.present(replacement.ID) {
		s.BytesBefore += len(replacement.Content)
		s.UnrelatedSegments--
	}
	return s
}
