package thread

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/go-json-experiment/json/jsontext"
)

// StepInput is a StepInputRecord: one input of a step as it was resolved
// (decision 5). Value has at most [MaxValueChars] code points, Truncated says that
// there were more; it is nil where nothing was resolved. Detail says why OK is
// false, or more.
//
// As JSON it has the members name, binding, ok, detail, value and truncated.
// Members that this version does not know are kept.
type StepInput struct {
	Name      string         `json:"name"`
	Binding   string         `json:"binding"`
	OK        bool           `json:"ok"`
	Detail    string         `json:"detail"`
	Value     *string        `json:"value"`
	Truncated bool           `json:"truncated"`
	Unknown   jsontext.Value `json:",embed"`
}

// Step is one materialization of a step's inputs: the HistoryEntry that it
// advances, and the run and attempt that made it.
type Step struct {
	Step, Agent string
	Run         string // decimal, "" outside of a workflow
	Attempt     int    // 0 outside of a workflow
	Inputs      []StepInput
}

var (
	inputName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_. -]*$`)
	runID     = regexp.MustCompile(`^[0-9]{0,20}$`)
)

// NewStepInput returns an input that was resolved, with its value cut to
// [MaxValueChars].
func NewStepInput(name, binding, value string) StepInput {
	in := StepInput{Name: name, Binding: binding, OK: true}
	in.setValue(value)
	return in
}

func (in *StepInput) setValue(value string) {
	value, in.Truncated = cut(value, MaxValueChars)
	in.Value = &value
}

// check refuses what is over a bound; only values are cut.
func (in StepInput) check() error {
	switch {
	case !isInputName(in.Name):
		return errors.New("name must be letters, digits, spaces, dots, hyphens and underscores")
	case tooLong(in.Binding, maxBindingChars):
		return fmt.Errorf("binding is over %d characters", maxBindingChars)
	case tooLong(in.Detail, maxBindingChars):
		return fmt.Errorf("detail is over %d characters", maxBindingChars)
	case tooLong(orZero(in.Value), MaxValueChars):
		return fmt.Errorf("value is over %d characters", MaxValueChars)
	}
	return nil
}

func isInputName(s string) bool { return len(s) <= maxNameBytes && inputName.MatchString(s) }

func (s Step) check() error {
	if !isInputName(s.Step) {
		return errors.New("step must be a name of letters, digits, spaces, dots, hyphens and underscores")
	}
	if s.Agent != "" && !isInputName(s.Agent) {
		return errors.New("agent must be a name of letters, digits, spaces, dots, hyphens and underscores")
	}
	if !runID.MatchString(s.Run) || s.Attempt < 0 || s.Attempt > 1_000_000 {
		return errors.New("run and attempt must be numbers")
	}
	return checkInputs(s.Inputs)
}

func checkInputs(inputs []StepInput) error {
	if len(inputs) > MaxInputs {
		return fmt.Errorf("step has %d inputs, at most %d are taken", len(inputs), MaxInputs)
	}
	seen := map[string]bool{}
	for i, in := range inputs {
		if err := in.check(); err != nil {
			return fmt.Errorf("input %d: %w", i+1, err)
		}
		if seen[in.Name] {
			return fmt.Errorf("input %d: there is another of this name", i+1)
		}
		seen[in.Name] = true
	}
	return nil
}

// valid reports whether p is what StepEntries writes.
func (p stepPayload) valid() bool {
	s := Step{Step: p.Step, Agent: p.Agent, Run: p.Run, Attempt: p.Attempt}
	if p.Input == nil {
		return p.Number == 0 && p.Of == 0 && s.check() == nil
	}
	s.Inputs = []StepInput{p.Input.input()}
	return p.Number >= 1 && p.Number <= p.Of && p.Of <= MaxInputs && s.check() == nil
}

func (m inputMembers) input() StepInput {
	in := StepInput{Name: m.Name, Binding: m.Binding, OK: m.OK, Detail: m.Detail, Truncated: m.Truncated}
	if m.OK || m.Value != "" {
		in.Value = &m.Value
	}
	return in
}
