package thread

import (
	"errors"
	"fmt"

	"github.com/repo-memory/ledger/pkg/canonical"
)

// ParseStepInputs reads the inputs of a step from JSON or YAML text, which holds
// either a mapping from name to value, or a list of mappings with name and,
// optionally, binding, ok (true unless it is said), detail and value. Text that
// starts with { or [ is JSON in strict JSON, any other YAML without anchors,
// aliases, tags and further documents. A value is a string, or kept as the text of
// the number, boolean or, for lists and mappings, canonical JSON; null is an input
// that was not resolved. No text is no inputs.
//
// Secrets are looked for before values are cut; see [Secrets.Check]. Errors name
// an input by its place and carry nothing of a value.
func ParseStepInputs(text []byte, secrets Secrets) ([]StepInput, error) {
	if len(text) > MaxInputsBytes {
		return nil, fmt.Errorf("step inputs are %d bytes, at most %d are read", len(text), MaxInputsBytes)
	}
	v, err := parseInputs(text)
	if err != nil {
		return nil, err
	}
	inputs := []StepInput{}
	add := func(in StepInput, value canonical.Value, has bool) error {
		whole, err := valueText(value)
		if err != nil {
			return fmt.Errorf("input %d: value is nested too deep or overflows", len(inputs)+1)
		}
		if err := secrets.check(in, whole); err != nil {
			return fmt.Errorf("input %d: %w", len(inputs)+1, err)
		}
		switch {
		case has && value.Kind != canonical.Null:
			in.setValue(whole)
		case in.Detail == "":
			in.OK, in.Detail = false, "has no value"
		}
		inputs = append(inputs, in)
		return nil
	}
	switch v.Kind {
	case canonical.Null:
	case canonical.Object:
		for _, m := range v.Members {
			if err := add(StepInput{Name: m.Name, OK: true}, m.Value, true); err != nil {
				return nil, err
			}
		}
	case canonical.Array:
		for i, item := range v.Items {
			in, value, has, err := readInput(item)
			if err != nil {
				return nil, fmt.Errorf("input %d: %w", i+1, err)
			}
			if err := add(in, value, has); err != nil {
				return nil, err
			}
		}
	default:
		return nil, errors.New("step inputs must be a mapping from name to value, or a list of mappings")
	}
	return inputs, checkInputs(inputs)
}

// readInput reads one mapping of a list of inputs.
func readInput(v canonical.Value) (in StepInput, value canonical.Value, has bool, err error) {
	in.OK = true
	if v.Kind != canonical.Object {
		return in, value, false, errors.New("must be a mapping with name, binding, ok, detail and value")
	}
	for _, m := range v.Members {
		text := map[string]*string{"name": &in.Name, "binding": &in.Binding, "detail": &in.Detail}[m.Name]
		switch {
		case text != nil && m.Value.Kind == canonical.String:
			*text = m.Value.Str
		case m.Name == "ok" && (m.Value.Kind == canonical.True || m.Value.Kind == canonical.False):
			in.OK = m.Value.Kind == canonical.True
		case m.Name == "value":
			value, has = m.Value, true
		default:
			return in, value, false, errors.New("must have only name, binding and detail (text), ok (true or false) and value")
		}
	}
	return in, value, has, nil
}

func valueText(v canonical.Value) (string, error) {
	switch v.Kind {
	case canonical.String, canonical.Number:
		return v.Str, nil
	case canonical.Null:
		return "", nil
	}
	text, err := v.Text()
	return string(text), err
}
