package compaction

import (
	"errors"
	"slices"
	"testing"

	"github.com/repo-memory/ledger/pkg/canonical"
)

// reasons is the closed set of what a plan is refused for: nothing that is shown
// can come from the plan.
var reasons = []string{
	"invalid plan file", "too many values", "malformed JSON", "member name that occurs twice", "unexpected plan structure",
	"unsupported plan version", "plan targets a different ledger", "plan targets a different branch", "invalid trigger",
	"invalid created_at", "invalid base_commit", "invalid source count", "unexpected source structure",
	"invalid source segment identity", "sources must be unique and sorted", "invalid source digest", "invalid source size",
	"invalid source record identities", "too many records", "unexpected replacement structure",
	"invalid replacement segment identity", "replacement cannot also be a source", "invalid replacement digest",
	"invalid replacement size", "invalid replacement record identities", "replacement does not preserve every source record",
	"plan_id does not match plan contents",
}

// A plan is refused with a known reason, or it is well-formed: then it reads
// back from its own text as the same plan, and carrying it out loses nothing.
// Every plan is tried as it is and with a plan_id that fits it.
func FuzzPlan(f *testing.F) {
	if len(vectors.Mutations) < 90 {
		f.Fatal("the seed corpus is missing")
	}
	for _, v := range vectors.Mutations {
		f.Add([]byte(v.Plan))
	}
	for _, v := range vectors.Planning {
		if v.Plan != nil {
			f.Add([]byte(*v.Plan + "\n"))
		}
	}
	config := mustConfig(f, vectors.DefaultConfig)
	_, files := basePlan(f)
	snap := snapshot(f, files, nil)
	f.Fuzz(func(t *testing.T, text []byte) {
		check := func(text []byte) {
			p, err := ParsePlan(text, config)
			if err != nil {
				var rejected *RejectedError
				if p != nil || !errors.As(err, &rejected) || !slices.Contains(reasons, rejected.Reason) {
					t.Fatalf("refused with %v", err)
				}
				return
			}
			own := p.Text()
			if !canonical.Valid(own[:len(own)-1]) || own[len(own)-1] != '\n' {
				t.Fatal("the plan's text is not canonical")
			}
			again, err := ParsePlan(own, config)
			if err != nil || string(again.Text()) != string(own) || again.ID() != p.computeID() {
				t.Fatalf("the plan's own text is read as another: %v", err)
			}
			r := prepare(t, p, snap, config)
			if r.Status != Ready {
				return
			}
			after := apply(snap, r.Change)
			sameHistory(t, snap, after)
			if r := prepare(t, p, after, config); r.Status != AlreadyApplied {
				t.Fatalf("a plan that was carried out is %s", r.Status)
			}
		}
		check(text)
		check(sign(t, text, config))
	})
}

// A state is ignored, or it reads back as it was.
func FuzzState(f *testing.F) {
	if len(vectors.States) < 10 {
		f.Fatal("the seed corpus is missing")
	}
	for _, v := range vectors.States {
		f.Add([]byte(v.Input))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s := parseState(text)
		if s == nil {
			return
		}
		again := parseState(s.text())
		if again == nil || string(again.text()) != string(s.text()) || len(s.RecentPlanIDs) > MaxRecentPlans {
			t.Fatal("the state reads back as another")
		}
		Due(Config{Schedule: Daily}, Scheduled, s, testNow)
	})
}
