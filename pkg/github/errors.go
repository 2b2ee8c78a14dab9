package github

import (
	"errors"
	"fmt"
	"time"
)

// The kinds of failure, for errors.Is; the package comment says what each stands
// for.
var (
	ErrConfig         = errors.New("bad address or token of a GitHub server")
	ErrUnauthorized   = errors.New("not authorized")
	ErrForbidden      = errors.New("permission is missing")
	ErrForkToken      = errors.New("the token can only read")
	ErrThrottled      = errors.New("throttled by the server")
	ErrPrimaryLimit   = errors.New("rate limit is used up")
	ErrSecondaryLimit = errors.New("secondary rate limit")
	ErrRule           = errors.New("refused by a rule of the repository")
	ErrNotFound       = errors.New("not found")
	ErrStale          = errors.New("branch is not at the expected commit")
	ErrPathGone       = errors.New("path to delete is gone")
	ErrExists         = errors.New("reference exists already")
	ErrEmpty          = errors.New("repository is empty")
	ErrTooLarge       = errors.New("too large")
	ErrInvalid        = errors.New("refused as invalid")
	ErrRedirect       = errors.New("redirected")
	ErrMalformed      = errors.New("malformed answer")
	ErrUnavailable    = errors.New("no clear answer")
)

// Error is what came of a request instead of a success: one line that names the
// kind, what the server says, and what to do.
type Error struct {
	Kind   error
	Status int    // of HTTP; 0 when no answer came
	Says   string // the server's message, quoted and without secrets; "" for none
	Hint   string // what to do; "" when there is nothing to add
	// Wait is how long the server asks to be left alone; Told is unset when it
	// names no time.
	Wait time.Duration
	Told bool
}

func (e *Error) Error() string {
	s := e.Kind.Error()
	switch {
	case e.Says != "" && e.Status != 0:
		s += fmt.Sprintf(": the server says %s (status %d)", e.Says, e.Status)
	case e.Says != "":
		s += ": " + e.Says
	case e.Status != 0:
		s += fmt.Sprintf(": the server answered with status %d", e.Status)
	}
	if e.Hint != "" {
		s += ": " + e.Hint
	}
	return s
}

// Unwrap is the kind, and ErrThrottled for both rate limits.
func (e *Error) Unwrap() []error {
	if e.Kind == ErrPrimaryLimit || e.Kind == ErrSecondaryLimit {
		return []error{e.Kind, ErrThrottled}
	}
	return []error{e.Kind}
}

// Unclear tells whether a request that got this error may have taken effect all
// the same.
func Unclear(err error) bool {
	return errors.Is(err, ErrUnavailable) || errors.Is(err, ErrMalformed) || errors.Is(err, ErrTooLarge) && !refused(err)
}

// refused tells a request that was too large from an answer that was.
func refused(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Status >= 400
}
