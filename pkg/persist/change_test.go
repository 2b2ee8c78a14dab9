package persist

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/txlog"
)

func TestANewHeadThatHoldsTheWorkHasNothingLeftToDo(t *testing.T) {
	s := branchOf(map[string]string{shard(1): lines(record(t, 1)), "a.md": "old\n"})
	files := map[string]string{shard(2): lines(chain(t, 10, 5)...) + "bad\n", "a.md": "new\n", "b.md": "new\n", ".hidden.md": "x"}
	staged := prepare(t, tree(t, files), based(s))
	first, r, err := staged.Change(s)
	if err != nil {
		t.Fatal(err)
	}
	wantCounts(t, r, 7, 0, 2)
	again, r, err := staged.Change(apply(s, first))
	if err != nil || !again.Empty() {
		t.Errorf("the second change adds %q: %v", again.Add, err)
	}
	wantCounts(t, r, 0, 7, 2)
	// The same change on a head that others moved.
	other, r, err := staged.Change(apply(s, ledger.Change{Add: map[string][]byte{shard(5): []byte(lines(record(t, 99)))}}))
	if err != nil {
		t.Fatal(err)
	}
	wantCounts(t, r, 7, 0, 2)
	for path, content := range first.Add {
		if string(other.Add[path]) != string(content) {
			t.Errorf("%s differs on another head", path)
		}
	}
}

// hostileStaging makes shards of records, good and bad, that name each other in
// all ways.
func hostileStaging(t testing.TB, random *rand.Rand, known []ledger.Record) map[string]string {
	t.Helper()
	files := map[string]string{}
	pool := slices.Clone(known)
	for i := range 1 + random.IntN(4) {
		var text strings.Builder
		for range random.IntN(12) {
			var parents []ledger.Hash
			for range random.IntN(3) {
				if len(pool) > 0 {
					parents = append(parents, pool[random.IntN(len(pool))].SHA())
				}
			}
			slices.SortFunc(parents, ledger.Hash.Compare)
			d := ledger.Draft{ID: recordID(random.IntN(60)), Parents: slices.Compact(parents), Payload: fmt.Appendf(nil, "%d", random.IntN(1000)),
				Timestamp: ledger.FormatTime(now), Type: []string{"note", "note", "note", "note", "memory.ref"}[random.IntN(5)]}
			r := seal(t, d)
			switch random.IntN(10) {
			case 0:
				text.WriteString("not a record\n")
			case 1:
				text.WriteString(lines(r, r))
			default:
				text.WriteString(lines(r))
			}
			if random.IntN(8) > 0 {
				pool = append(pool, r) // else its children lack a parent
			}
		}
		files[shard(i)] = text.String()
	}
	return files
}

func TestWhateverIsStagedIsAdmittedOrRefusedOnceAndForAll(t *testing.T) {
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 7))
		old := chain(t, 100, 1+random.IntN(4))
		s := branchOf(map[string]string{shard(50): lines(old...)})
		files := hostileStaging(t, random, old)
		c, r := run(t, files, s, options())
		// Every line is one item.
		n, whole := 0, 0
		for _, text := range files {
			n += strings.Count(text, "\n")
			if text == "" {
				whole++
			}
		}
		if got := r.Accepted.Count + r.Ignored.Count + r.Rejected.Count; got != n+whole {
			t.Errorf("seed %d: %d items, want %d lines and %d empty shards", seed, got, n, whole)
		}
		for name, l := range map[string]List{"accepted": r.Accepted, "ignored": r.Ignored, "rejected": r.Rejected} {
			if len(l.Items) != l.Count {
				t.Errorf("seed %d: %s lists %d of %d", seed, name, len(l.Items), l.Count)
			}
		}
		// A second run on what the first one made adds nothing.
		again, _, err := prepare(t, tree(t, files), options()).Change(apply(s, c))
		if err != nil || !again.Empty() {
			t.Fatalf("seed %d: persisting again adds %d shards: %v", seed, len(again.Add), err)
		}
	}
}

func TestHowManyHeadsAStagingAddsIsBoundForAllItsRuns(t *testing.T) {
	root := record(t, 1)
	s := branchOf(map[string]string{shard(500): lines(root)})
	for _, perShard := range []int{1, 3, 40} {
		files := map[string]string{}
		for i := range 40 / perShard {
			var heads []ledger.Record
			for j := range perShard {
				heads = append(heads, record(t, 10+i*perShard+j, root.SHA()))
			}
			files[shard(i)] = lines(heads...)
		}
		head := s
		for n := range 3 {
			c, r := run(t, files, head, options())
			if n == 0 && (r.Records != 8 || r.Refused[ledger.RuleHeads] != 40/perShard*perShard-8) || n > 0 && !c.Empty() {
				t.Errorf("%d a shard, run %d: %d records, refused %v", perShard, n+1, r.Records, r.Refused)
			}
			head = apply(head, c)
		}
	}
}

func TestTheChangeIsBoundAndStatesLimitMeasureAndAllowance(t *testing.T) {
	staged := chain(t, 1, 8)
	size := len(lines(staged...))
	for _, c := range []struct {
		name    string
		patch   int
		shards  int // on the branch
		allowed int
		limit   string
	}{
		{"at the patch bound", size, 0, 10, ""},
		{"one over it", size - 1, 0, 10, "max-patch-kb"},
		{"the last shard", size, 9, 10, ""},
		{"one shard over", size, 10, 10, "max-shards"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := options()
			o.Limits.MaxPatchBytes, o.Limits.MaxShards = c.patch, c.allowed
			s := branchOf(nil)
			for i := range c.shards {
				s.Files[shard(100+i)] = []byte(lines(record(t, 100+i)))
			}
			change, r, err := prepare(t, tree(t, map[string]string{shard(1): lines(staged...)}), o).Change(s)
			var limit *LimitError
			switch {
			case c.limit == "" && (err != nil || r.Records != 8):
				t.Errorf("%d records, %v", r.Records, err)
			case c.limit != "" && (!errors.As(err, &limit) || limit.Limit != c.limit || limit.Measured != limit.Allowed+1 || !change.Empty()):
				t.Errorf("error is %v", err)
			}
		})
	}
	// However much the branch holds.
	o := options()
	o.Limits.MaxPatchBytes = size
	s := branchOf(map[string]string{shard(100): lines(chain(t, 1000, 200)...)})
	if _, r, err := prepare(t, tree(t, map[string]string{shard(1): lines(staged...)}), o).Change(s); err != nil || r.Records != 8 {
		t.Errorf("on a large branch: %v", err)
	}
}

func TestCompactionIsAskedForFromThreeQuartersOfTheShardBound(t *testing.T) {
	for shards, want := range map[int]bool{4: false, 5: true, 6: true} {
		o := options()
		o.Limits.MaxShards = 8
		s := branchOf(nil)
		for i := range shards {
			s.Files[shard(100+i)] = []byte(lines(record(t, 100+i)))
		}
		// With one shard more, and with none.
		_, r, err := prepare(t, tree(t, map[string]string{shard(1): lines(record(t, 1))}), o).Change(s)
		if err != nil || r.CompactionNeeded != want {
			t.Errorf("%d shards and one: %t, %v", shards, r.CompactionNeeded, err)
		}
		if _, r, err = prepare(t, tree(t, nil), o).Change(s); err != nil || r.CompactionNeeded != (shards == 6) {
			t.Errorf("%d shards: %t, %v", shards, r.CompactionNeeded, err)
		}
	}
}

func TestALedgerThatWasNotReadWholeIsNotAddedTo(t *testing.T) {
	o := options()
	o.Limits.MaxShards = 2
	s := branchOf(map[string]string{shard(1): "", shard(2): "", shard(3): ""})
	c, _, err := prepare(t, tree(t, map[string]string{"a.md": "x"}), o).Change(s)
	if err == nil || !c.Empty() || !strings.Contains(err.Error(), "compact") {
		t.Errorf("error is %v", err)
	}
}

func TestTheValidationScriptSeesTheChangeOnEveryHeadAndFailsClosed(t *testing.T) {
	calls := 0
	var verdict error
	o := options()
	o.Validate = func(files []File, records []ledger.Record) error {
		calls++
		if len(files) != 2 || files[0].Path != "a.md" || files[0].Text != "text" || !strings.HasPrefix(files[1].Path, "ledger/shards/") ||
			!strings.HasSuffix(files[1].Text, "\n") || len(records) != 3 {
			t.Errorf("the script is given %d files, %d records", len(files), len(records))
		}
		return verdict
	}
	staged := chain(t, 1, 3)
	s := prepare(t, tree(t, map[string]string{"a.md": "text", shard(1): lines(staged...)}), o)
	first, _, err := s.Change(branchOf(nil))
	if err != nil || first.Empty() || calls != 1 {
		t.Fatalf("%d calls, %v", calls, err)
	}
	verdict = errors.New("rejected")
	c, _, err := s.Change(branchOf(map[string]string{"other.md": "x"}))
	if !errors.Is(err, verdict) || !c.Empty() || calls != 2 {
		t.Errorf("%d calls, %v", calls, err)
	}
	// Nothing to add is nothing to judge.
	if c, _, err := s.Change(apply(branchOf(nil), first)); err != nil || !c.Empty() || calls != 2 {
		t.Errorf("%d calls, %v", calls, err)
	}
}

func TestTheTransactionLogIsComparedAndDecidesNothing(t *testing.T) {
	staged := chain(t, 1, 3)
	old := record(t, 50)
	s := branchOf(map[string]string{shard(9): lines(old)})
	files := map[string]string{shard(1): lines(append(staged, old)...)}
	event := func(r ledger.Record) txlog.Event { return txlog.EventOf(r, now) }
	lost := record(t, 77)
	forged := event(staged[1])
	forged.Type = "other"
	o := options()
	o.Log = &txlog.Listing{Events: []txlog.Event{event(staged[0]), forged, event(lost)}}
	c, r := run(t, files, s, o)
	if r.Gaps == nil || !slices.Equal(r.Gaps.Unlogged, []ledger.Hash{staged[2].SHA()}) ||
		!slices.Equal(r.Gaps.Unrecorded, []ledger.Hash{lost.SHA()}) || !slices.Equal(r.Gaps.Differing, []ledger.Hash{staged[1].SHA()}) {
		t.Errorf("gaps are %+v", r.Gaps)
	}
	without, r := run(t, files, s, options())
	if r.Gaps != nil || len(without.Add) != len(c.Add) || r.Records != 3 {
		t.Errorf("the log decides: %d and %d shards", len(without.Add), len(c.Add))
	}
	// A second run compares the same.
	_, r = run(t, files, apply(s, c), o)
	if !slices.Equal(r.Gaps.Unlogged, []ledger.Hash{staged[2].SHA()}) {
		t.Errorf("gaps of a second run are %+v", r.Gaps)
	}
}

func TestTheCommitMessageNamesCountsLedgerAndRun(t *testing.T) {
	o := options()
	o.Run = "Run: https://example.invalid/o/r/actions/runs/1"
	c, _ := run(t, map[string]string{"a.md": "secret", shard(1): lines(record(t, 1))}, branchOf(nil), o)
	if c.Message != "persist: add 1 record and 1 file to memory\n\nRun: https://example.invalid/o/r/actions/runs/1\n" {
		t.Errorf("message is %q", c.Message)
	}
}

func TestListsNameTheFirstItemsAndCountAll(t *testing.T) {
	files := map[string]string{}
	for i := range 12 {
		files[shard(i)] = strings.Repeat("x\n", 101)
	}
	_, r := run(t, files, branchOf(nil), options())
	if r.Rejected.Count != 1212 || len(r.Rejected.Items) != MaxListed {
		t.Errorf("%d of %d are listed", len(r.Rejected.Items), r.Rejected.Count)
	}
	if i, ok := find(r.Rejected, shard(1), 1); !ok || i.Reason == "" {
		t.Errorf("the second shard is not named after 100 lines of the first: %+v", i)
	}
}
