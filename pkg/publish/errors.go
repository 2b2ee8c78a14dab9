package publish

import (
	"context"
	"errors"

	"github.com/repo-memory/ledger/pkg/branch"
	"github.com/repo-memory/ledger/pkg/github"
)

// The kinds of failure, for errors.Is. Those of reading are package branch's
// own, under the same names.
var (
	// ErrDeleted: the branch existed, and is gone.
	ErrDeleted = errors.New("branch was deleted")
	// ErrRewound: the branch no longer descends from a commit that was on it.
	ErrRewound = errors.New("branch was rewound")
	// ErrChange: the function made a change that cannot be committed.
	ErrChange = errors.New("invalid change")
	// ErrRejected: the server accepts no such commit, races aside (hooks,
	// protected branches, rules).
	ErrRejected = errors.New("push rejected")
	// ErrForbidden: the token is known and lacks the permission to write.
	ErrForbidden = errors.New("not permitted")
	// ErrForkToken: the run's token can only read, whatever the workflow grants.
	ErrForkToken = errors.New("read-only token")
	// ErrAttempts: the last permitted round failed as well; it wraps the reason.
	ErrAttempts = errors.New("too many attempts")

	ErrRemote       = branch.ErrRemote
	ErrName         = branch.ErrName
	ErrNameTaken    = branch.ErrNameTaken
	ErrNotFound     = branch.ErrNotFound
	ErrUnauthorized = branch.ErrUnauthorized
	ErrThrottled    = branch.ErrThrottled
	ErrTooLarge     = branch.ErrTooLarge
	ErrMalformed    = branch.ErrMalformed
	ErrUnavailable  = branch.ErrUnavailable
)

// errMoved and errUnclear are outcomes of one round that call for another:
// nothing was applied, and nobody knows.
var (
	errMoved   = errors.New("the branch moved")
	errUnclear = errors.New("no clear answer to the push")
)

// Reason is the closed set of words for a failure of Update: canceled, deleted,
// rewound, invalid_change, too_large, rejected, fork_token, forbidden,
// unauthorized, not_found, bad_remote, bad_name, name_taken, throttled, exhausted, malformed,
// unavailable, and failed for what the function itself returned; "" for nil.
func Reason(err error) string {
	if err == nil {
		return ""
	}
	for _, r := range []struct {
		kind error
		word string
	}{
		{context.Canceled, "canceled"}, {ErrDeleted, "deleted"}, {ErrRewound, "rewound"},
		{ErrChange, "invalid_change"}, {ErrTooLarge, "too_large"}, {ErrRejected, "rejected"},
		{ErrForkToken, "fork_token"}, {ErrForbidden, "forbidden"}, {ErrUnauthorized, "unauthorized"}, {ErrNotFound, "not_found"}, {ErrRemote, "bad_remote"},
		{ErrName, "bad_name"}, {ErrNameTaken, "name_taken"}, {ErrThrottled, "throttled"},
		{ErrAttempts, "exhausted"}, {ErrMalformed, "malformed"}, {ErrUnavailable, "unavailable"},
		{context.DeadlineExceeded, "canceled"},
	} {
		if errors.Is(err, r.kind) {
			return r.word
		}
	}
	return "failed"
}

// again tells whether another round may succeed. The client of the API has done
// all waiting for a rate limit that is to be done.
func again(err error) bool {
	if errors.Is(err, github.ErrThrottled) {
		return false
	}
	for _, kind := range []error{errMoved, errUnclear, ErrUnavailable, ErrThrottled, branch.ErrMoved} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}
