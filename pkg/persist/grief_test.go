package persist

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// heads makes n records without parents.
func heads(t testing.TB, first, n int) []ledger.Record {
	t.Helper()
	records := make([]ledger.Record, n)
	for i := range records {
		records[i] = record(t, first+i)
	}
	return records
}

// intoShards puts records, small ones, into shards numbered from first on.
func intoShards(first int, records []ledger.Record) map[string]string {
	files := map[string]string{}
	for part := range slices.Chunk(records, 180) {
		files[shard(first+len(files))] = lines(part...)
	}
	return files
}

func TestTenThousandHeadsOnTheBranchDoNotKeepARecordFromBeingAdded(t *testing.T) {
	wide := heads(t, 1, 10_000)
	s := branchOf(intoShards(1000, wide))
	var parents []ledger.Hash
	for _, r := range wide[:64] {
		parents = append(parents, r.SHA())
	}
	_, r := run(t, map[string]string{shard(1): lines(record(t, 20_000, parents...))}, s, options())
	wantCounts(t, r, 1, 0, 0)
	if before, after := len(r.HeadsBefore), len(r.HeadsAfter); before != 10_000 || after != 10_000-63 {
		t.Errorf("%d heads and then %d", before, after)
	}
	// The same when maintenance put them into other shards meanwhile.
	staged := intoShards(1, wide)
	staged[shard(500)] = lines(record(t, 20_000, parents...))
	_, r = run(t, staged, s, options())
	wantCounts(t, r, 1, 10_000, 0)
}

func TestTenThousandStagedHeadsAddEight(t *testing.T) {
	root := record(t, 1)
	s := branchOf(map[string]string{shard(1000): lines(root)})
	files := intoShards(1, heads(t, 2, 10_000))
	// An honest chain beside them is the longest and is kept.
	honest := chain(t, 20_000, 20, root.SHA())
	files[shard(500)] = lines(honest...)
	c, r := run(t, files, s, options())
	wantCounts(t, r, 20+7, 0, 10_000-7)
	if r.Refused[ledger.RuleHeads] != 10_000-7 || len(r.HeadsAfter) != 8 {
		t.Errorf("refused %v, heads %d", r.Refused, len(r.HeadsAfter))
	}
	for _, h := range honest {
		if !slices.Contains(shas(t, s, c), h.SHA()) {
			t.Fatalf("a record of the honest chain is refused")
		}
	}
	if c, _ := run(t, files, apply(s, c), options()); !c.Empty() {
		t.Errorf("persisting again adds %d shards", len(c.Add))
	}
}

func TestAThousandShardsOfNewlinesAddNothingAndBlockNothing(t *testing.T) {
	s := &Staged{options: options(), base: &lazyBase{}}
	s.options, _ = s.options.check()
	// In memory: the test is about what is made of them.
	for i := range 1023 {
		s.entries = append(s.entries, &entry{path: shard(i), content: []byte(strings.Repeat("\n", 100<<10>>min(i, 4)))})
	}
	s.entries = append(s.entries, &entry{path: shard(2000), content: []byte(lines(record(t, 1)))})
	c, r, err := s.Change(branchOf(nil))
	if err != nil || r.Accepted.Count != 1 || len(c.Add) != 1 {
		t.Fatalf("%d accepted, %v", r.Accepted.Count, err)
	}
	if want := (100 << 10) * (16 + 8 + 4 + 2 + 1019) / 16; r.Rejected.Count != want || len(r.Rejected.Items) != MaxListed {
		t.Errorf("%d rejected, %d listed, want %d", r.Rejected.Count, len(r.Rejected.Items), want)
	}
	// More shards than a ledger may have are not scanned.
	s.entries = append(s.entries, &entry{path: shard(3000), content: []byte("\n")})
	var limit *LimitError
	if _, _, err := s.Change(branchOf(nil)); !errors.As(err, &limit) || limit.Limit != "max-shards" {
		t.Errorf("a shard more gives %v", err)
	}
}

func TestAPoisonPayloadOnTheBranchStaysAndBlocksNothing(t *testing.T) {
	// Nested too deep to be compacted; no admission lets it in, another writer may.
	deep := strings.Repeat("[", 31) + strings.Repeat("]", 31)
	poison := seal(t, ledger.Draft{ID: recordID(1), Payload: []byte(deep), Timestamp: ledger.FormatTime(now), Type: "note"})
	s := branchOf(map[string]string{shard(1): lines(poison) + "\xff\n" + strings.Repeat("x", 300)})
	next := record(t, 2, poison.SHA())
	_, r := run(t, map[string]string{shard(2): lines(next)}, s, options())
	wantCounts(t, r, 1, 0, 0)
	if r.Diagnostics != 2 {
		t.Errorf("%d diagnostics of the branch", r.Diagnostics)
	}
}

func TestLinesThatAreSlowToRefuseAreStillRefused(t *testing.T) {
	deep := `{"a":` + strings.Repeat("[", 20_000) + "\n"
	names := fmt.Sprintf(`{%s"a":1}`, strings.Repeat(`"a":1,`, 10_000)) + "\n"
	_, r := run(t, map[string]string{shard(1): deep + names + lines(record(t, 1)) + deep}, branchOf(nil), options())
	wantCounts(t, r, 1, 0, 3)
	for _, i := range r.Rejected.Items {
		if len(i.Reason) > 400 {
			t.Errorf("a reason has %d bytes", len(i.Reason))
		}
	}
}
