package thread

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// stagedEntries are n artifacts to be recorded.
func stagedEntries(t testing.TB, n int) []Entry {
	t.Helper()
	var entries []Entry
	for i := range n {
		e, err := ArtifactEntry(testThread, Record{Kind: HumanFeedback, Source: SourceComment, ID: int64(i + 1), URL: "https://x/1", UserID: 1, UserLogin: "al", CreatedAt: earlier, AuthorAssociation: "OWNER"})
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, e)
	}
	return entries
}

func mustStage(t testing.TB, base *ledger.Ledger, entries []Entry) *Staging {
	t.Helper()
	s, err := Stage(base, entries, now, &countingReader{seed: 99})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTheDigestIsThatOfSha256sum(t *testing.T) {
	// printf a > x; printf b > y; sha256sum x y | sha256sum
	if got := StagedDigest(map[string][]byte{"y": []byte("b"), "x": []byte("a")}); got != "sha256:7ab74c951934791b51756c0e45fde1a7c8d8d2a8f71dfc222df04ff9fafb3cfe" {
		t.Errorf("got %s", got)
	}
	if got := StagedDigest(nil); got != "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" {
		t.Errorf("no files give %s", got)
	}
}

func TestAStagingIsAcceptedAsItWasMade(t *testing.T) {
	for _, n := range []int{0, 1, 2, 700} {
		made := mustStage(t, newWorld(t).ledger(), stagedEntries(t, n))
		opened, err := OpenStaging(made.Files, made.Digest)
		if err != nil {
			t.Fatal(err)
		}
		if len(opened.Records) != n || !slices.EqualFunc(made.Records, opened.Records, func(a, b ledger.Record) bool { return a.SHA() == b.SHA() }) {
			t.Errorf("%d records became %d, or another order", n, len(opened.Records))
		}
	}
}

func TestAStagingThatAnybodyTouchedIsRefused(t *testing.T) {
	made := mustStage(t, newWorld(t).ledger(), stagedEntries(t, 3))
	other := mustStage(t, newWorld(t).ledger(), stagedEntries(t, 2))
	path := slices.Collect(maps.Keys(made.Files))[0]
	note, err := ledger.Seal(ledger.Draft{ID: "ldg-00000000-0000-4000-8000-000000000001", Payload: []byte("{}"), Timestamp: ledger.FormatTime(now), Type: "note"})
	if err != nil {
		t.Fatal(err)
	}
	seal := func(id int, typ string, payload string, parents ...ledger.Hash) ledger.Record {
		r, err := ledger.Seal(ledger.Draft{ID: fmt.Sprintf("ldg-00000000-0000-4000-8000-%012d", id), Payload: []byte(payload), Timestamp: ledger.FormatTime(now), Type: typ, Parents: parents})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	valid := string(stagedEntries(t, 1)[0].Payload)
	packed := func(records ...ledger.Record) map[string][]byte {
		files, err := pack(records, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	first := seal(1, TypeArtifact, valid)
	with := func(path string, content []byte) map[string][]byte {
		files := maps.Clone(made.Files)
		files[path] = content
		return files
	}
	for name, c := range map[string]struct {
		files  map[string][]byte
		digest string
	}{
		"without a digest":                   {made.Files, ""},
		"with a digest of no form":           {made.Files, strings.TrimPrefix(made.Digest, "sha256:")},
		"with another one's digest":          {made.Files, other.Digest},
		"swapped for another staging":        {other.Files, made.Digest},
		"with a file taken away":             {nil, made.Digest},
		"with a file added":                  {with("note.md", []byte("x")), made.Digest},
		"with a byte changed":                {with(path, bytes.Replace(made.Files[path], []byte("OWNER"), []byte("OWNEr"), 1)), made.Digest},
		"with a file under another name":     {map[string][]byte{"ledger/shards/00000000-0000-4000-8000-000000000000.jsonl": made.Files[path]}, made.Digest},
		"of another type":                    {packed(note), ""},
		"of a type that only starts alike":   {packed(seal(1, "thread.other", valid)), ""},
		"of memory":                          {packed(seal(1, "memory.ref", valid)), ""},
		"with a payload of another form":     {packed(seal(1, TypeArtifact, `{"v":1}`)), ""},
		"with a body in a payload":           {packed(seal(1, TypeArtifact, strings.Replace(valid, `"created_at"`, `"body":"x","created_at"`, 1))), ""},
		"with trust in a payload":            {packed(seal(1, TypeArtifact, strings.Replace(valid, `,"url"`, `,"trusted":true,"url"`, 1))), ""},
		"of a later version":                 {packed(seal(1, TypeArtifact, strings.Replace(valid, `"v":1`, `"v":2`, 1))), ""},
		"of two chains":                      {packed(first, seal(2, TypeArtifact, valid)), ""},
		"of a fork":                          {packed(first, seal(2, TypeArtifact, valid, first.SHA()), seal(3, TypeArtifact, valid, first.SHA())), ""},
		"with a member missing":              {packed(seal(1, TypeArtifact, strings.Replace(valid, `,"url":"https://x/1"`, "", 1))), ""},
		"with a shard outside of its folder": {map[string][]byte{strings.TrimPrefix(path, "ledger/shards/"): made.Files[path]}, ""},
		"with an ordinary file":              {map[string][]byte{"notes.md": []byte("x")}, ""},
		"with a coverage declaration":        {map[string][]byte{"ledger/coverage/x.jsonl": []byte("{}\n")}, ""},
		"with a shard that is none":          {map[string][]byte{path: []byte("{}\n")}, ""},
		"with a shard without its last end":  {map[string][]byte{path: bytes.TrimSuffix(made.Files[path], []byte("\n"))}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			digest := c.digest
			if digest == "" && name != "without a digest" {
				digest = StagedDigest(c.files) // the digest alone is no pass
			}
			_, err := OpenStaging(c.files, digest)
			if !errors.Is(err, ErrStaging) || strings.Contains(err.Error(), "there is no staged-digest") != (digest == "") {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestAStagingIsPublishedOldestFirstInChunksOfThePatchBound(t *testing.T) {
	w := newWorld(t)
	limits := ledger.DefaultLimits()
	limits.MaxPatchBytes = 10 << 10
	base := func() *ledger.Ledger { return ledger.OpenSnapshot(ledger.Snapshot{Files: w.files}, limits) }
	s := mustStage(t, base(), stagedEntries(t, 60))
	var order []ledger.Record
	commits, before := 0, 61
	for {
		records, left, err := s.Next(base(), now)
		if err != nil {
			t.Fatal(err)
		}
		if len(records) == 0 {
			break
		}
		size := 0
		for _, r := range records {
			size += len(r.Line()) + 1
		}
		if size > limits.MaxPatchBytes || left >= before {
			t.Fatalf("a commit of %d bytes, %d left after %d", size, left, before)
		}
		// A lost reply: the same is asked again and the answer is the same.
		again, _, _ := s.Next(base(), now)
		if len(again) != len(records) {
			t.Fatal("asked again it gives another answer")
		}
		w.add(records)
		// Another writer commits in between.
		w.add(mustStage(t, base(), stagedEntries(t, 1)).Records)
		order, before, commits = append(order, records...), left, commits+1
	}
	if commits < 2 || len(order) != 60 || !slices.EqualFunc(order, s.Records, func(a, b ledger.Record) bool { return a.SHA() == b.SHA() }) {
		t.Errorf("%d commits of %d records", commits, len(order))
	}
}

func TestARecordOverThePatchBoundIsPublishedAlone(t *testing.T) {
	limits := ledger.DefaultLimits()
	s := mustStage(t, newWorld(t).ledger(), stagedEntries(t, 3))
	limits.MaxPatchBytes = 1
	records, left, err := s.Next(ledger.OpenSnapshot(ledger.Snapshot{}, limits), now)
	if err != nil || len(records) != 1 || left != 2 {
		t.Errorf("%d records, %d left, %v", len(records), left, err)
	}
}

func TestWhatAdmissionRefusesIsAnError(t *testing.T) {
	w := newWorld(t)
	w.publish(stagedEntries(t, 1))
	s := mustStage(t, w.ledger(), stagedEntries(t, 2))
	if _, _, err := s.Next(newWorld(t).ledger(), now); err == nil {
		t.Error("a parent that the branch does not have is taken")
	}
	if _, _, err := s.Next(w.ledger(), now.Add(-time.Hour)); err == nil {
		t.Error("a time in the future is taken")
	}
	if _, _, err := s.Next(w.ledger(), now); err != nil {
		t.Errorf("control: %v", err)
	}
}

func TestARecordBoundThatIsTooSmallIsFoundWhenStaging(t *testing.T) {
	limits := ledger.DefaultLimits()
	limits.MaxRecordBytes = 1 << 10
	var config *ConfigError
	if _, err := Stage(ledger.OpenSnapshot(ledger.Snapshot{}, limits), stagedEntries(t, 1), now, &countingReader{}); !errors.As(err, &config) {
		t.Errorf("error %v", err)
	}
	limits.MaxRecordBytes = minRecordBytes
	worst := Record{Kind: HumanFeedback, Source: SourceReviewComment, ID: MaxID, URL: "https://" + strings.Repeat("x", maxURLBytes-8), UserID: MaxID,
		UserLogin: strings.Repeat("\x01", maxLoginBytes), UserName: strings.Repeat("\x01", maxNameChars) + "…", CreatedAt: earlier, AuthorAssociation: strings.Repeat("\x01", maxAssociationBytes)}
	e, err := ArtifactEntry(Thread{MaxID, MaxID}, worst)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	for i := range 70 { // many heads
		w.add(mustSeal(t, i))
	}
	base := ledger.OpenSnapshot(ledger.Snapshot{Files: w.files}, limits)
	if _, err := Stage(base, []Entry{e}, now, &countingReader{}); err != nil {
		t.Errorf("the largest artifact does not fit: %v", err)
	}
}

func mustSeal(t testing.TB, i int) []ledger.Record {
	t.Helper()
	r, err := ledger.Seal(ledger.Draft{ID: fmt.Sprintf("ldg-00000000-0000-4000-8000-%012d", i), Payload: []byte("{}"), Timestamp: ledger.FormatTime(now), Type: "note"})
	if err != nil {
		t.Fatal(err)
	}
	return []ledger.Record{r}
}
