package ledger

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/repo-memory/ledger/pkg/canonical"
)

// vectors reads one file of right answers taken from the reference runtime.
func vectors(t testing.TB, name string, target any) {
	t.Helper()
	data, err := os.ReadFile("../../testdata/vectors/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, target); err != nil {
		t.Fatal(err)
	}
}

// oneShard is the snapshot of a ledger with one shard.
func oneShard(content string) Snapshot {
	return Snapshot{Files: map[string][]byte{ShardPath("00000000-0000-4000-8000-000000000001"): []byte(content)}}
}

func TestEveryLineIsJudgedAsByTheReference(t *testing.T) {
	type lineVector struct {
		Name, Line  string
		LineBase64  string `json:"line_base64"`
		Accepted    bool
		Diagnostics []Diagnostic
		Record      struct {
			SHA, ID string
			Units   int `json:"type_units"`
			Parents int
		}
		ReadRecords any `json:"read_records"`
	}
	var v struct{ Valid, Invalid, BOM []lineVector }
	vectors(t, "records.json", &v)
	cases := slices.Concat(v.Valid, v.Invalid, v.BOM)
	if len(cases) < 120 {
		t.Fatalf("only %d vectors", len(cases))
	}
	limits := Limits{MaxShards: 1024, MaxSegmentBytes: maxSegmentBytes, MaxRecordBytes: 40960, MaxPatchBytes: 1 << 20}
	for _, c := range cases {
		line := c.Line
		if c.LineBase64 != "" {
			raw, err := base64.StdEncoding.DecodeString(c.LineBase64)
			if err != nil {
				t.Fatal(err)
			}
			line = string(raw)
		}
		l := OpenSnapshot(oneShard(line+"\n"), limits)
		if (l.Len() == 1) != c.Accepted {
			t.Errorf("%s: accepted is %v, want %v", c.Name, l.Len() == 1, c.Accepted)
			continue
		}
		got := slices.Clone(l.Diagnostics())
		for i := range got {
			got[i].File = ""
		}
		want := slices.Clone(c.Diagnostics)
		for i := range want {
			want[i].File = ""
			if want[i].Line == 0 && want[i].Code == InvalidEnvelope {
				want[i].Line = 1 // departure: invalid UTF-8 spoils its line, not its shard
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: diagnostics %v, want %v", c.Name, got, want)
		}
		records, err := ReadSegment([]byte(line + "\n"))
		if n, isCount := c.ReadRecords.(float64); isCount != (err == nil) || isCount && len(records) != int(n) {
			t.Errorf("%s: ReadSegment gives %d records, %v; want %v", c.Name, len(records), err, c.ReadRecords)
		}
		for r := range l.Records() {
			if r.ID() != c.Record.ID || r.SHA().String() != c.Record.SHA || len(r.Parents()) != c.Record.Parents {
				t.Errorf("%s: got id %s sha %s and %d parents", c.Name, r.ID(), r.SHA(), len(r.Parents()))
			}
			sealed, err := Seal(Draft{r.ID(), r.Parents(), r.Payload(), r.Timestamp(), r.Type()})
			if err != nil || string(sealed.Line()) != string(r.Line()) {
				t.Errorf("%s: sealing its parts again gives another line (%v)", c.Name, err)
			}
		}
	}
}

// dagFile is one entry of a shard folder in the vectors.
type dagFile struct {
	Name, Text, Base64, Symlink string
	Dir                         bool
}

func (f dagFile) bytes(t *testing.T) []byte {
	if f.Base64 == "" {
		return []byte(f.Text)
	}
	raw, err := base64.StdEncoding.DecodeString(f.Base64)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// writeShards lays files out as a ledger directory.
func writeShards(t *testing.T, files []dagFile) string {
	t.Helper()
	root := t.TempDir()
	dir := filepath.Join(root, filepath.FromSlash(ShardDir))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		var err error
		switch {
		case f.Dir:
			err = os.Mkdir(path, 0o755)
		case f.Symlink != "":
			err = os.Symlink(f.Symlink, path)
		default:
			err = os.WriteFile(path, f.bytes(t), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

type dagOptions struct{ MaxFiles, MaxSegmentBytes, MaxRecordBytes, MaxPatchBytes int }

// limits are the reference's defaults under the options of a vector.
func (o dagOptions) limits() Limits {
	l := Limits{MaxShards: 1024, MaxSegmentBytes: 102400, MaxRecordBytes: 32768, MaxPatchBytes: 10240}
	for _, set := range []struct {
		to   *int
		from int
	}{{&l.MaxShards, o.MaxFiles}, {&l.MaxSegmentBytes, o.MaxSegmentBytes}, {&l.MaxRecordBytes, o.MaxRecordBytes}, {&l.MaxPatchBytes, o.MaxPatchBytes}} {
		if set.from != 0 {
			*set.to = set.from
		}
	}
	return l
}

func TestReconstructionGivesTheOrderAndDiagnosticsOfTheReference(t *testing.T) {
	var v struct {
		Scenarios []struct {
			Name    string
			Options dagOptions
			Files   []dagFile
			Expect  dagExpect
		}
	}
	vectors(t, "dag.json", &v)
	if len(v.Scenarios) < 40 {
		t.Fatalf("only %d scenarios", len(v.Scenarios))
	}
	for _, c := range v.Scenarios {
		t.Run(c.Name, func(t *testing.T) {
			switch c.Name {
			case "invalid UTF-8 loses the whole shard (single file-level diagnostic, no line)":
				// Departure: readers must not discard valid records for a bad line.
				l, err := Open(writeShards(t, c.Files), c.Options.limits())
				if err != nil {
					t.Fatal(err)
				}
				want := []Diagnostic{{Code: InvalidEnvelope, File: "00000000-0000-4000-8000-000000000001.jsonl", Line: 3}}
				if got := l.Diagnostics(); !slices.Equal(got[:1], want) || l.Len() <= len(c.Expect.Records) {
					t.Errorf("%d records, diagnostics %v", l.Len(), got)
				}
				return
			case "both conflicting records are orphans: validRecords goes to -1":
				c.Expect.Status.ValidRecords = 0 // departure: no negative counts
			}
			root := writeShards(t, c.Files)
			l, err := Open(root, c.Options.limits())
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			c.Expect.check(t, l)
			snap := Snapshot{Files: map[string][]byte{}, Irregular: map[string]string{}}
			for _, f := range c.Files {
				switch path := ShardDir + "/" + f.Name; {
				case f.Dir:
					snap.Files[path+"/x"] = nil
				case f.Symlink != "":
					snap.Irregular[path] = "link"
				default:
					snap.Files[path] = f.bytes(t)
				}
			}
			c.Expect.sizeless = true
			c.Expect.check(t, OpenSnapshot(snap, c.Options.limits()))
		})
	}
}

type dagExpect struct {
	Records, Heads []string
	ShardCount     int `json:"shard_count"`
	Shards         []struct {
		File string
		Size int64
	}
	Diagnostics []Diagnostic
	Locations   map[string]struct {
		Shard  string
		Offset int
	}
	Status       Status
	ListSegments []struct {
		ID, File string
		Bytes    int64
		Records  int
	} `json:"list_segments"`
	ReadRecords map[string]any `json:"read_records"`

	sizeless bool // a snapshot does not know the size of what is no file
}

func (want dagExpect) check(t *testing.T, l *Ledger) {
	t.Helper()
	var records []string
	for r := range l.Records() {
		records = append(records, r.SHA().String())
		file, offset, ok := l.Location(r.SHA())
		if at := want.Locations[r.SHA().String()]; !ok || at.Shard != file || at.Offset != offset {
			t.Errorf("%s stands at %s:%d, want %v", r.SHA(), file, offset, at)
		}
	}
	if !slices.Equal(records, want.Records) {
		t.Errorf("order:\n%v\nwant\n%v", records, want.Records)
	}
	var heads []string
	for _, h := range l.Heads() {
		heads = append(heads, h.String())
	}
	if !slices.Equal(heads, want.Heads) {
		t.Errorf("heads %v, want %v", heads, want.Heads)
	}
	if got := l.Diagnostics(); !slices.Equal(got, want.Diagnostics) {
		t.Errorf("diagnostics:\n%v\nwant\n%v", got, want.Diagnostics)
	}
	got, _ := json.Marshal(l.Status())
	status, _ := json.Marshal(want.Status)
	if string(got) != string(status) {
		t.Errorf("status %s, want %s", got, status)
	}
	shards := l.Shards()
	if len(shards) != want.ShardCount {
		t.Errorf("%d shards, want %d", len(shards), want.ShardCount)
	}
	segments := 0
	for i, s := range shards {
		if s.File != want.Shards[i].File || s.ID != "" && !want.sizeless && s.Bytes != want.Shards[i].Size {
			t.Errorf("shard %d is %v, want %v", i, s, want.Shards[i])
		}
		if s.ID != "" {
			segment := want.ListSegments[segments]
			if segments++; s.ID != segment.ID || s.Records != segment.Records {
				t.Errorf("segment %v, want %v", s, segment)
			}
		}
	}
	for file, expected := range want.ReadRecords {
		i := slices.IndexFunc(l.shards, func(s *shard) bool { return s.file == file })
		if i < 0 || l.shards[i].fault {
			continue
		}
		read, err := ReadSegment(l.shards[i].content)
		list, ok := expected.([]any)
		if ok != (err == nil) || len(read) != len(list) {
			t.Errorf("%s: ReadSegment gives %d records, %v; want %v", file, len(read), err, expected)
			continue
		}
		for j, r := range read {
			if r.SHA().String() != list[j] {
				t.Errorf("%s: record %d is %s, want %v", file, j, r.SHA(), list[j])
			}
		}
	}
}

func TestSegmentsHaveTheIdAndBytesOfTheReference(t *testing.T) {
	var v struct {
		Cases []struct {
			Name            string
			Metadata        json.RawMessage
			MaxSegmentBytes int `json:"max_segment_bytes"`
			Records         []string
			Segment         string
			Content         string
			Throws, Error   any
		}
	}
	vectors(t, "segments.json", &v)
	if len(v.Cases) < 40 {
		t.Fatalf("only %d cases", len(v.Cases))
	}
	built := 0
	for _, c := range v.Cases {
		metadata, err := canonical.Transform(c.Metadata)
		if err != nil {
			t.Fatal(err)
		}
		var records []Record
		bad := ""
		for _, line := range c.Records {
			r, fault := ParseLine([]byte(line))
			if fault != "" {
				bad = fault
				continue
			}
			records = append(records, r)
		}
		segment, err := BuildSegment(records, string(metadata), c.MaxSegmentBytes)
		if c.Segment == "" {
			if err == nil && bad == "" {
				t.Errorf("%s: built, want an error", c.Name)
			}
			continue
		}
		built++
		if err != nil || segment.ID != c.Segment || c.Content != "" && string(segment.Content) != c.Content {
			t.Errorf("%s: segment %s, %v; want %s", c.Name, segment.ID, err, c.Segment)
		}
	}
	if built < 30 {
		t.Errorf("only %d segments were built", built)
	}
}

// counter is the uuid source of the append vectors: the nth UUID read ends in n.
type counter struct{ n int }

func (c *counter) Read(p []byte) (int, error) {
	copy(p, []byte{0, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0xaa, 0xa0, 0, 0, byte(c.n >> 8), byte(c.n)})
	c.n++
	return 16, nil
}

func TestAppendWritesTheRecordsAndFilesOfTheReference(t *testing.T) {
	type appendCase struct {
		Name        string
		Options     dagOptions
		Seed        []dagFile
		NewEachStep bool `json:"new_ledger_per_step"`
		Steps       []struct {
			Type, Payload, Record string
			Error                 *struct{ Message string }
		}
		FinalFiles     []dagFile `json:"final_files"`
		TransactionLog string    `json:"transaction_log"`
	}
	var v struct{ Cases []appendCase }
	vectors(t, "append.json", &v)
	if len(v.Cases) < 12 {
		t.Fatalf("only %d cases", len(v.Cases))
	}
	// Departures: what admission refuses and the reference accepts, or the reverse.
	// A stale pending shard is not in the way of a writer here, see
	// TestANameThatIsTakenIsLeftToItsOwner.
	stricter := map[string]bool{"payload depth": true, "65 heads refused": true, "stale .pending of the same writer blocks the append (wx)": true}
	for _, c := range v.Cases {
		if len(c.Steps) == 0 || stricter[c.Name] {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			for _, f := range c.FinalFiles {
				if strings.HasSuffix(f.Name, pendingExt) {
					c.Seed = append(c.Seed, f)
				}
			}
			root := writeShards(t, c.Seed)
			random, clock := &counter{}, time.Date(2026, 11, 30, 4, 0, 0, 0, time.UTC)
			tick := func() time.Time { now := clock; clock = clock.Add(time.Millisecond); return now }
			options := WriterOptions{Clock: tick, Random: random}
			w, err := NewWriter(root, c.Options.limits(), options)
			if err != nil {
				t.Fatal(err)
			}
			for i, step := range c.Steps {
				if i > 0 && c.NewEachStep {
					if w, err = NewWriter(root, c.Options.limits(), options); err != nil {
						t.Fatal(err)
					}
				}
				r, err := w.Append(step.Type, []byte(step.Payload))
				if (err != nil) != (step.Error != nil) || string(r.Line()) != step.Record {
					t.Fatalf("step %d: %s, %v; want %s, %v", i, r.Line(), err, step.Record, step.Error)
				}
				if err == nil && c.TransactionLog != "" {
					tick() // the event of the transaction log reads the clock once
				}
			}
			for _, f := range c.FinalFiles {
				got, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(ShardDir), f.Name))
				if err != nil || string(got) != string(f.bytes(t)) {
					t.Errorf("%s:\n%s%v\nwant\n%s", f.Name, got, err, f.bytes(t))
				}
			}
			entries, err := os.ReadDir(filepath.Join(root, filepath.FromSlash(ShardDir)))
			if err != nil || len(entries) != len(c.FinalFiles) {
				t.Errorf("%d files, %v; want %d", len(entries), err, len(c.FinalFiles))
			}
			fresh, err := Open(root, c.Options.limits())
			if err != nil {
				t.Fatal(err)
			}
			a, _ := json.Marshal(w.Status())
			b, _ := json.Marshal(fresh.Status())
			if string(a) != string(b) {
				t.Errorf("the writer's view %s differs from that of a fresh reader %s", a, b)
			}
		})
	}
}
