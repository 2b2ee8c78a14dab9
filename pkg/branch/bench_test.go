package branch

import (
	"context"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// ledgerOf makes shards of 100 KiB holding n lines that look like records:
// random identifiers in a fixed frame.
func ledgerOf(n int) map[string]string {
	files := map[string]string{}
	var shard strings.Builder
	for i := range n {
		sum := sha256.Sum256(fmt.Append(nil, i))
		line := fmt.Sprintf(`{"id":"ldg-%x-%x","parents":["sha256:%x"],"payload":{"actor":"agent-%d","note":"the build of component %d took %d ms on this machine and ended well, see the log for what it printed"},"sha":"sha256:%x","timestamp":"2026-01-01T00:00:00.000Z","type":"note","version":1}`,
			sum[:4], sum[4:16], sha256.Sum256(sum[:]), i%7, i%113, i%9973, sum)
		if shard.Len()+len(line) > 100<<10 {
			files[fmt.Sprintf("ledger/shards/%x.jsonl", sum[:16])] = shard.String()
			shard.Reset()
		}
		shard.WriteString(line + "\n")
	}
	files["ledger/shards/last.jsonl"] = shard.String()
	return files
}

func BenchmarkRead(b *testing.B) {
	r := newRepo(b)
	r.commit(testRef, ledgerOf(50_000))
	r.git("gc", "-q")
	remote := r.remote()
	b.Run("this package", func(b *testing.B) {
		for b.Loop() {
			s, err := Read(context.Background(), remote, testName, Limits{})
			if err != nil {
				b.Fatal(err)
			}
			var n int64
			for _, f := range s.Files {
				n += int64(len(f))
			}
			b.SetBytes(n)
		}
	})
	b.Run("git fetch", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			dir := filepath.Join(b.TempDir(), "c.git")
			r.run("", "init", "-q", "--bare", dir)
			b.StartTimer()
			r.run("", "-C", dir, "fetch", "-q", "--depth", "1", r.dir, testRef)
		}
	})
}
