package compaction

import (
	"fmt"
	"time"
)

// Due decides whether a run has something to look for: a requested one always,
// a scheduled one when the schedule's time has passed since the last compaction
// that state records (nil: none). The reason is one line.
func Due(c Config, trigger Trigger, state *State, now time.Time) (due bool, reason string) {
	if trigger == Requested {
		return true, "explicitly requested"
	}
	interval := dailyInterval
	switch c.Schedule {
	case Manual:
		return false, "schedule is manual; compaction only runs when requested"
	case Weekly:
		interval = weeklyInterval
	}
	if state == nil {
		return true, "no previous compaction recorded"
	}
	elapsed := now.Sub(state.appliedAt)
	switch {
	case elapsed < -interval: // a wrong clock must not stop compaction for years
		return true, "last compaction is recorded far in the future"
	case elapsed < interval:
		return false, fmt.Sprintf("last compaction at %s is within the %s schedule", state.LastAppliedAt, c.Schedule)
	}
	return true, fmt.Sprintf("%s schedule elapsed", c.Schedule)
}
