package listing

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
)

// ErrBudget: the bound on requests is reached.
var ErrBudget = errors.New("budget of requests is used up")

// Budget counts the requests of a run against one bound. Its Spend is the hook of
// github.Options.
type Budget struct {
	max  int64
	used atomic.Int64
}

// NewBudget allows max requests, 1 to [MaxRequests].
func NewBudget(max int) *Budget { return &Budget{max: int64(max)} }

// Spend takes one request; the error is [ErrBudget].
func (b *Budget) Spend(context.Context) error {
	for {
		used := b.used.Load()
		if used >= b.max {
			return fmt.Errorf("%w: %d were sent, raise max-requests", ErrBudget, used)
		}
		if b.used.CompareAndSwap(used, used+1) {
			return nil
		}
	}
}

// Used is how many requests were sent, Max the bound.
func (b *Budget) Used() int { return int(b.used.Load()) }
func (b *Budget) Max() int  { return int(b.max) }
