package thread

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/repo-memory/ledger/pkg/canonical"
)

// WorkflowState is the state of a workflow on one thread, generation
// [SchemaVersion]: the history of its steps with the inputs of each, and the
// thread (decisions 1 and 5). Generations 1 to 4 have neither inputs nor a
// thread and load with empty lists; a later one is refused, since what it means
// is not known. Members that this version does not know are kept, value for
// value.
type WorkflowState struct {
	SchemaVersion int            `json:"schema_version"`
	History       []HistoryEntry `json:"history"`
	Thread        []Record       `json:"thread"`
	Unknown       jsontext.Value `json:",embed"`
}

// HistoryEntry is one step of a run.
type HistoryEntry struct {
	Step    string         `json:"step,omitzero"`
	Agent   string         `json:"agent,omitzero"`
	Inputs  []StepInput    `json:"inputs"`
	Unknown jsontext.Value `json:",embed"`
}

// versionMember reads a state of any generation, to know which.
type versionMember struct {
	SchemaVersion *int `json:"schema_version"`
}

// ParseState reads a state in strict JSON. Errors carry nothing of it.
func ParseState(text []byte) (WorkflowState, error) {
	var (
		version versionMember
		s       WorkflowState
	)
	if len(text) > MaxStateBytes {
		return s, fmt.Errorf("state is %d bytes, at most %d are read", len(text), MaxStateBytes)
	}
	if err := canonical.Decode(text, &version, canonical.AllowUnknown); err != nil {
		return s, fmt.Errorf("state cannot be read: %w", err)
	}
	if version.SchemaVersion == nil || *version.SchemaVersion < 1 {
		return s, errors.New("state has no schema_version: it must be 1 to 5")
	}
	if v := *version.SchemaVersion; v > SchemaVersion {
		return s, fmt.Errorf("state is of generation %d, this version knows %d: use a newer version", v, SchemaVersion)
	}
	if err := canonical.Decode(text, &s); err != nil {
		return WorkflowState{}, fmt.Errorf("state cannot be read: %w", err)
	}
	if err := s.check(); err != nil {
		return WorkflowState{}, err
	}
	s.SchemaVersion = SchemaVersion
	return s, nil
}

// check judges a decoded state and makes absent lists empty ones.
func (s *WorkflowState) check() error {
	if s.SchemaVersion < 1 || s.SchemaVersion > SchemaVersion {
		return errors.New("state is of no known generation")
	}
	if s.SchemaVersion < SchemaVersion && s.Thread != nil {
		return fmt.Errorf("state says generation %d, which has no thread: it is inconsistent", s.SchemaVersion)
	}
	seen := make(map[Ref]bool, len(s.Thread))
	for _, r := range s.Thread {
		if seen[r.Ref()] {
			return fmt.Errorf("state has %s twice", r.Ref())
		}
		seen[r.Ref()] = true
	}
	for i := range s.History {
		h := &s.History[i]
		if s.SchemaVersion < SchemaVersion && h.Inputs != nil {
			return fmt.Errorf("state says generation %d, which has no inputs: it is inconsistent", s.SchemaVersion)
		}
		for _, in := range h.Inputs {
			if tooLong(orZero(in.Value), MaxValueChars) {
				return fmt.Errorf("state has an input over %d characters", MaxValueChars)
			}
		}
		if h.Inputs == nil {
			h.Inputs = []StepInput{}
		}
	}
	if s.History == nil {
		s.History = []HistoryEntry{}
	}
	if s.Thread == nil {
		s.Thread = []Record{}
	}
	return nil
}

// BuildState is the one seam through which a state advances: base with the
// entries of history added and, unless thread is nil, its thread replaced
// wholesale; an empty thread that is not nil empties it. It changes none of its
// arguments, and the result shares no list with them.
func BuildState(base WorkflowState, history []HistoryEntry, thread []Record) WorkflowState {
	if thread == nil {
		thread = base.Thread
	}
	s := WorkflowState{SchemaVersion: SchemaVersion, Unknown: append(jsontext.Value(nil), base.Unknown...)}
	s.History = append(append([]HistoryEntry{}, base.History...), history...)
	for i := range s.History {
		s.History[i].Inputs = append([]StepInput{}, s.History[i].Inputs...)
	}
	s.Thread = append([]Record{}, thread...)
	return s
}

// State is the export of the fold as a run sees it: the history of base, every
// recorded step, those of this run that are not recorded yet, and the reconciled
// thread. base is a state that the ledger does not know, such as one of an earlier
// generation, or the zero state.
func (r *Reconciliation) State(f *Fold, base WorkflowState, current ...Step) WorkflowState {
	history := make([]HistoryEntry, 0, len(f.Steps)+len(current))
	for _, s := range f.Steps {
		history = append(history, s.Entry())
	}
	for _, s := range current {
		if !f.HasStep(s) {
			history = append(history, s.Entry())
		}
	}
	return BuildState(base, history, append([]Record{}, r.Records...))
}

// Entry is the step as an entry of the history.
func (s Step) Entry() HistoryEntry {
	return HistoryEntry{Step: s.Step, Agent: s.Agent, Inputs: s.Inputs}
}

// FormatState writes s as compact JSON and a line feed. Equal states have equal
// texts.
func FormatState(s WorkflowState) ([]byte, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	text, err := encode(s)
	if err != nil {
		return nil, errors.New("state cannot be written as JSON: a text in it is no UTF-8")
	}
	return append(text, '\n'), nil
}

// StateDigest is what the output state-digest holds: the SHA-256 of the bytes of
// the state file, as "sha256:" and 64 lower-case hexadecimal digits.
func StateDigest(file []byte) string { return canonical.Sum(file) }

// ErrState: a state file is not the one that its digest names; it is bad input.
var ErrState = errors.New("state refused")

// OpenState reads a state file that came over an untrusted job. digest is the
// state-digest that the job which made it set as an output; it must be there and
// match before the file is read. Errors wrap [ErrState].
func OpenState(file []byte, digest string) (WorkflowState, error) {
	if digest == "" {
		return WorkflowState{}, fmt.Errorf("%w: there is no state-digest: pass the output of the job that made it", ErrState)
	}
	if StateDigest(file) != digest {
		return WorkflowState{}, fmt.Errorf("%w: it is not the one that state-digest names: something changed it on the way", ErrState)
	}
	s, err := ParseState(file)
	if err != nil {
		return s, fmt.Errorf("%w: %w", ErrState, err)
	}
	return s, nil
}
