package script

import "errors"

// Every error of [Validate] and [Select] wraps one of these, or the error of the
// context that ended the run. Their texts are fit for a log: they hold no path and
// nothing that a script wrote.
var (
	// ErrRejected: the validation script said no. Only [Validate] returns it.
	ErrRejected = errors.New("rejected by the validation script")
	// ErrFailed: the script threw, exited, was killed, printed too much, or gave a
	// result of the wrong form.
	ErrFailed = errors.New("failed")
	// ErrTimeout: the script was stopped because it ran too long.
	ErrTimeout = errors.New("ran too long")
	// ErrInputTooLarge: what the script would be given is over [MaxInputBytes]; it
	// was not started.
	ErrInputTooLarge = errors.New("input is too large")
	// ErrInput: the script or its input cannot be handed over; it was not started.
	ErrInput = errors.New("input is not usable")
	// ErrNode: node is missing, or of a version that is not known here.
	ErrNode = errors.New("node is not usable")
	// ErrSandbox: this machine cannot confine a script; it was not started.
	ErrSandbox = errors.New("no sandbox")
	// ErrSecret: a token stands in the environment; the script was not started.
	ErrSecret = errors.New("secret in the environment")
)
