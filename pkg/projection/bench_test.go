package projection

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/repo-memory/ledger/pkg/ledger"
)

const benchRecords = 50_000

// chain is a ledger of one long chain, as agents write it: records of about 400
// bytes, all of one type, in shards of 100 KiB.
func chain(b *testing.B, n int) *ledger.Ledger {
	rng := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("the runner restores its ledger before an agent asks what was learned about flaky tests in this repository")
	snap := ledger.Snapshot{Files: map[string][]byte{}}
	var parents []ledger.Hash
	var shard []byte
	shards := 0
	flush := func() {
		shards++
		snap.Files[ledger.ShardPath(fmt.Sprintf("00000000-0000-4000-8000-%012d", shards))] = shard
		shard = nil
	}
	for i := range n {
		var text []string
		for range 14 {
			text = append(text, words[rng.IntN(len(words))])
		}
		payload := fmt.Sprintf(`{"actor":"agent-%d","score":%d,"seen":{"run":%d},"text":%q}`, rng.IntN(500), rng.IntN(100_000), i, strings.Join(text, " "))
		r, err := ledger.Seal(ledger.Draft{ID: fmt.Sprintf("ldg-00000000-0000-4000-8000-%012d", i), Parents: parents, Payload: []byte(payload),
			Timestamp: ledger.FormatTime(time.Unix(1764471600, 0)), Type: "note"})
		if err != nil {
			b.Fatal(err)
		}
		parents = []ledger.Hash{r.SHA()}
		if len(shard)+len(r.Line())+1 > 100<<10 {
			flush()
		}
		shard = append(append(shard, r.Line()...), '\n')
	}
	flush()
	return ledger.OpenSnapshot(snap, ledger.DefaultLimits())
}

func BenchmarkProjection(b *testing.B) {
	l := chain(b, benchRecords)
	if l.Len() != benchRecords {
		b.Fatal(l.Len(), l.Diagnostics()[:1])
	}
	p := New(l)
	defer p.Close()
	ask := func(b *testing.B, q Query, rows int) {
		page, err := p.Query(context.Background(), q)
		if err != nil || len(page.Rows) != rows {
			b.Fatalf("%d rows, %v", len(page.Rows), err)
		}
	}
	for _, c := range []struct {
		name, query string
		rows        int
	}{
		{"type only", `{"type":"note"}`, 100},
		{"eq with rows", `{"type":"note","where":{"payload.actor":{"eq":"agent-7"}}}`, 87},
		{"eq without", `{"type":"note","where":{"payload.actor":{"eq":"nobody"}}}`, 0},
		{"gt half", `{"type":"note","where":{"payload.score":{"gt":50000}}}`, 100},
		{"gt just above the listed", `{"type":"note","where":{"payload.score":{"gt":95950}}}`, 100},
		{"gt just listed", `{"type":"note","where":{"payload.score":{"gt":96200}}}`, 100},
		{"gt without", `{"type":"note","where":{"payload.score":{"gt":100000}}}`, 0},
		{"in 32", `{"type":"note","where":{"payload.seen.run":{"in":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32]}}}`, 32},
		{"two conditions", `{"type":"note","where":{"payload.actor":{"eq":"agent-7"},"payload.score":{"gt":50000}}}`, 35},
		{"two large ones that exclude each other", `{"type":"note","where":{"payload.seen.run":{"lt":25000},"payload.score":{"lt":50000}}}`, 100},
	} {
		q := query(b, c.query)
		b.Run(c.name+"/first use", func(b *testing.B) {
			for b.Loop() {
				p.drop()
				ask(b, q, c.rows)
			}
		})
		b.Run(c.name+"/page", func(b *testing.B) {
			ask(b, q, c.rows)
			for b.Loop() {
				ask(b, q, c.rows)
			}
		})
	}
}
