package publish

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/repo-memory/ledger/pkg/branch"
	"github.com/repo-memory/ledger/pkg/github"
	"github.com/repo-memory/ledger/pkg/ledger"
)

// Options of an Update. The zero value is usable.
type Options struct {
	// Base is a commit that must be the head or one of its ancestors ("" for no
	// such demand): what the caller's work was based on.
	Base string
	// Limits bound the branch, as it is read and as it is left.
	Limits branch.Limits
	// Now is the clock of commits; nil is time.Now.
	Now func() time.Time
	// Sleep pauses between rounds and ends early, with the context's error, when
	// the context does; nil is a real pause.
	Sleep func(context.Context, time.Duration) error
	// Random is a number in [0, 1) for the length of a pause; nil is math/rand.
	Random func() float64
	// Publish chooses the way; "" is Auto. GitHub is the client of the run's own
	// server, which the API way needs; nil is none. Choose fills in both.
	Publish Mode
	GitHub  *github.Client

	apiBytes int64 // most contents of one commit through the API
}

// Result tells what an Update did. It is filled in as far as it got when there
// is an error too.
type Result struct {
	// Before is the head that was first read, "" when the branch did not exist.
	// Other writers' commits may stand between Before and After.
	Before string
	// After is the new commit, or, when Empty, the head at which the work stood.
	After string
	// Attempts counts the rounds, from 1.
	Attempts int
	// Created is set when this push made the branch.
	Created bool
	// Empty is set when the last round had nothing to commit.
	Empty bool
	// Settled is set when it had nothing to commit after a round whose push got no
	// clear answer: that push may well have been applied.
	Settled bool
	// Unclear is set when there is an error, and a commit was sent that may have been
	// applied all the same; calling again settles it.
	Unclear bool
}

// Update brings a branch to where change wants it; see the package comment. The
// function is called at least once with each head that a commit is tried on; its
// Snapshot is not to be modified. Its error ends the Update and is returned as
// it is. Other errors are the kinds of this package; when the context ended,
// they wrap its error.
func Update(ctx context.Context, remote branch.Remote, name string, opts Options,
	change func(ledger.Snapshot) (ledger.Change, error)) (Result, error) {
	reader, err := branch.NewReader(remote, name, opts.Limits)
	if err != nil {
		return Result{}, err
	}
	opts = opts.withDefaults()
	way, err := opts.wayTo(remote, name)
	if err != nil {
		return Result{}, err
	}
	u := &update{opts: opts, reader: reader, way: way, change: change, seen: opts.Base}
	if err := u.rounds(ctx); err != nil {
		u.result.Unclear = u.unclear
		return u.result, err
	}
	return u.result, nil
}

// rounds goes on until one is done, or another would not help.
func (u *update) rounds(ctx context.Context) error {
	for throttled := 0; ; {
		u.result.Attempts++
		err := u.round(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("stopped before the outcome was known, running again is safe: %w", context.Cause(ctx))
		}
		if errors.Is(err, ErrThrottled) {
			throttled++
		}
		switch {
		case u.own || !again(err) || throttled >= maxThrottled:
			return err
		case u.result.Attempts == MaxAttempts:
			return fmt.Errorf("%w: %d in all, the last one: %w", ErrAttempts, MaxAttempts, err)
		}
		if err := u.opts.Sleep(ctx, u.pause(err)); err != nil {
			return fmt.Errorf("stopped before the outcome was known, running again is safe: %w", err)
		}
	}
}

type update struct {
	opts   Options
	reader *branch.Reader
	way    way
	change func(ledger.Snapshot) (ledger.Change, error)

	seen    string // a commit that must stay on the branch
	read    bool   // the branch was read at least once
	unclear bool   // a push was sent whose fate is unknown
	own     bool   // the error is the function's own
	result  Result
}

// round reads, calls, and commits once.
func (u *update) round(ctx context.Context) error {
	tip, err := u.reader.Read(ctx)
	if err != nil {
		return err
	}
	head := tip.Snapshot.Head
	if err := u.guard(ctx, head); err != nil {
		return err
	}
	if !u.read {
		u.read, u.result.Before = true, head
	}
	change, err := u.change(tip.Snapshot)
	if err != nil {
		u.own = true
		return err
	}
	next := head
	if !change.Empty() {
		if next, err = u.way.commit(ctx, tip, change); err != nil {
			u.unclear = u.unclear || errors.Is(err, errUnclear) || ctx.Err() != nil
			return err
		}
	}
	u.result.After = next
	u.result.Empty = next == head
	u.result.Created = head == "" && next != ""
	u.result.Settled = u.result.Empty && u.unclear
	return nil
}

// guard stops when the branch lost a commit that was on it.
func (u *update) guard(ctx context.Context, head string) error {
	if u.seen != "" && u.seen != head {
		if head == "" {
			return fmt.Errorf("%w: it stood at or after %s: restore it, or begin anew with what it held", ErrDeleted, u.seen)
		}
		switch kept, err := u.reader.Contains(ctx, u.seen); {
		case errors.Is(err, branch.ErrUnknownCommit):
			return fmt.Errorf("%w: the base commit is not a commit id", ErrRewound)
		case err != nil:
			return err
		case !kept:
			return fmt.Errorf("%w: its head %s does not descend from %s: restore it, or begin anew with what it holds", ErrRewound, head, u.seen)
		}
	}
	if head != "" {
		u.seen = head
	}
	return nil
}

// pause is a random part of a bound that doubles from round to round, or what
// the server asked for.
func (u *update) pause(err error) time.Duration {
	bound := min(firstPause<<min(u.result.Attempts-1, 10), longestPause)
	pause := time.Duration(u.opts.Random() * float64(bound))
	var status *branch.StatusError
	if errors.As(err, &status) {
		pause = max(pause, min(status.RetryAfter, maxRetryAfter))
	}
	return pause
}

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Random == nil {
		o.Random = rand.Float64
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	if o.apiBytes == 0 {
		o.apiBytes = MaxAPIBytes
	}
	return o
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
