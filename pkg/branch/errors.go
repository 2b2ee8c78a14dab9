package branch

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// The kinds of failure, for errors.Is. Messages are one line, name the thing
// and what to do, and carry neither tokens nor local paths.
var (
	// ErrRemote: the remote's text is not one that is spoken to.
	ErrRemote = errors.New("bad remote")
	// ErrName: not the name of a ledger branch.
	ErrName = errors.New("bad branch name")
	// ErrNameTaken: another reference stands in the branch's way.
	ErrNameTaken = errors.New("branch name is taken")
	// ErrNotFound: there is no repository, or none that the token may see.
	ErrNotFound = errors.New("repository not found")
	// ErrUnauthorized: the server refused the credentials (401, 403).
	ErrUnauthorized = errors.New("not authorized")
	// ErrThrottled: the server asks to come back later (429, or 403 that says so).
	ErrThrottled = errors.New("throttled by the server")
	// ErrTooLarge: a bound of Limits, or of this package, is exceeded.
	ErrTooLarge = errors.New("too large")
	// ErrMalformed: what the server sent is not a well-formed branch.
	ErrMalformed = errors.New("malformed data from the remote")
	// ErrUnavailable: no clear answer; trying again may help.
	ErrUnavailable = errors.New("remote unavailable")
	// ErrMoved: the branch moved between two steps of one question; ask again.
	ErrMoved = errors.New("branch moved meanwhile")
	// ErrUnknownCommit: the commit is not on the branch.
	ErrUnknownCommit = errors.New("commit is not on the branch")
	// ErrShallow: the remote itself lacks the history that was asked for.
	ErrShallow = errors.New("remote is a shallow clone")
	// ErrPath: a path that must not be written.
	ErrPath = errors.New("bad path")
	// ErrDirectory: the directory to export into is not usable.
	ErrDirectory = errors.New("bad directory")
)

// StatusError is a refusal by an HTTP server. It unwraps to one of the kinds.
type StatusError struct {
	Kind       error
	Code       int           // HTTP status
	RetryAfter time.Duration // what the server asked for; 0 when it did not
	Hint       string
}

func (e *StatusError) Error() string {
	s := fmt.Sprintf("%v: the server answered with status %d", e.Kind, e.Code)
	if e.Hint != "" {
		s += ": " + e.Hint
	}
	return s
}

func (e *StatusError) Unwrap() error { return e.Kind }

// Printable makes text from a server or a stranger fit for one line of a log:
// quoted, cut to n bytes with a visible mark, and with everything escaped that
// is not plain printable ASCII.
func Printable(text string, n int) string {
	text = strings.TrimSpace(text)
	cut := ""
	if len(text) > n {
		text, cut = text[:n], "[cut]"
	}
	return strconv.QuoteToASCII(text) + cut
}
