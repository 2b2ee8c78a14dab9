package persist

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/thread"
)

// staged are n artifacts of a thread as thread-context would stage them on top of
// base.
func staged(t *testing.T, base ledger.Snapshot, n int) *thread.Staging {
	t.Helper()
	var entries []thread.Entry
	for i := range n {
		e, err := thread.ArtifactEntry(thread.Thread{Number: 1, RepositoryID: 2}, thread.Record{Kind: thread.Command, Source: thread.SourceComment, ID: int64(i + 1), CreatedAt: "2024-03-01T10:00:00Z"})
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, e)
	}
	s, err := thread.Stage(ledger.OpenSnapshot(base, ledger.DefaultLimits()), entries, now, rand.NewChaCha8([32]byte{}))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func texts(files map[string][]byte) map[string]string {
	out := map[string]string{}
	for path, content := range files {
		out[path] = string(content)
	}
	return out
}

func trustedOptions(limits ledger.Limits) TrustedOptions {
	return TrustedOptions{Limits: limits, Now: now, Ledger: "threads", Run: "Run: 1"}
}

// TestATrustedStagingIsPublishedInChunksOldestFirst publishes more than a run's patch
// bound, one commit after the other, while another writer commits between them.
func TestATrustedStagingIsPublishedInChunksOldestFirst(t *testing.T) {
	branch := ledger.Snapshot{Files: map[string][]byte{shard(1): []byte(lines(record(t, 1)))}}
	s := staged(t, branch, 500)
	limits := ledger.DefaultLimits()
	limits.MaxPatchBytes = 20 << 10
	p, err := PrepareTrusted(tree(t, texts(s.Files)), s.Digest, trustedOptions(limits))
	if err != nil || p.Len() != 500 {
		t.Fatal(err)
	}
	done, commits := 0, 0
	for left := 1; left > 0; commits++ {
		change, r, err := p.Change(branch)
		if err != nil || change.Empty() || len(change.Delete) > 0 || change.Message != fmt.Sprintf("persist: add %d records to threads\n\nRun: 1\n", r.Records) {
			t.Fatalf("%v, %+v, %q", err, r, change.Message)
		}
		files, size := maps.Clone(branch.Files), 0
		for path, content := range change.Add {
			files[path] = content
			size += len(content)
		}
		if size > limits.MaxPatchBytes {
			t.Errorf("a commit of %d bytes", size)
		}
		files[shard(100+commits)] = []byte(lines(record(t, 100+commits)))
		branch.Files = files
		done += r.Records
		l := ledger.OpenSnapshot(branch, limits)
		for i, one := range s.Records {
			if l.Has(one.SHA()) != (i < done) {
				t.Fatalf("record %d of %d is there: %v", i, done, l.Has(one.SHA()))
			}
		}
		left = r.Left
	}
	if change, r, err := p.Change(branch); err != nil || !change.Empty() || r.Records != 0 || done != 500 || commits < 5 {
		t.Errorf("%v, %+v, %d records, %d commits", err, r, done, commits)
	}
}

func TestATrustedStagingThatIsNotTheOneOfTheDigestIsRefused(t *testing.T) {
	s := staged(t, ledger.Snapshot{}, 3)
	none := thread.StagedDigest(nil)
	path := ledger.ShardPath("00000000-0000-4000-8000-000000000000")
	for name, c := range map[string]struct {
		change func(files map[string]string)
		digest string
	}{
		"no digest":          {nil, ""},
		"another digest":     {nil, none},
		"a shouted digest":   {nil, strings.ToUpper(s.Digest)},
		"a file more":        {func(files map[string]string) { files["notes.md"] = "x" }, s.Digest},
		"a hidden file more": {func(files map[string]string) { files[".x"] = "x" }, s.Digest},
		"a file beside":      {func(files map[string]string) { files["ledger/x"] = "x" }, s.Digest},
		"nothing left":       {func(files map[string]string) { clear(files) }, s.Digest},
		"another byte":       {func(files map[string]string) { files[path] = lines(record(t, 1)) }, s.Digest},
		"an agent's records": {func(files map[string]string) { clear(files); files[path] = lines(record(t, 1)) }, thread.StagedDigest(map[string][]byte{path: []byte(lines(record(t, 1)))})},
		"no shard":           {func(files map[string]string) { clear(files); files["a.md"] = "x" }, thread.StagedDigest(map[string][]byte{"a.md": []byte("x")})},
	} {
		t.Run(name, func(t *testing.T) {
			files := texts(s.Files)
			if c.change != nil {
				c.change(files)
			}
			dir := tree(t, files)
			if _, err := PrepareTrusted(dir, c.digest, trustedOptions(ledger.DefaultLimits())); !errors.Is(err, thread.ErrStaging) {
				t.Errorf("got %v", err)
			}
		})
	}
	if _, err := PrepareTrusted(tree(t, texts(s.Files)), s.Digest, trustedOptions(ledger.DefaultLimits())); err != nil {
		t.Errorf("the control: %v", err)
	}
	// An artifact keeps no empty folder.
	if p, err := PrepareTrusted(filepath.Join(t.TempDir(), "none"), none, trustedOptions(ledger.DefaultLimits())); err != nil || p.Len() != 0 {
		t.Errorf("no records: %v", err)
	}
}

func TestATrustedStagingOverflowsNoLedger(t *testing.T) {
	limits := ledger.DefaultLimits()
	limits.MaxShards = 1
	branch := ledger.Snapshot{Files: map[string][]byte{shard(1): []byte(lines(record(t, 1)))}}
	s := staged(t, branch, 1)
	p, err := PrepareTrusted(tree(t, texts(s.Files)), s.Digest, trustedOptions(limits))
	if err != nil {
		t.Fatal(err)
	}
	var limit *LimitError
	if change, r, err := p.Change(branch); !errors.As(err, &limit) || limit.Limit != "max-shards" || !change.Empty() || r.Records != 0 {
		t.Errorf("%v", err)
	}
	// A branch whose parents are gone admits nothing that continues them.
	if _, _, err := p.Change(ledger.Snapshot{}); err == nil || !strings.Contains(err.Error(), "not admitted") {
		t.Errorf("%v", err)
	}
}
