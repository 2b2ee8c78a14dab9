package thread

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// Fold is what a ledger says about one thread, as [FoldLedger] reads it.
type Fold struct {
	Thread Thread
	// Records are the artifacts in the order in which they were recorded, each
	// once; none is Trusted, which only a run can say.
	Records []Record
	// Steps are the recorded materializations in the order of their first record.
	Steps []Step
	// Ignored are records of this package's types that have no effect, with the
	// reason; at most [maxIgnored] are named, all are counted.
	Ignored      []Ignored
	IgnoredCount int

	at      map[Ref]int
	anchors map[ledger.Hash]bool
	gone    map[Ref]bool
	steps   map[stepKey]int
	parts   map[stepKey]map[int]bool
}

// Ignored is a record that has no effect, and why.
type Ignored struct {
	SHA    ledger.Hash
	Reason string
}

// maxIgnored is how many ignored records a Fold names.
const maxIgnored = 100

type stepKey struct {
	run     string
	attempt int
	step    string
	agent   string
}

// FoldLedger folds the records of thread t, in reconstruction order. Of two
// records of one artifact, which runs that knew nothing of each other write, the
// first counts; a deletion counts wherever it sorts, and for good. Records of
// another payload version, and what is not of its form, are ignored and named.
// Errors: t names no thread, or the ledger was not read whole, so that what it
// lacks says nothing.
func FoldLedger(l *ledger.Ledger, t Thread) (*Fold, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	if err := l.Whole(); err != nil {
		return nil, err
	}
	f := newFold(t)
	// The text that every payload of this thread holds; inside of a string its
	// quotes would be escaped.
	needle := fmt.Appendf(nil, `"thread":{"number":%d,"repository_id":%d}`, t.Number, t.RepositoryID)
	for r := range l.Records() {
		if strings.HasPrefix(r.Type(), "thread.") && bytes.Contains(r.Payload(), needle) {
			f.add(r)
		}
	}
	for i := range f.Records {
		f.Records[i].Deleted = f.gone[f.Records[i].Ref()]
	}
	return f, nil
}

func newFold(t Thread) *Fold {
	return &Fold{Thread: t, at: map[Ref]int{}, anchors: map[ledger.Hash]bool{}, gone: map[Ref]bool{},
		steps: map[stepKey]int{}, parts: map[stepKey]map[int]bool{}}
}

func (f *Fold) ignore(r ledger.Record, reason string) {
	if f.IgnoredCount++; len(f.Ignored) < maxIgnored {
		f.Ignored = append(f.Ignored, Ignored{r.SHA(), reason})
	}
}

func (f *Fold) add(r ledger.Record) {
	read, fault := readEntry(r.Type(), r.Payload())
	if fault != "" {
		f.ignore(r, fault)
		return
	}
	switch p := read.(type) {
	case artifactPayload:
		record := p.Artifact.record()
		if p.Thread != f.Thread {
			return
		}
		if _, again := f.at[record.Ref()]; again {
			f.ignore(r, "the artifact is recorded already")
			return
		}
		f.at[record.Ref()] = len(f.Records)
		f.Records = append(f.Records, record)
	case deletedPayload:
		if p.Thread != f.Thread {
			return
		}
		if f.gone[p.Artifact] {
			f.ignore(r, "the deletion is recorded already")
			return
		}
		f.gone[p.Artifact] = true
	case stepPayload:
		if p.Thread != f.Thread || !f.addStep(p) {
			f.ignore(r, "the input is recorded already")
			return
		}
	}
	f.anchors[r.SHA()] = true
}

// addStep adds one input to its step.
func (f *Fold) addStep(p stepPayload) bool {
	key := stepKey{p.Run, p.Attempt, p.Step, p.Agent}
	i, ok := f.steps[key]
	if !ok {
		i = len(f.Steps)
		f.steps[key], f.parts[key] = i, map[int]bool{}
		f.Steps = append(f.Steps, Step{Step: p.Step, Agent: p.Agent, Run: p.Run, Attempt: p.Attempt, Inputs: []StepInput{}})
	}
	if f.parts[key][p.Number] {
		return false
	}
	f.parts[key][p.Number] = true
	if p.Input != nil {
		f.Steps[i].Inputs = append(f.Steps[i].Inputs, p.Input.input())
	}
	return true
}

func (m artifactMembers) record() Record {
	return Record{Kind: m.Kind, Source: m.Source, ID: m.ID, URL: m.URL, UserID: m.UserID, UserLogin: m.UserLogin, UserName: m.UserName,
		CreatedAt: m.CreatedAt, AuthorAssociation: m.AuthorAssociation, StateComment: m.StateComment}
}

// recorded returns the record of ref, nil when there is none.
func (f *Fold) recorded(ref Ref) *Record {
	if i, ok := f.at[ref]; ok {
		return &f.Records[i]
	}
	return nil
}

// HasStep reports whether the very step of this run and attempt is recorded, so
// that a re-run of a job does not record it twice.
func (f *Fold) HasStep(s Step) bool {
	_, ok := f.steps[stepKey{s.Run, s.Attempt, s.Step, s.Agent}]
	return ok
}
