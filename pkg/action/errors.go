package action

import (
	"errors"
	"fmt"
)

// InputError is a bad input: which one and what to do about it. A binary that
// returns one exits with 2.
type InputError struct {
	// Input is the input's name as declared, such as max-record-kb.
	Input string
	// Problem is one line: the limit, the size of the value, what to do.
	Problem string
}

func (e *InputError) Error() string { return "input " + e.Input + ": " + e.Problem }

// BadInput returns an [*InputError] for rules that a declaration cannot state,
// such as one input that depends on another.
func BadInput(input, format string, args ...any) error {
	return &InputError{Input: input, Problem: fmt.Sprintf(format, args...)}
}

// ExitCode is the exit code for what a role returned: 0, 1 or 2.
func ExitCode(err error) int {
	var input *InputError
	var argument *argumentError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &input), errors.As(err, &argument):
		return 2
	default:
		return 1
	}
}
