package compaction

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// Schedule is how often a ledger is compacted without being asked to.
type Schedule string

const (
	Daily  Schedule = "daily"
	Weekly Schedule = "weekly"
	Manual Schedule = "manual" // only when requested
)

// Schedules are the values of the setting schedule, the default first.
var Schedules = []string{string(Daily), string(Weekly), string(Manual)}

// Trigger is why a maintenance run began.
type Trigger string

const (
	Scheduled Trigger = "scheduled"
	Requested Trigger = "requested"
)

// Triggers are the values of a trigger, the default first.
var Triggers = []string{string(Scheduled), string(Requested)}

// ParseTrigger reads a trigger; "" is [Scheduled].
func ParseTrigger(text string) (Trigger, error) {
	switch t := Trigger(text); t {
	case "":
		return Scheduled, nil
	case Scheduled, Requested:
		return t, nil
	}
	return "", fmt.Errorf("trigger must be scheduled or requested")
}

// Config is the configuration of one ledger's compaction. Make one with
// [ParseConfig].
type Config struct {
	Ledger string // its name
	Branch string // ledgers/NAME or memory/NAME
	// MaxSegmentBytes bounds every segment that is read or written.
	MaxSegmentBytes int
	Schedule        Schedule
	// MinSegments candidates are needed before anything is compacted.
	MinSegments int
	// MaxSegments bounds the sources of one plan.
	MaxSegments int
}

var (
	ledgerForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)
	branchForm = regexp.MustCompile(`^(ledgers|memory)/[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)
)

// ParseConfig makes a Config of a ledger's name, branch and limits and of the
// settings schedule (daily, weekly or manual; daily), min-segments (2 to 256; 32)
// and max-segments (min-segments to 256; 128, or min-segments where that is
// more), which value gives as text; "" is the default. Anything else is an error
// that names the setting.
func ParseConfig(name, branch string, limits ledger.Limits, value func(setting string) string) (Config, error) {
	c := Config{Ledger: name, Branch: branch, MaxSegmentBytes: limits.MaxSegmentBytes, Schedule: Daily, MinSegments: DefaultMinSegments}
	switch {
	case !ledgerForm.MatchString(name):
		return Config{}, fmt.Errorf("ledger must be 1 to 64 letters, digits, - and _, and begin with a letter or digit")
	case !branchForm.MatchString(branch):
		return Config{}, fmt.Errorf("branch must be ledgers/NAME or memory/NAME, NAME spelled like a ledger")
	case c.MaxSegmentBytes < 1 || c.MaxSegmentBytes > proofSegmentBytes:
		return Config{}, fmt.Errorf("max-segment-kb must be a whole number from 1 to %d", proofSegmentBytes>>10)
	}
	switch s := Schedule(value("schedule")); s {
	case "":
	case Daily, Weekly, Manual:
		c.Schedule = s
	default:
		return Config{}, fmt.Errorf("schedule must be daily, weekly or manual")
	}
	var err error
	if c.MinSegments, err = count(value, "min-segments", MinMinSegments, DefaultMinSegments); err != nil {
		return Config{}, err
	}
	c.MaxSegments, err = count(value, "max-segments", c.MinSegments, max(DefaultMaxSegments, c.MinSegments))
	if err != nil {
		return Config{}, err
	}
	return c, nil
}

// count reads a number of segments.
func count(value func(string) string, setting string, least, fallback int) (int, error) {
	text := value(setting)
	if text == "" {
		return fallback, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || strconv.Itoa(n) != text || n < least || n > MaxPlanSources {
		return 0, fmt.Errorf("%s must be a whole number from %d to %d", setting, least, MaxPlanSources)
	}
	return n, nil
}
