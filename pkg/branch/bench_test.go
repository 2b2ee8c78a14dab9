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

// BenchmarkHistory walks 3,000 commits that each append a line to a shard, as
// writers do that keep one shard open, and reads both sides of every change.
func BenchmarkHistory(b *testing.B) {
	r := newRepo(b)
	var stream strings.Builder
	shard, text, n := "", "", 0
	for i := range 3000 {
		sum := sha256.Sum256(fmt.Append(nil, i))
		if shard == "" || len(text) > 100<<10 {
			shard, text = fmt.Sprintf("ledger/shards/%x.jsonl", sum[:16]), ""
		}
		text += fmt.Sprintf("{\"id\":\"%x\",\"payload\":{\"note\":\"%s\"},\"sha\":\"%x\"}\n", sum[:16], strings.Repeat("what happened then ", 12), sum)
		fmt.Fprintf(&stream, "commit %s\ncommitter T <t@x> %d +0000\ndata 1\nm\nM 100644 inline %s\ndata %d\n%s\n", testRef, 1_700_000_000+i, shard, len(text), text)
	}
	r.run(stream.String(), "-C", r.dir, "fast-import", "--quiet")
	r.git("gc", "-q")
	remote := r.remote()
	for b.Loop() {
		n = 0
		err := History(context.Background(), remote, testName, "", Limits{}, func(c Commit) error {
			for _, list := range c.Changes {
				for _, f := range list {
					old, err := f.Old.Bytes()
					if err != nil {
						return err
					}
					now, err := f.New.Bytes()
					if err != nil {
						return err
					}
					n += len(now) - len(old)
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n), "bytes")
}
