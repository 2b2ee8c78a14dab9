package projection

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/ledger"
)

// naive is the reference's predicate over values, written with nothing of this
// package: what the projection must agree with.
func naive(payload canonical.Value, c Condition) bool {
	v, found := payload, true
	for _, name := range strings.Split(c.Path, ".")[1:] {
		if v.Kind == canonical.Array && name == "length" {
			v = canonical.Value{Kind: canonical.Number, Str: strconv.Itoa(len(v.Items))}
			continue
		}
		if v, found = v.Get(name); !found {
			break
		}
	}
	equal := func(a, b canonical.Value) bool {
		x, _ := a.Text()
		y, _ := b.Text()
		return string(x) == string(y)
	}
	switch c.Op {
	case Exists:
		return found == (c.Operand.Kind == canonical.True)
	case Eq:
		return found && equal(v, c.Operand)
	case In:
		return found && slices.ContainsFunc(c.Operand.Items, func(item canonical.Value) bool { return equal(v, item) })
	}
	if !found || v.Kind != c.Operand.Kind {
		return false
	}
	if c.Op == Prefix {
		a, b := unitsOf(v.Str), unitsOf(c.Operand.Str)
		return len(a) >= len(b) && slices.Equal(a[:len(b)], b)
	}
	order := canonical.CompareStrings(v.Str, c.Operand.Str)
	if v.Kind == canonical.Number {
		a, _ := strconv.ParseFloat(v.Str, 64)
		b, _ := strconv.ParseFloat(c.Operand.Str, 64)
		order = map[bool]int{a < b: -1, a > b: 1}[true]
	}
	return map[Op]bool{Gt: order > 0, Gte: order >= 0, Lt: order < 0, Lte: order <= 0}[c.Op]
}

// unitsOf returns the UTF-16 code units of a string of canonical.Value.
func unitsOf(s string) []int {
	var units []int
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c < 0x80:
			units = append(units, int(c))
			i++
		case c < 0xe0:
			units = append(units, int(c&0x1f)<<6|int(s[i+1]&0x3f))
			i += 2
		case c < 0xf0:
			units = append(units, int(c&0xf)<<12|int(s[i+1]&0x3f)<<6|int(s[i+2]&0x3f))
			i += 3
		default:
			r := int(c&7)<<18 | int(s[i+1]&0x3f)<<12 | int(s[i+2]&0x3f)<<6 | int(s[i+3]&0x3f) - 0x10000
			units = append(units, 0xd800+r>>10, 0xdc00+r&0x3ff)
			i += 4
		}
	}
	return units
}

// world makes values that lie close together, so that conditions often meet.
type world struct {
	rng  *rand.Rand
	dir  string
	next int
}

var texts = []string{
	`""`, `"a"`, `"ab"`, `"b"`, `"A"`, `"\u0000"`, `"a\u0000"`, `"a\u0000b"`, `"\ud83d"`, `"\ude00"`, `"\ud83d\ude00"`, `"\ud83d\ude00b"`, `"\ue000"`,
	`"\uffff"`, `"é"`, `"e\u0301"`, `"1"`, `"5"`, `"true"`, `"\ud83dx"`, `"%_"`, `"\ufffd"`, `"\\\""`, `"\ud83d\ud83d\ude00"`,
}

var numbers = []string{
	"0", "-0", "1", "5", "5.5", "-1", "-1.5", "1e21", "1e-7", "5e-324", "-5e-324", "1.7976931348623157e308", "-1.7976931348623157e308", "0.1",
	"0.30000000000000004", "9007199254740992", "9007199254740993", "-9007199254740992", "123456789012345680000", "2", "3",
}

var others = []string{
	"null", "true", "false", "[]", "{}", "[1,2,3]", `["a"]`, `{"x":1}`, `{"b":1,"a":2}`, `{"a":2,"b":1}`, `{"length":3}`, `[{"a":1}]`, `{"9":2,"10":1}`,
}

func (w *world) value() string {
	switch w.rng.IntN(6) {
	case 0, 1:
		return texts[w.rng.IntN(len(texts))]
	case 2, 3:
		return numbers[w.rng.IntN(len(numbers))]
	case 4: // around the cut of stored keys
		long := strings.Repeat("x", 60+w.rng.IntN(6)) + []string{"", "a", "é", "\U0001f600", "y"}[w.rng.IntN(5)]
		return `"` + long + `"`
	}
	return others[w.rng.IntN(len(others))]
}

var paths = []string{"payload.a", "payload.b.c", "payload.b", "payload.length", "payload.a.length", "payload.__proto__", "payload.toString", "payload.b.c.d.e", "payload.a-b", "payload._"}

func (w *world) payload() string {
	switch w.rng.IntN(12) {
	case 0:
		return w.value()
	case 1:
		return `{"__proto__":` + w.value() + `,"length":` + w.value() + `,"a-b":` + w.value() + `,"_":` + w.value() + `}`
	case 2:
		return `{"b":{"c":{"d":{"e":` + w.value() + `}}},"\u0061":` + w.value() + `}`
	}
	return `{"é\n":1,"a":` + w.value() + `,"b":{"c":` + w.value() + `}}`
}

func (w *world) record(t *testing.T) []byte {
	t.Helper()
	w.next++
	payload, err := canonical.Transform([]byte(w.payload()))
	if err != nil {
		t.Fatal(err)
	}
	typ := []string{"note", "note", "note", "n\x00te", "claim"}[w.rng.IntN(5)]
	r, err := ledger.Seal(ledger.Draft{ID: fmt.Sprintf("ldg-00000000-0000-4000-8000-%012d", w.next), Payload: payload,
		Timestamp: ledger.FormatTime(time.Unix(1764471600, 0)), Type: typ})
	if err != nil {
		t.Fatal(err)
	}
	return append(slices.Clone(r.Line()), '\n')
}

func (w *world) shard(n int) string {
	return filepath.Join(w.dir, filepath.FromSlash(ledger.ShardPath(fmt.Sprintf("00000000-0000-4000-8000-%012d", n))))
}

func (w *world) write(t *testing.T, shard, records, flag int) {
	t.Helper()
	f, err := os.OpenFile(w.shard(shard), os.O_CREATE|os.O_WRONLY|flag, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for range records {
		if _, err := f.Write(w.record(t)); err != nil {
			t.Fatal(err)
		}
	}
}

func (w *world) condition() Condition {
	c := Condition{Path: paths[w.rng.IntN(len(paths))]}
	if w.rng.IntN(2) == 0 {
		c.Path = paths[0]
	}
	parse := func(text string) canonical.Value {
		v, err := canonical.Parse([]byte(text))
		if err != nil {
			panic(err)
		}
		return v
	}
	c.Op = []Op{Eq, In, Exists, Prefix, Gt, Gte, Lt, Lte}[w.rng.IntN(8)]
	for {
		c.Operand = parse(w.value())
		switch c.Op {
		case In:
			c.Operand = parse("[" + w.value() + "," + w.value() + "," + w.value() + "]")
		case Exists:
			c.Operand = parse([]string{"true", "false"}[w.rng.IntN(2)])
		case Prefix:
			if c.Operand.Kind != canonical.String {
				continue
			}
		case Gt, Gte, Lt, Lte:
			if c.Operand.Kind != canonical.String && c.Operand.Kind != canonical.Number {
				continue
			}
		}
		return c
	}
}

func (w *world) query() Query {
	q := Query{Type: []string{"", "", "note", "n\x00te", "claim", "n"}[w.rng.IntN(6)], Limit: []int{7, 50, 100, 500}[w.rng.IntN(4)]}
	for range w.rng.IntN(4) {
		c := w.condition()
		if !slices.ContainsFunc(q.Where, func(d Condition) bool { return d.Path == c.Path }) {
			q.Where = append(q.Where, c)
		}
	}
	return q
}

// payloads are those that naive has parsed.
var payloads = map[ledger.Hash]canonical.Value{}

// check asks for all pages of a query and compares them with the naive answer.
func check(t *testing.T, l *ledger.Ledger, p *Projection, q Query) {
	t.Helper()
	var want []ledger.Hash
	for r := range l.Records() {
		payload, parsed := payloads[r.SHA()]
		if !parsed {
			var err error
			if payload, err = canonical.Parse(r.Payload()); err != nil {
				t.Fatal(err)
			}
			payloads[r.SHA()] = payload
		}
		if (q.Type == "" || r.Type() == q.Type) && !slices.ContainsFunc(q.Where, func(c Condition) bool { return !naive(payload, c) }) {
			want = append(want, r.SHA())
		}
	}
	slices.SortFunc(want, ledger.Hash.Compare)
	var got []ledger.Hash
	for {
		page, err := p.Query(context.Background(), q)
		if err != nil {
			t.Fatalf("%+v: %v", q, err)
		}
		for _, r := range page.Rows {
			got = append(got, r.SHA())
		}
		if len(page.Rows) > q.Limit || page.HasMore != (page.NextCursor != nil) || page.HasMore && len(page.Rows) != q.Limit {
			t.Fatalf("%+v: %d rows, more %v, cursor %v", q, len(page.Rows), page.HasMore, page.NextCursor)
		}
		if !page.HasMore {
			break
		}
		q.After = page.NextCursor
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v: %d rows, want %d", q, len(got), len(want))
	}
}

func TestAnswersEqualANaivePredicateWhileTheLedgerGrowsAndChanges(t *testing.T) {
	for seed := range uint64(2) {
		w := &world{rng: rand.New(rand.NewPCG(seed, 7)), dir: t.TempDir()}
		if err := os.MkdirAll(filepath.Dir(w.shard(0)), 0o755); err != nil {
			t.Fatal(err)
		}
		w.write(t, 0, 200, 0)
		l, err := ledger.Open(w.dir, ledger.Limits{MaxShards: 64, MaxSegmentBytes: 1 << 20, MaxRecordBytes: 32768, MaxPatchBytes: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		p := New(l)
		anew := 0
		most := 0
		for step := range 30 {
			before := l.Generation()
			switch {
			case step%15 == 14: // somebody writes over a shard
				w.write(t, step/2%3, 50, os.O_TRUNC)
			case step%3 == 1: // somebody appends
				w.write(t, step%5, 1+w.rng.IntN(70), os.O_APPEND)
			}
			if err := l.Refresh(); err != nil {
				t.Fatal(err)
			}
			if l.Generation() != before {
				anew++
			}
			for range 6 {
				check(t, l, p, w.query())
			}
			most = max(most, len(p.tables))
		}
		if anew == 0 || most != maxTables {
			t.Errorf("read anew %d times, %d tables", anew, most)
		}
		p.Close()
		l.Close()
	}
}

func TestLargeIntervalsAreWalkedAndSmallOnesListedWithTheSameAnswer(t *testing.T) {
	w := &world{rng: rand.New(rand.NewPCG(9, 9))}
	var shard []byte
	for range 2*sparse + 300 {
		shard = append(shard, w.record(t)...)
	}
	l := ledger.OpenSnapshot(ledger.Snapshot{Files: map[string][]byte{ledger.ShardPath("00000000-0000-4000-8000-000000000001"): shard}},
		ledger.Limits{MaxShards: 1, MaxSegmentBytes: 10 << 20, MaxRecordBytes: 32768, MaxPatchBytes: 1 << 20})
	p := New(l)
	defer p.Close()
	operand := func(text string) canonical.Value {
		v, err := canonical.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, typ := range []string{"", "note"} {
		for _, where := range [][]Condition{
			{{"payload.a", Exists, operand("true")}},
			{{"payload.a", Exists, operand("true")}, {"payload.b.c", Exists, operand("true")}},
			{{"payload.a", Exists, operand("true")}, {"payload.b", Exists, operand("true")}, {"payload.b.c", Gte, operand(`""`)}},
			{{"payload.a", Lt, operand("1e300")}},
			{{"payload.length", Exists, operand("false")}, {"payload.a", Exists, operand("true")}},
		} {
			check(t, l, p, Query{Type: typ, Where: where, Limit: 500})
		}
	}
	walked := 0
	for _, table := range p.tables {
		if table.ordered {
			walked++
		}
	}
	if walked < 2 {
		t.Errorf("%d tables were walked", walked)
	}
}
