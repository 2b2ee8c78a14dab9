package persist

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// BenchmarkChange makes a change of 50 records on a ledger of 20,000 of some 400
// bytes, once with what was restored in the staging and once without. "passes"
// is the time in SHA-256 passes over the ledger.
func BenchmarkChange(b *testing.B) {
	payload := fmt.Appendf(nil, `{"text":%q}`, strings.Repeat("memory ", 17))
	var (
		all     []ledger.Record
		parents []ledger.Hash
	)
	for i := range 20_050 {
		r := seal(b, ledger.Draft{ID: recordID(i), Parents: parents, Payload: payload, Timestamp: ledger.FormatTime(now), Type: "note"})
		all, parents = append(all, r), []ledger.Hash{r.SHA()}
	}
	restored := intoShards(1, all[:20_000])
	s := branchOf(restored)
	var text []byte
	for _, content := range s.Files {
		text = append(text, content...)
	}
	for name, files := range map[string]map[string]string{"alone": {}, "restored": restored} {
		staged := map[string]string{shard(5000): lines(all[20_000:]...)}
		for path, content := range files {
			staged[path] = content
		}
		dir := tree(b, staged)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, r, err := prepare(b, dir, options()).Change(s); err != nil || r.Records != 50 {
					b.Fatal(r.Records, err)
				}
			}
			took := float64(b.Elapsed()) / float64(b.N)
			start := time.Now()
			for range 5 {
				sha256.Sum256(text)
			}
			pass := float64(time.Since(start)) / 5
			b.ReportMetric(took/pass, "passes")
		})
	}
}
