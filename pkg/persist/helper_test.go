package persist

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// now is the clock of every test.
var now = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// record makes the nth record, with the given parents.
func record(t testing.TB, n int, parents ...ledger.Hash) ledger.Record {
	t.Helper()
	return seal(t, ledger.Draft{
		ID: recordID(n), Parents: parents, Payload: fmt.Appendf(nil, `{"n":%d}`, n),
		Timestamp: ledger.FormatTime(now.Add(-time.Hour)), Type: "note",
	})
}

func recordID(n int) string { return fmt.Sprintf("ldg-00000000-0000-4000-8000-%012d", n) }

func seal(t testing.TB, d ledger.Draft) ledger.Record {
	t.Helper()
	slices.SortFunc(d.Parents, ledger.Hash.Compare)
	r, err := ledger.Seal(d)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// chain makes n records, numbered from first on, each the parent of the next.
func chain(t testing.TB, first, n int, parents ...ledger.Hash) []ledger.Record {
	t.Helper()
	records := make([]ledger.Record, n)
	for i := range records {
		records[i] = record(t, first+i, parents...)
		parents = []ledger.Hash{records[i].SHA()}
	}
	return records
}

// lines is the text of a shard.
func lines(records ...ledger.Record) string {
	var b strings.Builder
	for _, r := range records {
		b.Write(r.Line())
		b.WriteByte('\n')
	}
	return b.String()
}

// shard is the path of the nth shard.
func shard(n int) string { return ledger.ShardPath(fmt.Sprintf("00000000-0000-4000-9000-%012d", n)) }

// tree writes files below a new directory and returns it.
func tree(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "staging")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// branch is a snapshot that holds files.
func branchOf(files map[string]string) ledger.Snapshot {
	s := ledger.Snapshot{Head: strings.Repeat("a", 40), Files: map[string][]byte{}, Irregular: map[string]string{}}
	for path, text := range files {
		s.Files[path] = []byte(text)
	}
	return s
}

// apply is the branch with a change on it.
func apply(s ledger.Snapshot, c ledger.Change) ledger.Snapshot {
	s.Files = maps.Clone(s.Files)
	if s.Files == nil {
		s.Files = map[string][]byte{}
	}
	maps.Copy(s.Files, c.Add)
	s.Head = strings.Repeat("b", 40)
	return s
}

func options() Options {
	return Options{Limits: ledger.DefaultLimits(), Now: now, Ledger: "memory"}
}

// based are options for a staging that was restored from s.
func based(s ledger.Snapshot) Options {
	o := options()
	o.Base = func() (ledger.Snapshot, error) { return s, nil }
	return o
}

func prepare(t testing.TB, dir string, o Options) *Staged {
	t.Helper()
	s, err := Prepare(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// run prepares a staging and makes its change, which must be well-formed.
func run(t testing.TB, files map[string]string, s ledger.Snapshot, o Options) (ledger.Change, Report) {
	t.Helper()
	c, r, err := prepare(t, tree(t, files), o).Change(s)
	if err != nil {
		t.Fatal(err)
	}
	wellFormed(t, s, c, r)
	return c, r
}

// wellFormed checks what holds for every change.
func wellFormed(t testing.TB, s ledger.Snapshot, c ledger.Change, r Report) {
	t.Helper()
	if len(c.Delete) != 0 {
		t.Errorf("the change deletes %q", c.Delete)
	}
	if got := r.Records + r.Files; got != r.Accepted.Count {
		t.Errorf("%d records and files, %d accepted items", got, r.Accepted.Count)
	}
	for path := range c.Add {
		if _, there := s.Files[path]; there && strings.HasPrefix(path, "ledger") {
			t.Errorf("the change replaces %s", path)
		}
	}
	before, after := ledger.OpenSnapshot(s, ledger.DefaultLimits()), ledger.OpenSnapshot(apply(s, c), ledger.DefaultLimits())
	for old := range before.Records() {
		if now, ok := after.Get(old.SHA()); !ok || !bytes.Equal(now.Line(), old.Line()) {
			t.Errorf("record %s is not on the branch any more", old.ID())
		}
	}
	if !slices.Equal(before.Heads(), r.HeadsBefore) || !slices.Equal(after.Heads(), r.HeadsAfter) {
		t.Errorf("heads are %v and then %v, reported %v and %v", before.Heads(), after.Heads(), r.HeadsBefore, r.HeadsAfter)
	}
	made := 0
	if r.Memory != nil {
		made = r.Memory.Made
	}
	if n := after.Len() - before.Len(); n != r.Records+made {
		t.Errorf("%d records are new, %d reported", n, r.Records+made)
	}
	if d := len(after.Diagnostics()); d > len(before.Diagnostics()) {
		t.Errorf("the branch has %d diagnostics and then %d", len(before.Diagnostics()), d)
	}
	if before, after := len(before.Shards()), len(after.Shards()); before != r.ShardsBefore || after != r.ShardsAfter {
		t.Errorf("%d shards and then %d, reported %d and %d", before, after, r.ShardsBefore, r.ShardsAfter)
	}
}

// shas are the digests of what a change adds to the ledger, in order.
func shas(t testing.TB, s ledger.Snapshot, c ledger.Change) []ledger.Hash {
	t.Helper()
	before := ledger.OpenSnapshot(s, ledger.DefaultLimits())
	var added []ledger.Hash
	for r := range ledger.OpenSnapshot(apply(s, c), ledger.DefaultLimits()).Records() {
		if !before.Has(r.SHA()) {
			added = append(added, r.SHA())
		}
	}
	return added
}

// find returns the item of a list that stands for a path and line.
func find(l List, path string, line int) (Item, bool) {
	i := slices.IndexFunc(l.Items, func(i Item) bool { return i.Path == path && i.Line == line })
	if i < 0 {
		return Item{}, false
	}
	return l.Items[i], true
}

// verdicts lists the outcome of every item as "accepted KIND PATH:LINE".
func verdicts(r Report) []string {
	var all []string
	for name, l := range map[string]List{"accepted": r.Accepted, "ignored": r.Ignored, "rejected": r.Rejected} {
		for _, i := range l.Items {
			all = append(all, fmt.Sprintf("%s %s %s:%d", name, i.Kind, i.Path, i.Line))
		}
	}
	slices.Sort(all)
	return all
}

// wantRejected asks that an item was rejected for a reason that has these words.
func wantRejected(t testing.TB, r Report, path string, line int, words string) {
	t.Helper()
	i, ok := find(r.Rejected, path, line)
	if !ok {
		t.Errorf("%q line %d is not rejected: %q", path, line, verdicts(r))
	} else if !strings.Contains(i.Reason, words) {
		t.Errorf("%q line %d is rejected for %q, want %q", path, line, i.Reason, words)
	}
}

func wantIgnored(t testing.TB, r Report, path string, line int, words string) {
	t.Helper()
	i, ok := find(r.Ignored, path, line)
	if !ok {
		t.Errorf("%q line %d is not ignored: %q", path, line, verdicts(r))
	} else if !strings.Contains(i.Reason, words) {
		t.Errorf("%q line %d is ignored for %q, want %q", path, line, i.Reason, words)
	}
}

func wantCounts(t testing.TB, r Report, accepted, ignored, rejected int) {
	t.Helper()
	if r.Accepted.Count != accepted || r.Ignored.Count != ignored || r.Rejected.Count != rejected {
		t.Errorf("%d accepted, %d ignored, %d rejected; want %d, %d, %d: %q",
			r.Accepted.Count, r.Ignored.Count, r.Rejected.Count, accepted, ignored, rejected, verdicts(r))
	}
}
