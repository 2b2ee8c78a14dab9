package publish

import (
	"context"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// benchmarkShards makes shards of 100 KiB with n lines of about 400 bytes that
// look like records: random identifiers in a fixed frame.
func benchmarkShards(n int, salt string) map[string]string {
	shards := map[string]string{}
	var shard strings.Builder
	name := ""
	for i := range n {
		sum := sha256.Sum256(fmt.Append(nil, salt, i))
		line := fmt.Sprintf(`{"id":"ldg-%x","parents":["sha256:%x"],"payload":{"actor":"agent-%d","note":"the build of component %d took %d ms on this machine and ended well, see the log for what it printed"},"sha":"sha256:%x","timestamp":"2026-01-01T00:00:00.000Z","type":"note","version":1}`+"\n",
			sum[:16], sha256.Sum256(sum[:]), i%7, i%113, i%9973, sum)
		if name == "" || shard.Len()+len(line) > 100<<10 {
			if name != "" {
				shards[name] = shard.String()
			}
			name = fmt.Sprintf("ledger/shards/%x.jsonl", sum[:16])
			shard.Reset()
		}
		shard.WriteString(line)
	}
	shards[name] = shard.String()
	return shards
}

// BenchmarkPersist compares an Update that adds one shard of 50 records to a
// branch of 50,000 with the same by the git command line, without a checkout:
// fetch --depth 1, read-tree, hash-object, update-index, write-tree,
// commit-tree, push. Both alternate in one run on equal remotes, so that what
// else the machine does falls on both; the ratio is that of the medians.
func BenchmarkPersist(b *testing.B) {
	for _, transport := range []string{"path", "https"} {
		b.Run(transport, func(b *testing.B) {
			ours, theirs := newRepo(b), newRepo(b)
			base := benchmarkShards(50_000, "base")
			for _, r := range []*repo{ours, theirs} {
				r.commit(testRef, base)
				r.git("gc", "-q")
			}
			remote, url := ours.remote(), "file://"+theirs.dir
			var insecure []string
			if transport == "https" {
				remote = serve(b, ours).remote(b, "")
				url = serve(b, theirs).URL + "/remote.git"
				insecure = []string{"-c", "http.sslVerify=false", "-c", "http.postBuffer=1000000000"}
			}
			var here, there []time.Duration
			round := 0
			for b.Loop() {
				round++
				var path, text string
				for path, text = range benchmarkShards(50, fmt.Sprint("new", round)) {
				}
				start := time.Now()
				if _, err := Update(context.Background(), remote, testName, Options{}, func(s ledger.Snapshot) (ledger.Change, error) {
					if s.Files[path] != nil {
						return ledger.Change{}, nil
					}
					return ledger.Change{Add: map[string][]byte{path: []byte(text)}, Message: "ledger: persist 50 records"}, nil
				}); err != nil {
					b.Fatal(err)
				}
				here = append(here, time.Since(start))
				dir := filepath.Join(b.TempDir(), "clone.git")
				theirs.run("", "init", "-q", "--bare", dir)
				start = time.Now()
				commandLine(theirs, dir, url, insecure, path, text)
				there = append(there, time.Since(start))
			}
			slices.Sort(here)
			slices.Sort(there)
			a, z := here[len(here)/2], there[len(there)/2]
			b.ReportMetric(float64(a.Microseconds())/1000, "ms/Update")
			b.ReportMetric(float64(z.Microseconds())/1000, "ms/git")
			b.ReportMetric(float64(a)/float64(z), "ratio")
		})
	}
}

func commandLine(r *repo, dir, url string, flags []string, path, text string) {
	git := func(stdin string, args ...string) string {
		return r.run(stdin, append(append([]string{"-C", dir}, flags...), args...)...)
	}
	git("", "fetch", "-q", "--depth", "1", url, testRef)
	git("", "read-tree", "FETCH_HEAD")
	blob := git(text, "hash-object", "-w", "--stdin")
	git("", "update-index", "--add", "--cacheinfo", "100644,"+blob+","+path)
	commit := git("m", "commit-tree", "-p", "FETCH_HEAD", git("", "write-tree"))
	git("", "push", "-q", url, commit+":"+testRef)
}
