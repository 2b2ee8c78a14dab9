package ledger

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// noon is the time of the tests.
var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// random is randomness that repeats.
func random(seed uint64) *rand.ChaCha8 {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	return rand.NewChaCha8(key)
}

// options are those of a writer whose clock stands still.
func options(seed uint64) WriterOptions {
	return WriterOptions{Clock: func() time.Time { return noon }, Random: random(seed)}
}

func uuid(n int) string     { return fmt.Sprintf("00000000-0000-4000-8000-%012x", n) }
func testID(n int) string   { return idPrefix + uuid(n) }
func fileName(n int) string { return uuid(n) + ShardExt }

// seal makes the record whose id is n.
func seal(t testing.TB, n int, payload string, parents ...Record) Record {
	t.Helper()
	return sealDraft(t, Draft{ID: testID(n), Payload: []byte(payload), Type: "note"}, parents...)
}

// sealDraft fills in what d leaves out.
func sealDraft(t testing.TB, d Draft, parents ...Record) Record {
	t.Helper()
	for _, p := range parents {
		d.Parents = append(d.Parents, p.SHA())
	}
	slices.SortFunc(d.Parents, Hash.Compare)
	if d.Timestamp == "" {
		d.Timestamp = FormatTime(noon)
	}
	r, err := Seal(d)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// lines is the content of a shard with those records.
func lines(records ...Record) string {
	var b strings.Builder
	for _, r := range records {
		b.Write(r.Line())
		b.WriteByte('\n')
	}
	return b.String()
}

// smallLimits make shards rotate soon.
func smallLimits() Limits {
	return Limits{MaxShards: 64, MaxSegmentBytes: 2048, MaxRecordBytes: 1024, MaxPatchBytes: 1 << 20}
}

// shardPath is where a shard of the ledger below root stands.
func shardPath(root, file string) string {
	return filepath.Join(root, filepath.FromSlash(ShardDir), file)
}

// put writes a file of the shard folder as a stranger would.
func put(t testing.TB, root, file, content string, mode os.FileMode) {
	t.Helper()
	path := shardPath(root, file)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// extend adds bytes to a file of the shard folder as a stranger would.
func extend(t testing.TB, root, file, content string) {
	t.Helper()
	f, err := os.OpenFile(shardPath(root, file), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, content); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// shardFiles lists the shard folder.
func shardFiles(t testing.TB, root string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(root, filepath.FromSlash(ShardDir)))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}

func newWriter(t testing.TB, root string, limits Limits, seed uint64) *Writer {
	t.Helper()
	w, err := NewWriter(root, limits, options(seed))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func open(t testing.TB, root string, limits Limits) *Ledger {
	t.Helper()
	l, err := Open(root, limits)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// mustAppend appends and asks for an acknowledgement.
func mustAppend(t testing.TB, w *Writer, payload string) Record {
	t.Helper()
	r, err := w.Append("note", []byte(payload))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// mustStand asks that a fresh reader of root finds each of the records, byte by
// byte, and returns what it read.
func mustStand(t testing.TB, root string, limits Limits, records ...Record) *Ledger {
	t.Helper()
	l := open(t, root, limits)
	for _, r := range records {
		if got, ok := l.Get(r.SHA()); !ok || string(got.Line()) != string(r.Line()) {
			t.Errorf("record %s does not stand on disk", r.ID())
		}
	}
	return l
}

// sameView asks that two ledgers say the same about everything.
func sameView(t testing.TB, got, want *Ledger) {
	t.Helper()
	a, _ := json.Marshal(got.Status())
	b, _ := json.Marshal(want.Status())
	if string(a) != string(b) {
		t.Errorf("status %.600s\nwant   %.600s", a, b)
		return
	}
	if !slices.Equal(got.Shards(), want.Shards()) {
		t.Errorf("shards %v\nwant   %v", got.Shards(), want.Shards())
	}
	if got.Len() != want.Len() || !slices.Equal(got.Heads(), want.Heads()) {
		t.Errorf("%d records, want %d; heads %v, want %v", got.Len(), want.Len(), got.Heads(), want.Heads())
	}
	records, expected := slices.Collect(got.Records()), slices.Collect(want.Records())
	for i := range min(len(records), len(expected)) {
		r, e := records[i], expected[i]
		if r.SHA() != e.SHA() || string(r.Line()) != string(e.Line()) {
			t.Fatalf("record %d of the order is %s, want %s", i, r.SHA(), e.SHA())
		}
		if !slices.EqualFunc(got.GetID(r.ID()), want.GetID(r.ID()), func(a, b Record) bool { return a.SHA() == b.SHA() }) {
			t.Errorf("id %s leads to other records", r.ID())
		}
		file, offset, _ := got.Location(r.SHA())
		if wantFile, wantOffset, _ := want.Location(r.SHA()); file != wantFile || offset != wantOffset {
			t.Errorf("%s stands at %s:%d, want %s:%d", r.SHA(), file, offset, wantFile, wantOffset)
		}
	}
}

// mustRefuse asks for a refusal by rule and path that holds none of the secrets.
func mustRefuse(t testing.TB, err error, rule Rule, path string, secrets ...string) {
	t.Helper()
	refusal, ok := err.(*Refusal)
	if !ok || refusal == nil {
		t.Errorf("%v, want a refusal by %s", err, rule)
		return
	}
	if refusal.Rule != rule || refusal.Path != path {
		t.Errorf("refused by %s at %q (%v), want %s at %q", refusal.Rule, refusal.Path, err, rule, path)
	}
	if refusal.Detail == "" || strings.ContainsAny(err.Error(), "\n\r") {
		t.Errorf("%q is no sentence of one line", err)
	}
	for _, secret := range secrets {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("%q shows %q", err, secret)
		}
	}
}
