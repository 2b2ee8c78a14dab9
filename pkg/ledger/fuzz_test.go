package ledger

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/repo-memory/ledger/pkg/canonical"
)

// seedLines are the lines that the reference judged.
func seedLines(f *testing.F) [][]byte {
	var v struct {
		Valid, Invalid, BOM []struct {
			Line       string
			LineBase64 string `json:"line_base64"`
		}
	}
	vectors(f, "records.json", &v)
	var seeds [][]byte
	for _, c := range slices.Concat(v.Valid, v.Invalid, v.BOM) {
		line := []byte(c.Line)
		if c.LineBase64 != "" {
			var err error
			if line, err = base64.StdEncoding.DecodeString(c.LineBase64); err != nil {
				f.Fatal(err)
			}
		}
		if len(line) < 4096 {
			seeds = append(seeds, line)
		}
	}
	if len(seeds) < 100 {
		f.Fatalf("only %d seeds", len(seeds))
	}
	return seeds
}

// seedShards are the shards of the scenarios of the reference.
func seedShards(f *testing.F) [][]byte {
	var v struct{ Scenarios []struct{ Files []dagFile } }
	vectors(f, "dag.json", &v)
	var seeds [][]byte
	for _, s := range v.Scenarios {
		for _, file := range s.Files {
			content := []byte(file.Text)
			if file.Base64 != "" {
				var err error
				if content, err = base64.StdEncoding.DecodeString(file.Base64); err != nil {
					f.Fatal(err)
				}
			}
			if n := len(content); n > 0 && n < 4096 {
				seeds = append(seeds, content)
			}
		}
	}
	if len(seeds) < 50 {
		f.Fatalf("only %d seeds", len(seeds))
	}
	return seeds
}

// reseal gives a line that was changed the digest that it should have, so that
// changes get past the digest.
func reseal(line []byte) []byte {
	at := bytes.LastIndex(line, []byte(shaMark))
	end := at + len(shaMark) + 64 + 1
	if at < 0 || end > len(line) {
		return line
	}
	rest := slices.Concat(line[:at], line[end:])
	return slices.Concat(line[:at], []byte(`,"sha":"`+canonical.Sum(rest)+`"`), line[end:])
}

// resealAll does so for every line of a shard.
func resealAll(content []byte) []byte {
	all := bytes.Split(content, []byte{'\n'})
	for i := range all {
		all[i] = reseal(all[i])
	}
	return bytes.Join(all, []byte{'\n'})
}

func FuzzParseLine(f *testing.F) {
	for _, line := range seedLines(f) {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		checkLine(t, line)
		checkLine(t, reseal(line))
	})
}

func checkLine(t *testing.T, line []byte) {
	var p lineParser
	var parents []Hash
	fast := utf8.Valid(line) && p.parse(line, func(h Hash) { parents = append(parents, h) })
	slow := faultOf(line)
	if fast != (slow == "") {
		t.Fatalf("the fast path says %v, the slow path %q: %q", fast, slow, line)
	}
	r, fault := ParseLine(line)
	if fault != slow || fast != (r.Line() != nil) {
		t.Fatalf("ParseLine says %q, the slow path %q: %q", fault, slow, line)
	}
	if !fast {
		if !slices.Contains([]string{InvalidJSON, InvalidEnvelope, UnsupportedVersion, InvalidSHA}, fault) {
			t.Fatalf("unknown fault %q", fault)
		}
		return
	}
	if string(r.Line()) != string(line) || !canonical.Valid(line) {
		t.Fatalf("accepted though not canonical: %q", line)
	}
	if !slices.Equal(parents, r.Parents()) || len(parents) > MaxParents || !slices.IsSortedFunc(parents, Hash.Compare) {
		t.Fatalf("parents %v, %v", parents, r.Parents())
	}
	sealed, err := Seal(Draft{r.ID(), r.Parents(), r.Payload(), r.Timestamp(), r.Type()})
	if err != nil || string(sealed.Line()) != string(line) || sealed.SHA() != r.SHA() {
		t.Fatalf("sealed again as %q, %v: %q", sealed.Line(), err, line)
	}
	var plain struct {
		ID        string
		Parents   []string
		Payload   json.RawMessage
		SHA       string
		Timestamp string
		Type      string
		Version   int
	}
	if err := json.Unmarshal(line, &plain); err != nil {
		t.Fatalf("%v: %q", err, line)
	}
	texts := make([]string, len(parents))
	for i, h := range parents {
		texts[i] = h.String()
	}
	if plain.ID != r.ID() || !slices.Equal(plain.Parents, texts) || string(plain.Payload) != string(r.Payload()) || plain.SHA != r.SHA().String() ||
		plain.Timestamp != r.Timestamp() || plain.Version != 1 || utf8.ValidString(r.Type()) && plain.Type != r.Type() {
		t.Fatalf("encoding/json reads %+v: %q", plain, line)
	}
	if units := canonical.Units(r.Type()); units < 1 || units > MaxTypeUnits || !IsID(r.ID()) {
		t.Fatalf("type of %d units, id %q", units, r.ID())
	}
}

func FuzzOpen(f *testing.F) {
	seeds := seedShards(f)
	for i, content := range seeds {
		f.Add(content, seeds[(i+1)%len(seeds)], uint16(i*97))
	}
	f.Fuzz(func(t *testing.T, a, b []byte, cut uint16) {
		a, b = resealAll(a), resealAll(b)
		half := int(cut) % (len(a) + 1)
		limits := Limits{MaxShards: 4, MaxSegmentBytes: 1 << 20, MaxRecordBytes: 32 << 10}
		fresh := OpenSnapshot(Snapshot{Files: map[string][]byte{ShardPath(uuid(1)): b, ShardPath(uuid(2)): a}}, limits)
		checkOpened(t, fresh)
		// One shard grows, and another appears before it in the order of names.
		l := OpenSnapshot(Snapshot{Files: map[string][]byte{ShardPath(uuid(2)): a[:half]}}, limits)
		checkOpened(t, l)
		s := l.shards[0]
		s.content, s.size = a, int64(len(a))
		l.extend(s, l.insert)
		l.addShard(&shard{file: fileName(1), content: b, size: int64(len(b))})
		l.sorted()
		if !l.reload {
			checkOpened(t, l)
			sameView(t, l, fresh)
		}
		if cut%64 != 0 {
			return // files take a hundred times as long
		}
		root := t.TempDir()
		put(t, root, fileName(2), string(a[:half]), 0o644)
		l = open(t, root, limits)
		put(t, root, fileName(1), string(b), 0o644)
		extend(t, root, fileName(2), string(a[half:]))
		if err := l.Refresh(); err != nil {
			t.Fatal(err)
		}
		sameView(t, l, fresh)
	})
}

// checkOpened asks that a ledger says what is in its shards.
func checkOpened(t *testing.T, l *Ledger) {
	t.Helper()
	status := l.Status()
	if status.Records < status.ValidRecords || status.ValidRecords < 0 || status.InvalidRecords < 0 || status.IncompleteRecords < 0 {
		t.Fatalf("status %+v", status)
	}
	seen := map[Hash]bool{}
	isParent := map[Hash]bool{}
	incomplete := 0
	for r := range l.Records() {
		again, fault := ParseLine(r.Line())
		if fault != "" || again.SHA() != r.SHA() || again.ID() != r.ID() || seen[r.SHA()] {
			t.Fatalf("%q is no record by itself: %s", r.Line(), fault)
		}
		whole := true
		for _, parent := range r.Parents() {
			isParent[parent] = true
			if whole = whole && l.Has(parent); l.Has(parent) && !seen[parent] {
				t.Fatalf("%s comes before its parent", r.ID())
			}
		}
		if !whole {
			incomplete++
		}
		seen[r.SHA()] = true
		file, offset, ok := l.Location(r.SHA())
		at := slices.IndexFunc(l.shards, func(s *shard) bool { return s.file == file })
		if !ok || at < 0 {
			t.Fatalf("%s stands nowhere", r.ID())
		}
		rest := bytes.TrimPrefix(l.shards[at].content[offset:], byteOrderMark)
		if !bytes.HasPrefix(rest, append(slices.Clone(r.Line()), '\n')) {
			t.Fatalf("%s does not stand at %s:%d", r.ID(), file, offset)
		}
	}
	if len(seen) != l.Len() || incomplete != status.IncompleteRecords {
		t.Fatalf("%d records of %d, %d incomplete of %d", len(seen), l.Len(), incomplete, status.IncompleteRecords)
	}
	var heads []Hash
	for sha := range seen {
		if !isParent[sha] {
			heads = append(heads, sha)
		}
	}
	slices.SortFunc(heads, Hash.Compare)
	if !slices.Equal(heads, l.Heads()) {
		t.Fatalf("heads %v, want %v", l.Heads(), heads)
	}
}

func FuzzSegment(f *testing.F) {
	var v struct{ Cases []struct{ Content string } }
	vectors(f, "segments.json", &v)
	seeds := 0
	for _, c := range v.Cases {
		if n := len(c.Content); n > 0 && n < 8192 {
			seeds++
			f.Add([]byte(c.Content), `{"source":["a"]}`)
		}
	}
	if seeds < 20 {
		f.Fatalf("only %d seeds", seeds)
	}
	for _, content := range seedShards(f) {
		f.Add(content, "{}")
	}
	f.Fuzz(func(t *testing.T, content []byte, metadata string) {
		content = resealAll(content)
		records, err := ReadSegment(content)
		if err != nil {
			if records != nil {
				t.Fatal("records beside an error")
			}
			return
		}
		segment, err := BuildSegment(records, metadata, len(content))
		if err != nil {
			if !strings.Contains(err.Error(), "nests more than") {
				t.Fatal(err)
			}
			return
		}
		if !IsUUID(segment.ID) || len(segment.Records) > len(records) {
			t.Fatalf("segment %q of %d records", segment.ID, len(segment.Records))
		}
		again, err := ReadSegment(segment.Content)
		same := func(a, b Record) bool { return string(a.Line()) == string(b.Line()) && a.SHA() == b.SHA() }
		if err != nil || !slices.EqualFunc(again, segment.Records, same) {
			t.Fatalf("%d records are read back, %v", len(again), err)
		}
		slices.Reverse(records)
		rebuilt, err := BuildSegment(append(records, again...), metadata, len(segment.Content))
		if err != nil || rebuilt.ID != segment.ID || !bytes.Equal(rebuilt.Content, segment.Content) {
			t.Fatalf("other order, other segment: %v", err)
		}
		if _, err := BuildSegment(again, metadata, len(segment.Content)-1); err == nil {
			t.Fatal("a segment over its bound is built")
		}
		if utf8.ValidString(metadata) {
			other, err := BuildSegment(again, metadata+"x", len(segment.Content))
			if err != nil || other.ID == segment.ID {
				t.Fatalf("other metadata, same id: %v", err)
			}
			if body, err := canonical.Parse([]byte(`{"metadata":` + string(canonical.AppendString(nil, metadata)) + `,"records":[` +
				strings.TrimSuffix(strings.ReplaceAll(string(segment.Content), "\n", ","), ",") + `]}`)); err != nil {
				t.Fatal(err)
			} else if text, err := body.Text(); err != nil || segment.ID != uuidOf(canonical.Sum(text)) {
				t.Fatalf("the id is not that of the canonical text: %v", err)
			}
		}
	})
}

// uuidOf shapes a digest like a UUID version 4.
func uuidOf(sum string) string {
	digits := []byte(strings.TrimPrefix(sum, hashPrefix)[:32])
	digits[12] = '4'
	digits[16] = "89ab"[nibble[digits[16]]&3]
	return string(slices.Concat(digits[:8], []byte("-"), digits[8:12], []byte("-"), digits[12:16], []byte("-"), digits[16:20], []byte("-"), digits[20:]))
}
