package compaction

import (
	"slices"
	"time"

	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/ledger"
)

const stateVersion = "gh-aw/ledger-compaction-state/v1"

// State is what the branch remembers of its compactions.
type State struct {
	Ledger        string
	LastPlanID    ledger.Hash
	LastTrigger   Trigger
	LastAppliedAt string        // a time, as it stands in the file
	RecentPlanIDs []ledger.Hash // newest first, at most MaxRecentPlans

	appliedAt time.Time
}

// ReadState reads the state of a snapshot. A missing or invalid one is nil: the
// state decides nothing but when to look again, and whether a plan that came
// twice is called applied or stale.
func ReadState(snap ledger.Snapshot) *State { return parseState(snap.Files[ledger.CompactionFile]) }

func parseState(text []byte) *State {
	if len(text) > MaxStateBytes {
		return nil
	}
	v, err := canonical.ParseStrict(text, maxStateDepth)
	if err != nil || !hasExactly(v, "last_applied_at", "last_plan_id", "last_trigger", "ledger", "recent_plan_ids", "version") {
		return nil
	}
	s := &State{}
	version, _ := member(v, "version").text()
	trigger, _ := member(v, "last_trigger").text()
	s.LastTrigger = Trigger(trigger)
	var named, timed, planned, recent bool
	s.Ledger, named = member(v, "ledger").text()
	s.LastAppliedAt, _ = member(v, "last_applied_at").text()
	s.appliedAt, timed = parseInstant(s.LastAppliedAt)
	s.LastPlanID, planned = member(v, "last_plan_id").hash()
	s.RecentPlanIDs, recent = member(v, "recent_plan_ids").hashes(MaxRecentPlans)
	if version != stateVersion || !named || !timed || !planned || !recent ||
		s.LastTrigger != Scheduled && s.LastTrigger != Requested {
		return nil
	}
	return s
}

// after returns the state once plan is applied; s may be nil.
func (s *State) after(p *Plan, now time.Time) *State {
	next := &State{Ledger: p.ledger, LastPlanID: p.id, LastTrigger: p.trigger, LastAppliedAt: ledger.FormatTime(now),
		RecentPlanIDs: []ledger.Hash{p.id}}
	if s != nil {
		for _, id := range s.RecentPlanIDs {
			if id != p.id && len(next.RecentPlanIDs) < MaxRecentPlans {
				next.RecentPlanIDs = append(next.RecentPlanIDs, id)
			}
		}
	}
	return next
}

// records reports whether the plan was applied not long ago; s may be nil.
func (s *State) records(plan ledger.Hash) bool {
	return s != nil && slices.Contains(s.RecentPlanIDs, plan)
}

// text is the state file.
func (s *State) text() []byte {
	b := append([]byte{}, `{"last_applied_at":`...)
	b = canonical.AppendString(b, s.LastAppliedAt)
	b = append(append(append(b, `,"last_plan_id":"`...), s.LastPlanID.String()...), `","last_trigger":`...)
	b = canonical.AppendString(b, string(s.LastTrigger))
	b = canonical.AppendString(append(b, `,"ledger":`...), s.Ledger)
	b = appendHashes(append(b, `,"recent_plan_ids":`...), s.RecentPlanIDs)
	b = canonical.AppendString(append(b, `,"version":`...), stateVersion)
	return append(b, '}', '\n')
}
