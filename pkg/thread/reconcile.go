package thread

import (
	"errors"
	"fmt"
)

// Reconciliation is a thread as one run sees it: the ledger's records, what the
// listing adds and lacks, and what is trusted in this run.
type Reconciliation struct {
	Thread Thread
	// Records are all records: those of the ledger, then the new ones in API order,
	// with Trusted and Deleted as they are now. They are what a state holds.
	Records []Record
	// New are the artifacts to be recorded, Deleted those that vanished and whose
	// deletion is to be recorded. Both are empty on a second run over the same
	// thread, and when the listing is not complete.
	New     []Record
	Deleted []Ref
	// Warnings are sentences in words of our own for people who look after the
	// workflow.
	Warnings []string
	// Complete says that the thread was read whole.
	Complete bool

	rules   *rules
	reasons map[Ref]Reason
	list    []artifact
	judged  []judgement
	hadNone bool // the ledger had no record of the thread
}

// Reason says why the artifact is not trusted in this run, "" when it is.
func (r *Reconciliation) Reason(ref Ref) Reason { return r.reasons[ref] }

// Reconcile folds a complete listing into the ledger's records (decision 2): it
// appends what is missing in API order, each id once, judges trust anew, and keeps
// vanished artifacts as deleted, frozen for good. One that is listed again stays
// deleted, with a warning. It depends on its arguments alone.
//
// Of a listing that is not complete nothing is recorded and, where the ledger
// knows the thread, nothing trusted. One whose length differs from the count that
// the issue states, without having been read again, gives no deletions.
//
// Errors: the configuration, a listing over a bound or of another thread.
func Reconcile(f *Fold, l *Listing, config Config) (*Reconciliation, error) {
	rules, err := config.rules()
	if err != nil {
		return nil, err
	}
	list, err := l.artifacts()
	if err != nil {
		return nil, err
	}
	if l.Thread != f.Thread {
		return nil, errors.New("listing and ledger are of different threads")
	}
	if l.Complete && l.Issue == nil {
		return nil, errors.New("a complete listing has the issue: list it first")
	}
	r := &Reconciliation{Thread: f.Thread, Complete: l.Complete, rules: rules, reasons: make(map[Ref]Reason, len(list)), list: list,
		judged: make([]judgement, len(list)), hadNone: len(f.Records) == 0}
	if err := r.sameIssue(f, l); err != nil {
		return nil, err
	}
	state, _ := findState(f, rules, list)
	r.Records = append(r.Records, f.Records...)
	listed := make(map[Ref]bool, len(list))
	for i := range list {
		a := &list[i]
		listed[a.ref] = true
		found := rules.classify(a, state)
		recorded := f.recorded(a.ref)
		known := recorded
		if known == nil && f.gone[a.ref] {
			known = &Record{Kind: found.kind, Deleted: true} // a deletion that came before
		}
		j := rules.judge(a, found, known)
		r.judged[i], r.reasons[a.ref] = j, j.reason
		switch {
		case recorded != nil:
			r.Records[f.at[a.ref]].Trusted = j.trusted
			if recorded.Deleted {
				r.warnf("%s is listed again after it was deleted: it stays deleted", a.ref)
			}
		case l.Complete:
			record := a.record(found.kind)
			record.StateComment, record.Deleted = a.ref == state, known != nil
			r.New = append(r.New, record)
			record.Trusted = j.trusted
			r.Records = append(r.Records, record)
		}
		if a.twice {
			r.warnf("%s was listed twice with different texts", a.ref)
		}
	}
	r.vanish(f, l, listed)
	r.checkTrigger(rules, l, listed)
	return r, nil
}

func (r *Reconciliation) warnf(format string, args ...any) {
	if len(r.Warnings) < maxWarnings {
		r.Warnings = append(r.Warnings, fmt.Sprintf(format, args...))
	}
}

// maxWarnings is how many warnings are kept; a thread can give one each.
const maxWarnings = 100

// sameIssue refuses a listing whose issue is not the one that was recorded.
func (r *Reconciliation) sameIssue(f *Fold, l *Listing) error {
	if l.Issue == nil {
		return nil
	}
	for i := range f.Records {
		if f.Records[i].Kind == IssueBody && f.Records[i].ID != l.Issue.ID {
			return errors.New("the listed issue is not the one that the ledger recorded under this number: use another ledger")
		}
	}
	return nil
}

// vanish records as deleted what a complete listing lacks.
func (r *Reconciliation) vanish(f *Fold, l *Listing, listed map[Ref]bool) {
	settled := l.Settled || l.Agrees()
	missing := 0
	for i := range r.Records[:len(f.Records)] {
		record := &r.Records[i]
		ref := record.Ref()
		switch {
		case listed[ref]:
			continue
		case record.Deleted:
			r.reasons[ref] = ReasonVanished
		case !l.Complete:
			r.reasons[ref] = ReasonNotRead
		case !settled:
			missing++
			r.reasons[ref] = ReasonNotRead
		default:
			record.Deleted = true
			r.reasons[ref] = ReasonVanished
			r.Deleted = append(r.Deleted, ref)
		}
	}
	if missing > 0 {
		r.warnf("%d recorded artifacts are not listed, and the listing's length is not what the issue states: nothing is taken for deleted", missing)
	}
	if !l.Complete {
		r.warnf("the thread was not read whole: nothing is recorded from this run")
	}
}

// checkTrigger reports a triggering artifact that is not what it was.
func (r *Reconciliation) checkTrigger(rules *rules, l *Listing, listed map[Ref]bool) {
	ref := rules.Trigger.Artifact
	switch {
	case ref == Ref{}:
	case r.reasons[ref] == ReasonDiffers:
		r.warnf("%s differs from the copy in the event that triggered the run: it was edited since", ref)
	case l.Complete && !listed[ref]:
		r.warnf("%s triggered the run and is not listed: it was deleted since", ref)
	}
}

// Entries are the records to be staged: new artifacts, then deletions.
func (r *Reconciliation) Entries() ([]Entry, error) {
	entries := make([]Entry, 0, len(r.New)+len(r.Deleted))
	for _, record := range r.New {
		e, err := ArtifactEntry(r.Thread, record)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	for _, ref := range r.Deleted {
		e, err := DeletedEntry(r.Thread, ref)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}
