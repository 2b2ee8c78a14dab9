package compaction

import (
	"testing"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// tiny is a ledger of as many shards as compaction reads, one record each.
func tiny(b *testing.B) ledger.Snapshot { return branchOf(small(b, 1, ledger.MaxReadShards, 400)...) }

// large is a ledger of 50,000 chained records of about 400 bytes in shards of
// half the segment size, so that every one is a candidate.
func large(b *testing.B) ledger.Snapshot {
	var contents [][]byte
	var shard []byte
	var parents []ledger.Hash
	for i := range 50_000 {
		r := note(b, i, 330, parents...)
		parents = []ledger.Hash{r.SHA()}
		if len(shard)+len(r.Line()) >= 50<<10 {
			contents = append(contents, shard)
			shard = nil
		}
		shard = append(append(shard, r.Line()...), '\n')
	}
	return branchOf(append(contents, shard)...)
}

func BenchmarkPlan(b *testing.B) {
	for name, make := range map[string]func(*testing.B) ledger.Snapshot{"8192 tiny shards": tiny, "50000 records": large} {
		b.Run(name, func(b *testing.B) {
			snap, c := make(b), settings(b, "max-segments 256")
			for b.Loop() {
				if planOf(b, snap, c) == nil {
					b.Fatal("nothing is planned")
				}
			}
		})
	}
}

func BenchmarkApply(b *testing.B) {
	for name, make := range map[string]func(*testing.B) ledger.Snapshot{"8192 tiny shards": tiny, "50000 records": large} {
		b.Run(name, func(b *testing.B) {
			snap, c := make(b), settings(b, "max-segments 256")
			text := planOf(b, snap, c).Text()
			for b.Loop() {
				p, err := ParsePlan(text, c)
				if err != nil {
					b.Fatal(err)
				}
				if r := prepare(b, p, snap, c); r.Status != Ready {
					b.Fatal(r.Reason)
				}
			}
		})
	}
}

// Every candidate alone fits, no two do, and each shares a record with others:
// the selection with the most work.
func BenchmarkSelectNothing(b *testing.B) {
	c := settings(b)
	c.MaxSegmentBytes = 2000
	shared := note(b, 9_000_000, 400)
	contents := make([][]byte, ledger.MaxReadShards)
	for i := range contents {
		contents[i] = lines(note(b, i, 1100), shared)
	}
	inv := load(b, branchOf(contents...), c)
	for b.Loop() {
		if inv.Select().Sources != nil {
			b.Fatal("something is selected")
		}
	}
}

func BenchmarkHostilePlan(b *testing.B) {
	c := settings(b)
	text := make([]byte, 0, MaxPlanBytes)
	text = append(text, `{"sources":[`...)
	for range maxPlanCommas - 2 {
		text = append(text, `[],`...)
	}
	text = append(text, `[]]}`...)
	for b.Loop() {
		if _, err := ParsePlan(text, c); err == nil {
			b.Fatal("accepted")
		}
	}
}
