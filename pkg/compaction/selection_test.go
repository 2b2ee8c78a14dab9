package compaction

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/ledger"
)

func TestOneLargeSegmentThatSortsFirstCannotStopFiveHundredSmallOnes(t *testing.T) {
	others := small(t, 1, 500, 1500)
	for _, percent := range []int{60, 75, 99} {
		t.Run(fmt.Sprint(percent), func(t *testing.T) {
			c := settings(t)
			size := c.MaxSegmentBytes * percent / 100
			records := []ledger.Record{}
			for left := size; left > 0; left -= len(records[len(records)-1].Line()) + 1 {
				records = append(records, note(t, 1_000_000+len(records), min(left, 8000)))
			}
			records = records[:len(records)-1]
			before := branchOf(append([][]byte{lines(records...)}, others...)...)
			after, rounds := run(t, before, c)
			if n := shards(after); n >= 64 {
				t.Errorf("%d shards are left after %d rounds", n, rounds)
			}
			sameHistory(t, before, after)
		})
	}
}

func TestAPassThatTakesOneSegmentStartsAgainWithoutItsFirst(t *testing.T) {
	c := settings(t, "min-segments 2")
	big := lines(note(t, 1, 70_000))
	before := branchOf(big, lines(note(t, 2, 40_000)), lines(note(t, 3, 40_000)))
	if got := load(t, before, c).Select().Sources; !slices.Equal(got, []string{shardID(1), shardID(2)}) {
		t.Errorf("selected %v", got)
	}
}

func TestSegmentsOverThreeQuartersFullAreLeftAlone(t *testing.T) {
	c := settings(t, "min-segments 2")
	limit := c.MaxSegmentBytes * 3 / 4
	at, over := exactly(t, 1, limit), exactly(t, 2, limit+1)
	got := load(t, branchOf(over, at, lines(note(t, 3, 500)), lines(note(t, 4, 500))), c).Select()
	if !slices.Equal(got.Sources, []string{shardID(1), shardID(2), shardID(3)}) || got.Eligible != 3 {
		t.Errorf("selected %+v", got)
	}
}

func TestACandidateThatDoesNotFitIsPassedOver(t *testing.T) {
	c := settings(t, "min-segments 2")
	got := load(t, branchOf(lines(note(t, 1, 60_000)), lines(note(t, 2, 60_000)), lines(note(t, 3, 30_000))), c).Select().Sources
	if !slices.Equal(got, []string{shardID(0), shardID(2)}) {
		t.Errorf("selected %v", got)
	}
}

func TestSharedRecordsCountOnce(t *testing.T) {
	c := settings(t, "min-segments 2")
	a, b := note(t, 1, 60_000), note(t, 2, 10_000)
	got := load(t, branchOf(lines(a), lines(a, b), lines(note(t, 3, 20_000), b)), c).Select().Sources
	if !slices.Equal(got, []string{shardID(0), shardID(1), shardID(2)}) {
		t.Errorf("selected %v", got)
	}
}

func TestNoMoreThanMaxSegmentsAreSelected(t *testing.T) {
	c := settings(t, "min-segments 2", "max-segments 5")
	if got := load(t, branchOf(small(t, 1, 9, 400)...), c).Select().Sources; len(got) != 5 {
		t.Errorf("selected %d", len(got))
	}
}

func TestNoPlanIsMadeThatWouldBeRejectedForItsRecords(t *testing.T) {
	c := settings(t, "min-segments 2", "max-segments 256")
	c.MaxSegmentBytes = proofSegmentBytes
	records := make([]ledger.Record, 1000)
	for i := range records {
		records[i] = note(t, i, 0)
	}
	contents := make([][]byte, 110) // 1,000 records each, nearly all shared
	for i := range contents {
		contents[i] = lines(append(records[:999:999], note(t, 5000+i, 0))...)
	}
	snap := branchOf(contents...)
	p := planOf(t, snap, c)
	if p == nil || len(p.Sources()) != 100 {
		t.Fatalf("plan %v", p)
	}
	if _, err := ParsePlan(p.Text(), c); err != nil {
		t.Error(err)
	}
}

func TestAShardThatWasPutInTheReplacementsPlaceCannotStopCompaction(t *testing.T) {
	c := settings(t, "min-segments 2")
	before := branchOf(small(t, 1, 3, 400)...)
	blocked := planOf(t, before, c).Replacement().Segment
	before.Files[ledger.ShardPath(blocked)] = lines(note(t, 9, 400))[:200] // torn: no segment
	after, _ := run(t, before, c)
	if got := shards(after); got != 3 || string(after.Files[ledger.ShardPath(blocked)]) != string(before.Files[ledger.ShardPath(blocked)]) {
		t.Errorf("%d shards are left", got)
	}
	sameHistory(t, before, after)

	inv := load(t, before, c)
	if _, err := inv.Propose([]string{shardID(0), shardID(1), shardID(2)}); err == nil || !strings.Contains(err.Error(), "collide") {
		t.Errorf("a proposal that collides: %v", err)
	}
}

func TestAPoisonPayloadDoesNotStopTheOthersAndIsNamed(t *testing.T) {
	deep := `{"id":"ldg-00000000-0000-4000-8000-00000000dead","parents":[],"payload":` + strings.Repeat("[", 31) + strings.Repeat("]", 31) + `,`
	poison := sealDeep(t, deep)
	twice := note(t, 3, 300)
	contents := append([][]byte{poison, lines(twice, twice), []byte("\n"), lines(note(t, 4, 300))[:100], append([]byte{}, "\xff\n"...)}, small(t, 10, 40, 400)...)
	before := branchOf(contents...)
	before.Irregular[ledger.ShardPath(shardID(900))] = "symbolic link"
	before.Files[ledger.ShardPath(shardID(901))+"/inside"] = []byte("x")
	before.Files[ledger.ShardPath(shardID(902))] = lines(note(t, 5, ledger.DefaultLimits().MaxSegmentBytes+100))
	c := settings(t)
	inv := load(t, before, c)
	named := map[string]string{}
	for _, s := range inv.Skipped() {
		named[s.ID] = s.Reason
	}
	for id, part := range map[string]string{
		shardID(0): "nests more than 29 deep", shardID(1): "holds a record twice", shardID(2): "line 1 is no record",
		shardID(3): "line 1 is incomplete", shardID(4): "line 1 is no record", shardID(900): "not a regular file",
		shardID(901): "not a regular file", shardID(902): "over max-segment-kb",
	} {
		if !strings.Contains(named[id], part) {
			t.Errorf("%s is skipped for %q, want %q", id, named[id], part)
		}
	}
	if selection := inv.Select(); len(named) != 8 || inv.Len() != 40 || selection.Eligible != 40 || len(selection.Sources) != 40 {
		t.Errorf("%d skipped, %d segments, selected %+v", len(named), inv.Len(), selection)
	}
	after, _ := run(t, before, c)
	if got := shards(after); got != 8 {
		t.Errorf("%d shards are left", got)
	}
	sameHistory(t, before, after)
}

func TestProposalsAreJudgedLikeTheBuiltInSelection(t *testing.T) {
	c := settings(t, "min-segments 2", "max-segments 3")
	a := note(t, 1, 300)
	snap := branchOf(lines(a), lines(note(t, 2, 300)), lines(note(t, 3, 300)), lines(note(t, 4, 300)),
		lines(a, a), lines(note(t, 5, 90_000)), lines(note(t, 6, 90_000)), exactly(t, 7, c.MaxSegmentBytes))
	inv := load(t, snap, c)
	offered, reason := inv.Offer()
	if len(offered) != 6 || reason != "" {
		t.Fatalf("offers %d, %s", len(offered), reason)
	}
	for _, v := range []struct {
		name    string
		sources []string
		err     string
	}{
		{"one", []string{shardID(0)}, "names 1 segments"},
		{"too many", []string{shardID(0), shardID(1), shardID(2), shardID(3)}, "names 4 segments"},
		{"one twice", []string{shardID(1), shardID(0), shardID(1)}, "twice"},
		{"one that is not there", []string{shardID(0), shardID(99)}, "not offered"},
		{"a path", []string{shardID(0), "../" + shardID(1)}, "not offered"},
		{"one that is skipped", []string{shardID(0), shardID(4)}, "not offered"},
		{"a full one", []string{shardID(0), shardID(7)}, "not offered"},
		{"more than fits", []string{shardID(5), shardID(6)}, "does not fit"},
	} {
		if _, _, err := inv.PlanFromSources(v.sources, Requested, testCommit, testNow); err == nil || !strings.Contains(err.Error(), v.err) {
			t.Errorf("%s: %v, want %s", v.name, err, v.err)
		}
	}
	p, selection, err := inv.PlanFromSources([]string{shardID(2), shardID(0)}, Requested, testCommit, testNow)
	if err != nil || len(p.Sources()) != 2 || p.Sources()[0].Segment != shardID(0) || p.Trigger() != Requested || selection.Eligible != 6 {
		t.Errorf("%v, %+v, %v", p, selection, err)
	}
	if r := prepare(t, p, snap, c); r.Status != Ready {
		t.Errorf("%s: %s", r.Status, r.Reason)
	}
	p, selection, err = inv.PlanFromSources(nil, Requested, testCommit, testNow)
	if p != nil || err != nil || selection.Reason != "compaction script selected no segments" {
		t.Errorf("%v, %+v, %v", p, selection, err)
	}
	few := load(t, branchOf(lines(a)), c)
	if p, selection, err = few.PlanFromSources(nil, Requested, testCommit, testNow); p != nil || err != nil || !strings.Contains(selection.Reason, "needs at least 2") {
		t.Errorf("%v, %+v, %v", p, selection, err)
	}
}

func TestALedgerOfMoreShardsThanAreReadIsAnError(t *testing.T) {
	c := settings(t)
	snap := branchOf()
	line := lines(note(t, 1, 0))
	for i := range ledger.MaxReadShards {
		snap.Files[ledger.ShardPath(shardID(i))] = line
	}
	if _, err := Load(snap, c); err != nil {
		t.Fatal(err)
	}
	snap.Files[ledger.ShardDir+"/notes"+ledger.ShardExt] = line
	if _, err := Load(snap, c); err == nil || !strings.Contains(err.Error(), "8193 shards") {
		t.Errorf("%v", err)
	}
	if _, err := Prepare(&Plan{}, snap, c, testNow); err == nil {
		t.Error("a ledger that was not read whole is judged")
	}
}
