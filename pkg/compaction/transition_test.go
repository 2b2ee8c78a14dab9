package compaction

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/ledger"
)

func TestRecordsAppendedAfterPlanningStayWhateverTheirTime(t *testing.T) {
	c := settings(t, "min-segments 2")
	old := branchOf(small(t, 10, 3, 400)...)
	p := planOf(t, old, c)
	now := apply(old, ledger.Change{Add: map[string][]byte{
		ledger.ShardPath(shardID(50)): lines(note(t, 1, 400)),   // older than all of them
		ledger.ShardPath(shardID(51)): lines(note(t, 500, 400)), // younger
	}})
	r := prepare(t, p, now, c)
	if r.Status != Ready {
		t.Fatalf("%s: %s", r.Status, r.Reason)
	}
	after := apply(now, r.Change)
	sameHistory(t, now, after)
	if shards(after) != 3 || r.Stats.UnrelatedSegments != 2 {
		t.Errorf("%d shards are left, %+v", shards(after), r.Stats)
	}
}

func TestAPlanIsCarriedOutOnce(t *testing.T) {
	c := settings(t, "min-segments 2")
	before := branchOf(small(t, 1, 3, 400)...)
	p := planOf(t, before, c)
	after := apply(before, prepare(t, p, before, c).Change)
	if r := prepare(t, p, after, c); r.Status != AlreadyApplied {
		t.Errorf("%s: %s", r.Status, r.Reason)
	}
	// The replacement was compacted away, the state still knows.
	delete(after.Files, ledger.ShardPath(p.Replacement().Segment))
	if r := prepare(t, p, after, c); r.Status != AlreadyApplied {
		t.Errorf("%s: %s", r.Status, r.Reason)
	}
	delete(after.Files, ledger.CompactionFile)
	if r := prepare(t, p, after, c); r.Status != Stale {
		t.Errorf("%s: %s", r.Status, r.Reason)
	}
}

func TestAHeadThatMovedBackMakesAPlanStale(t *testing.T) {
	c := settings(t, "min-segments 2")
	contents := small(t, 1, 3, 400)
	p := planOf(t, branchOf(contents...), c)
	if r := prepare(t, p, branchOf(contents[:2]...), c); r.Status != Stale || r.Reason != "1 source segment(s) were retired after planning" {
		t.Errorf("%s: %s", r.Status, r.Reason)
	}
	if r := prepare(t, p, ledger.Snapshot{}, c); r.Status != Stale {
		t.Errorf("%s: %s", r.Status, r.Reason)
	}
}

func TestASourceThatGainedARecordIsAConflict(t *testing.T) {
	c := settings(t, "min-segments 2")
	snap := branchOf(small(t, 1, 3, 400)...)
	p := planOf(t, snap, c)
	grown := apply(snap, ledger.Change{Add: map[string][]byte{
		ledger.ShardPath(shardID(1)): slices.Concat(snap.Files[ledger.ShardPath(shardID(1))], lines(note(t, 99, 300))),
	}})
	if r := prepare(t, p, grown, c); r.Status != Conflict || !strings.Contains(r.Reason, shardID(1)) {
		t.Errorf("%s: %s", r.Status, r.Reason)
	}
}

func TestAPlanIsForOneLedgerBranchAndCapOnly(t *testing.T) {
	c := settings(t, "min-segments 2", "max-segments 157")
	snap := branchOf(small(t, 1, 157, 300)...)
	p := planOf(t, snap, c)
	if len(p.Sources()) != 157 {
		t.Fatalf("%d sources", len(p.Sources()))
	}
	text := p.Text()
	for _, v := range []struct {
		name   string
		change func(*Config)
		reason string
	}{
		{"another ledger", func(c *Config) { c.Ledger = "other" }, "plan targets a different ledger"},
		{"another branch", func(c *Config) { c.Branch = "memory/memory" }, "plan targets a different branch"},
		{"a lower cap", func(c *Config) { c.MaxSegments = 150 }, "invalid source count"},
		{"smaller segments", func(c *Config) { c.MaxSegmentBytes = 20_000 }, "invalid replacement size"},
	} {
		other := c
		v.change(&other)
		var rejected *RejectedError
		if _, err := ParsePlan(text, other); !errors.As(err, &rejected) || rejected.Reason != v.reason {
			t.Errorf("%s: %v", v.name, err)
		}
	}
	other := c
	other.Branch = "ledgers/other"
	if r := prepare(t, p, snap, other); r.Status != Rejected {
		t.Errorf("%s: %s", r.Status, r.Reason)
	}
}

func TestTheSameTransitionHasTheSameIdWheneverItIsPlanned(t *testing.T) {
	c := settings(t, "min-segments 2")
	snap := branchOf(small(t, 1, 3, 400)...)
	inv := load(t, snap, c)
	a, _ := inv.Plan([]string{shardID(0), shardID(1), shardID(2)}, Scheduled, testCommit, testNow)
	b, err := inv.Plan([]string{shardID(2), shardID(1), shardID(0), shardID(1)}, Requested, strings.Repeat("b", 64), testNow.AddDate(1, 0, 0))
	if err != nil || a.ID() != b.ID() {
		t.Errorf("%s and %s, %v", a.ID(), b.ID(), err)
	}
	d, _ := inv.Plan([]string{shardID(0), shardID(1)}, Scheduled, testCommit, testNow)
	if d.ID() == a.ID() {
		t.Error("other sources have the same id")
	}
	if _, err := inv.Plan([]string{shardID(0)}, Scheduled, "HEAD", testNow); err == nil {
		t.Error("a base commit that is no commit is taken")
	}
}

func TestACoverageFileOnTheBranchHasNoEffect(t *testing.T) {
	c := settings(t, "min-segments 2")
	snap := branchOf(small(t, 1, 4, 400)...)
	forged := ledger.CoverageDir + "/" + strings.Repeat("0", 64) + ledger.ShardExt
	snap.Files[forged] = fmt.Appendf(nil, `{"replacement":%q,"sources":[%q,%q]}`+"\n", shardID(0), shardID(3), shardID(2))
	inv := load(t, snap, c)
	p, err := inv.Plan([]string{shardID(0), shardID(1)}, Scheduled, testCommit, testNow)
	if err != nil {
		t.Fatal(err)
	}
	r := prepare(t, p, snap, c)
	if r.Coverage.Replacement != p.Replacement().Segment || !slices.Equal(r.Coverage.Sources, []string{shardID(0), shardID(1)}) {
		t.Errorf("coverage %+v", r.Coverage)
	}
	after := apply(snap, r.Change)
	sameHistory(t, snap, after)
	if string(after.Files[forged]) != string(snap.Files[forged]) || shards(after) != 3 {
		t.Error("the forged declaration was acted on")
	}
}

func TestValidRecordsOfDamagedShardsOutsideThePlanAreCounted(t *testing.T) {
	c := settings(t, "min-segments 2")
	contents := small(t, 1, 2, 400)
	damaged := slices.Concat(lines(note(t, 7, 300)), []byte("{bad}\n"), lines(note(t, 8, 300)))
	snap := branchOf(append(contents, damaged)...)
	p := planOf(t, snap, c)
	r := prepare(t, p, snap, c)
	if r.Status != Ready {
		t.Fatalf("%s: %s", r.Status, r.Reason)
	}
	sameHistory(t, snap, apply(snap, r.Change))
	// A change that loses one of them is refused.
	if !lossless(snap, r.Change) {
		t.Error("the transition is said to lose records")
	}
	r.Change.Delete = append(r.Change.Delete, ledger.ShardPath(shardID(2)))
	if lossless(snap, r.Change) {
		t.Error("the loss of a damaged shard's records is not seen")
	}
}

func TestNoLossGoesUnseen(t *testing.T) {
	a, b, d := note(t, 1, 300), note(t, 2, 300), note(t, 3, 300)
	snap := branchOf(lines(a), lines(b), lines(d, b))
	path := func(n int) string { return ledger.ShardPath(shardID(n)) }
	for _, v := range []struct {
		name   string
		change ledger.Change
		want   bool
	}{
		{"nothing", ledger.Change{}, true},
		{"a record that stands elsewhere too", ledger.Change{Delete: []string{path(1)}}, true},
		{"a record that stands nowhere else", ledger.Change{Delete: []string{path(0)}}, false},
		{"replaced", ledger.Change{Delete: []string{path(0)}, Add: map[string][]byte{path(9): lines(a)}}, true},
		{"replaced without its line feed", ledger.Change{Delete: []string{path(0)}, Add: map[string][]byte{path(9): a.Line()}}, false},
		{"replaced by another", ledger.Change{Delete: []string{path(0)}, Add: map[string][]byte{path(9): lines(note(t, 4, 300))}}, false},
		{"overwritten", ledger.Change{Add: map[string][]byte{path(2): lines(d)}}, true},
		{"overwritten with less", ledger.Change{Add: map[string][]byte{path(2): lines(b)}}, false},
		{"a record that came from nowhere", ledger.Change{Add: map[string][]byte{path(9): lines(note(t, 4, 300))}}, false},
		{"a shard that is not there", ledger.Change{Delete: []string{path(8)}}, false},
	} {
		if got := lossless(snap, v.change); got != v.want {
			t.Errorf("%s: %v", v.name, got)
		}
	}
}

func TestCoverageIsProvedAgainstEverySource(t *testing.T) {
	c := settings(t, "min-segments 2")
	inv := load(t, branchOf(small(t, 1, 3, 300)...), c)
	ids := []string{shardID(0), shardID(1)}
	replacement, retired, err := inv.Merge(ids)
	if err != nil || !slices.Equal(retired, ids) {
		t.Fatal(retired, err)
	}
	there := branchOf(small(t, 1, 3, 300)...)
	there.Files[ledger.ShardPath(replacement.ID)] = replacement.Content
	inv = load(t, there, c)
	good := ledger.Coverage{Replacement: replacement.ID, Sources: ids}
	if !covers(inv, good, replacement) {
		t.Error("true coverage is refused")
	}
	for name, bad := range map[string]ledger.Coverage{
		"a source too many":           {Replacement: replacement.ID, Sources: append(ids, shardID(2))},
		"a source that is not there":  {Replacement: replacement.ID, Sources: append(ids, shardID(9))},
		"another replacement":         {Replacement: shardID(2), Sources: ids},
		"the replacement as a source": {Replacement: replacement.ID, Sources: append(ids, replacement.ID)},
	} {
		if covers(inv, bad, replacement) {
			t.Errorf("%s: proved", name)
		}
	}
}

func TestOnlySourcesAreDeletedAndOnlyReplacementAndStateAdded(t *testing.T) {
	c := settings(t, "min-segments 2")
	snap := branchOf(small(t, 1, 3, 400)...)
	snap.Files["notes.md"] = []byte("kept")
	p := planOf(t, snap, c)
	r := prepare(t, p, snap, c)
	for path := range r.Change.Add {
		if path != ledger.CompactionFile && path != ledger.ShardPath(p.Replacement().Segment) {
			t.Errorf("adds %s", path)
		}
	}
	if len(r.Change.Delete) != 3 || r.Change.Message != "" {
		t.Errorf("%+v", r.Change.Delete)
	}
}

// Random ledgers, with chains, forks, shared and repeated records, damaged
// shards and unknown record types, keep every line byte for byte whatever is
// selected, and end where nothing is left to select.
func TestNoSequenceOfPlansLosesOrChangesALine(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		c := settings(t, "min-segments 2", fmt.Sprintf("max-segments %d", 2+random.IntN(20)))
		c.MaxSegmentBytes = 2000 + random.IntN(8000)
		var records []ledger.Record
		for i := range 20 + random.IntN(60) {
			var parents []ledger.Hash
			for range random.IntN(3) {
				if len(records) > 0 {
					parents = append(parents, records[random.IntN(len(records))].SHA())
				}
			}
			slices.SortFunc(parents, ledger.Hash.Compare)
			records = append(records, note(t, i, 200+random.IntN(900), slices.Compact(parents)...))
		}
		var contents [][]byte
		for range 5 + random.IntN(30) {
			var shard []byte
			for range 1 + random.IntN(3) {
				shard = append(shard, lines(records[random.IntN(len(records))])...)
			}
			switch random.IntN(8) {
			case 0:
				shard = append(shard, "{bad}\n"...)
			case 1:
				shard = append(shard, "torn"...)
			case 2:
				shard = append([]byte("\xef\xbb\xbf"), shard...)
			}
			contents = append(contents, shard)
		}
		before := branchOf(contents...)
		after := before
		for round := 0; ; round++ {
			next, rounds := run(t, after, c)
			sameHistory(t, before, next)
			if after = next; rounds < MaxRounds {
				break
			}
			if round > 10 {
				t.Fatal("compaction never comes to rest")
			}
		}
		if shards(after) > shards(before) {
			t.Error("compaction made the ledger longer")
		}
	}
}

func TestAStateOfTheFarFutureDoesNotHoldUpTheSchedule(t *testing.T) {
	for _, at := range []string{"2026-10-09T00:00:00Z", "9999-12-31T23:59:59.999Z"} {
		state := &State{LastAppliedAt: at, appliedAt: mustTime(t, at)}
		if due, reason := Due(Config{Schedule: Weekly}, Scheduled, state, testNow); !due {
			t.Errorf("%s: %s", at, reason)
		}
	}
}

func TestTheStateFileReadsBackAsItWasWritten(t *testing.T) {
	p := &Plan{ledger: "memory", trigger: Requested, id: ledger.Hash{1}}
	var s *State
	for i := range 30 {
		p.id = ledger.Hash{byte(i % 25)}
		s = s.after(p, testNow)
		read := parseState(s.text())
		if read == nil || string(read.text()) != string(s.text()) || !read.appliedAt.Equal(testNow) {
			t.Fatalf("%s is read as %v", s.text(), read)
		}
	}
	if len(s.RecentPlanIDs) != MaxRecentPlans || s.RecentPlanIDs[0] != p.id || !s.records(p.id) || s.records(ledger.Hash{99}) {
		t.Errorf("%v", s.RecentPlanIDs)
	}
}

func TestStatesThatTwoReadersUnderstandInTwoWaysAreIgnored(t *testing.T) {
	good := string((*State)(nil).after(&Plan{ledger: "memory", trigger: Requested}, testNow).text())
	if parseState([]byte(good)) == nil {
		t.Fatal("a good state is ignored")
	}
	for name, text := range map[string]string{
		"a member twice":   strings.Replace(good, `{`, `{"ledger":"memory",`, 1),
		"invalid UTF-8":    strings.Replace(good, "memory", "mem\xff", 1),
		"deep nesting":     strings.Replace(good, `"memory"`, strings.Repeat("[", 500)+strings.Repeat("]", 500), 1),
		"another spelling": strings.Replace(good, `"ledger"`, `"Ledger"`, 1),
		"a null":           strings.Replace(good, `"memory"`, `null`, 1),
		"month 13":         strings.Replace(good, "2026-10", "2026-13", 1),
		"two documents":    good + good,
		"nothing":          "",
	} {
		if parseState([]byte(text)) != nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestPlansOverTheBoundsAreRefusedBeforeTheyAreRead(t *testing.T) {
	c := settings(t, "min-segments 2")
	good := planOf(t, branchOf(small(t, 1, 3, 400)...), c).Text()
	if _, err := ParsePlan(append(good, []byte(strings.Repeat(" ", MaxPlanBytes-len(good)))...), c); err != nil {
		t.Errorf("a plan of exactly the largest size: %v", err)
	}
	for name, v := range map[string]struct{ plan, reason string }{
		"nothing":           {"", "invalid plan file"},
		"a byte too much":   {string(good) + strings.Repeat(" ", MaxPlanBytes-len(good)+1), "invalid plan file"},
		"too many values":   {"[" + strings.Repeat("0,", maxPlanCommas+1) + "0]", "too many values"},
		"deep nesting":      {strings.Repeat("[", 100_000), "unexpected plan structure"},
		"a byte order mark": {"\ufeff" + string(good), "malformed JSON"},
		"invalid UTF-8":     {strings.Replace(string(good), "memory", "mem\xffry", 1), "malformed JSON"},
		"trailing bytes":    {string(good) + "\x00", "malformed JSON"},
	} {
		var rejected *RejectedError
		if _, err := ParsePlan([]byte(v.plan), c); !errors.As(err, &rejected) || rejected.Reason != v.reason {
			t.Errorf("%s: %v, want %s", name, err, v.reason)
		}
	}
}
