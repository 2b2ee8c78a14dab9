package projection

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/ledger"
)

// ledgerOf is a ledger of records with the given payloads, all of type note.
func ledgerOf(t testing.TB, payloads ...string) *ledger.Ledger {
	t.Helper()
	var shard []byte
	for i, payload := range payloads {
		r, err := ledger.Seal(ledger.Draft{ID: fmt.Sprintf("ldg-00000000-0000-4000-8000-%012d", i), Payload: []byte(payload),
			Timestamp: ledger.FormatTime(time.Unix(1764471600, 0)), Type: "note"})
		if err != nil {
			t.Fatal(err)
		}
		shard = append(append(shard, r.Line()...), '\n')
	}
	return ledger.OpenSnapshot(ledger.Snapshot{Files: map[string][]byte{ledger.ShardPath("00000000-0000-4000-8000-000000000001"): shard}},
		ledger.Limits{MaxShards: 1, MaxSegmentBytes: 10 << 20, MaxRecordBytes: 1 << 20, MaxPatchBytes: 1 << 20})
}

func query(t testing.TB, text string) Query {
	t.Helper()
	q, err := ParseQuery([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func TestAStrictTableRefusesAWrongType(t *testing.T) {
	table, err := newTable([]string{"a"}, true)
	if err != nil {
		t.Fatal(err)
	}
	defer table.conn.Close()
	const insert = "INSERT INTO path (type, key, sha) VALUES "
	good := "zeroblob(32)"
	for _, c := range []struct {
		values string
		ok     bool
	}{
		{"(1, x'01', " + good + ")", true},
		{"('note', x'01', " + good + ")", false},
		{"(1.5, x'01', " + good + ")", false},
		{"(1, 'text', " + good + ")", false},
		{"(1, 7, " + good + ")", false},
		{"(1, NULL, " + good + ")", false},
		{"(1, x'02', 'sha256:0000000000000000000000000')", false},
		{"(1, x'02', x'00')", false},
		{"(1, x'01', " + good + ")", false}, // twice
	} {
		if err := sqlitex.ExecuteTransient(table.conn, insert+c.values, nil); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.values, err)
		}
	}
}

func TestAnSQLiteErrorIsCuredByBuildingAgain(t *testing.T) {
	l := ledgerOf(t, `{"a":1}`, `{"a":2}`)
	p := New(l)
	defer p.Close()
	q := query(t, `{"where":{"payload.a":{"gt":1}}}`)
	for _, damage := range []string{"DROP TABLE path", "ALTER TABLE path DROP COLUMN type", "BEGIN"} {
		if page, err := p.Query(context.Background(), q); err != nil || len(page.Rows) != 1 {
			t.Fatalf("%d rows, %v", len(page.Rows), err)
		}
		for _, table := range p.tables {
			// A column of the primary key cannot be dropped; that is no damage.
			_ = sqlitex.ExecuteTransient(table.conn, damage, nil)
		}
	}
	if page, err := p.Query(context.Background(), q); err != nil || len(page.Rows) != 1 {
		t.Errorf("%d rows, %v", len(page.Rows), err)
	}
}

func TestAPersistentSQLiteErrorIsASentenceWithoutSQLAndReadsGoOn(t *testing.T) {
	l := ledgerOf(t, `{"a":1}`)
	p := New(l)
	defer p.Close()
	whole := sqlPoint
	sqlPoint = "SELECT secret FROM nowhere"
	defer func() { sqlPoint = whole }()
	_, err := p.Query(context.Background(), Query{})
	if !errors.Is(err, ErrUnavailable) || strings.Contains(err.Error(), "SELECT") || strings.Contains(err.Error(), "nowhere") {
		t.Errorf("got %v", err)
	}
	if len(p.tables) != 0 {
		t.Errorf("%d broken tables are kept", len(p.tables))
	}
	if l.Len() != 1 || len(l.GetID("ldg-00000000-0000-4000-8000-000000000000")) != 1 {
		t.Error("the ledger cannot be read without its projection")
	}
	sqlPoint = whole
	if page, err := p.Query(context.Background(), Query{}); err != nil || len(page.Rows) != 1 {
		t.Errorf("after the cure: %d rows, %v", len(page.Rows), err)
	}
}

func TestACancelledQueryAnswersWithTheContextAndLeavesNothingHalfBuilt(t *testing.T) {
	p := New(ledgerOf(t, `1`, `2`))
	defer p.Close()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := p.Query(ctx, Query{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if page, err := p.Query(context.Background(), Query{}); err != nil || len(page.Rows) != 2 {
		t.Errorf("%d rows, %v", len(page.Rows), err)
	}
}

func TestManyPathsTakeNoMoreTablesThanAQueryMayName(t *testing.T) {
	p := New(ledgerOf(t, `{"p1":1,"p2":2}`, `{"p3":3}`))
	defer p.Close()
	for i := range 40 {
		q := query(t, fmt.Sprintf(`{"where":{"payload.p%d":{"exists":true}}}`, i))
		page, err := p.Query(context.Background(), q)
		want := 0
		if i >= 1 && i <= 3 {
			want = 1
		}
		if err != nil || len(page.Rows) != want || len(p.tables) > maxTables {
			t.Fatalf("path %d: %d rows, %d tables, %v", i, len(page.Rows), len(p.tables), err)
		}
	}
	// What was used last stays.
	for i := 40 - maxTables; i < 40; i++ {
		if p.tables[tableName{fmt.Sprintf("payload.p%d", i), false}] == nil {
			t.Errorf("the table of path %d is gone", i)
		}
	}
	var all []string
	for i := range MaxConditions {
		all = append(all, fmt.Sprintf(`"payload.q%d":{"exists":false}`, i))
	}
	page, err := p.Query(context.Background(), query(t, `{"type":"note","where":{`+strings.Join(all, ",")+`}}`))
	if err != nil || len(page.Rows) != 2 || len(p.tables) != maxTables {
		t.Errorf("%d rows, %d tables, %v", len(page.Rows), len(p.tables), err)
	}
}

func TestAPageEndsBeforeItsBytesPassTheBoundButHasARow(t *testing.T) {
	long := strings.Repeat("x", 1000)
	p := New(ledgerOf(t, `"`+long+`1"`, `"`+long+`2"`, `"`+long+`3"`))
	defer p.Close()
	for bytes, rows := range map[int]int{0: 3, 1: 1, 1300: 1, 2600: 2, 5000: 3} {
		q := Query{Bytes: bytes}
		seen := 0
		for n := 0; ; n++ {
			page, err := p.Query(context.Background(), q)
			if err != nil {
				t.Fatal(err)
			}
			if n == 0 && len(page.Rows) != rows {
				t.Errorf("%d bytes: %d rows, want %d", bytes, len(page.Rows), rows)
			}
			seen += len(page.Rows)
			if !page.HasMore {
				break
			}
			if *page.NextCursor != page.Rows[len(page.Rows)-1].SHA() {
				t.Fatalf("%d bytes: the cursor is not the last row", bytes)
			}
			q.After = page.NextCursor
		}
		if seen != 3 {
			t.Errorf("%d bytes: %d rows in all pages", bytes, seen)
		}
	}
}

func TestAPageHoldsRecordLinesByteForByteAndCountsWhatItLeavesOut(t *testing.T) {
	payloads := []string{`{"html":"<b>&\u0001é\u2028` + `","lone":"\ud800"}`}
	payloads[0] = strings.ReplaceAll(payloads[0], `\u2028`, "\u2028")
	for i := range MaxHeads + 5 {
		payloads = append(payloads, fmt.Sprint(i))
	}
	l := ledgerOf(t, payloads...)
	p := New(l)
	defer p.Close()
	page, err := p.Query(context.Background(), query(t, `{"where":{"payload.html":{"exists":true}}}`))
	if err != nil || len(page.Rows) != 1 {
		t.Fatalf("%d rows, %v", len(page.Rows), err)
	}
	text, err := page.MarshalJSON()
	if err != nil || !strings.Contains(string(text), string(page.Rows[0].Line())) || !json.Valid(text) {
		t.Errorf("%.300s, %v", text, err)
	}
	if len(page.Heads) != MaxHeads || page.MoreHeads != 6 || !strings.HasSuffix(string(text), `"moreHeads":6,"diagnostics":[]}`) {
		t.Errorf("%d heads and %d more: %s", len(page.Heads), page.MoreHeads, text[len(text)-100:])
	}
	// Bad lines, and a name that is not text.
	l = ledger.OpenSnapshot(ledger.Snapshot{Files: map[string][]byte{
		ledger.ShardPath("00000000-0000-4000-8000-000000000001"): []byte(strings.Repeat("\n", 30)), "ledger/shards/\xff<.jsonl": nil}}, ledger.DefaultLimits())
	page, err = New(l).Query(context.Background(), Query{})
	if err != nil {
		t.Fatal(err)
	}
	text, err = page.MarshalJSON()
	if err != nil || !json.Valid(text) || !strings.HasSuffix(string(text), `,"moreDiagnostics":11}`) || len(page.Diagnostics) != MaxDiagnostics {
		t.Errorf("%s, %v", text, err)
	}
	if text, err = (Page{Diagnostics: l.Diagnostics()[30:]}).MarshalJSON(); err != nil || !strings.Contains(string(text), "\ufffd<.jsonl") {
		t.Errorf("%s, %v", text, err)
	}
}

func TestKeysSortAsTheirValuesDo(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	w := &world{rng: rng}
	less := func(a, b canonical.Value) bool {
		return naive(canonical.Value{Kind: canonical.Object, Members: []canonical.Member{{Name: "a", Value: a}}}, Condition{"payload.a", Lt, b})
	}
	for range 20000 {
		a, err := canonical.Parse([]byte(w.value()))
		if err != nil {
			t.Fatal(err)
		}
		b, _ := canonical.Parse([]byte(w.value()))
		x, _ := a.Text()
		y, _ := b.Text()
		c := slices.Compare(appendKey(nil, x), appendKey(nil, y))
		if (c == 0) != (string(x) == string(y)) {
			t.Fatalf("keys of %s and %s compare as %d", x, y, c)
		}
		if a.Kind == b.Kind && (a.Kind == canonical.String || a.Kind == canonical.Number) && (c < 0) != less(a, b) {
			t.Fatalf("keys of %s and %s compare as %d", x, y, c)
		}
	}
}
