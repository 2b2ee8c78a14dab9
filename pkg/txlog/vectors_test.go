package txlog

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/ledger"
)

type vectorCase struct {
	Name, Kind, Text, Base64, Recipe string
	PriorOutput                      string `json:"prior_output"`
	Expect                           vectorExpect
}

type vectorExpect struct {
	Merged      *string
	MergedLines *int    `json:"merged_lines"`
	MergedSHA   *string `json:"merged_sha256"`
	Warnings    []string
	Infos       []string
}

type vectors struct {
	BaseEntry          string `json:"base_entry"`
	Cases              []vectorCase
	NoOutputConfigured vectorExpect `json:"no_output_configured"`
	LedgerWritten      struct {
		Records     []string
		Log, Merged string
		FileMode    string `json:"file_mode"`
	} `json:"ledger_written"`
}

func loadVectors(t testing.TB, name string, target any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "vectors", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, target); err != nil {
		t.Fatal(err)
	}
}

// dropped is the answer to a log of one line that is not kept.
func dropped(e *vectorExpect) {
	e.Merged = nil
	e.Warnings = []string{"Dropped 1 malformed or excess ledger audit entry"}
	e.Infos = []string{"No ledger audit entries to merge"}
}

// departures are the vectors that this package answers otherwise, as its
// documentation says: the log is hostile.
var departures = map[string]func(*vectorExpect){
	"duplicate json keys, last wins":            dropped, // a repeated name is refused
	"timestamp 64 chars":                        dropped, // free text is no timestamp
	"timestamp empty":                           dropped,
	"record timestamp 64":                       dropped,
	"record type control chars":                 dropped, // admission takes no such type
	"parents 200 accepted":                      dropped, // records have at most 64
	"invalid UTF-8 becomes U+FFFD and survives": dropped,
	"existing output without trailing newline is not repaired": func(e *vectorExpect) {
		merged := strings.Replace(*e.Merged, `{"type":"noop"}{`, "{\"type\":\"noop\"}\n{", 1)
		e.Merged = &merged
	},
}

// numbered is the line that the recipes call i.
func numbered(base string, i int) string {
	return strings.Replace(base, strings.Repeat("a", 64), fmt.Sprintf("%064x", i), 1) + "\n"
}

func (c vectorCase) log(t *testing.T, base string) []byte {
	t.Helper()
	many := func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(numbered(base, i))
		}
		return b.String()
	}
	switch {
	case c.Base64 != "":
		data, err := base64.StdEncoding.DecodeString(c.Base64)
		if err != nil {
			t.Fatal(err)
		}
		return data
	case c.Recipe == "":
		return []byte(c.Text)
	case c.Name == "1,003 entries: 3 dropped":
		return []byte(many(1003))
	case strings.HasPrefix(c.Recipe, "n=1003, then lines i=0 and i=1002 again"):
		return []byte(many(1003) + numbered(base, 0) + numbered(base, 1002))
	case c.Name == "4 MiB + 1":
		return []byte(base + "\n" + strings.Repeat(" ", MaxLogBytes-len(base)))
	}
	t.Fatalf("recipe %q is not known", c.Recipe)
	return nil
}

func TestMergeAnswersTheVectors(t *testing.T) {
	var v vectors
	loadVectors(t, "txlog.json", &v)
	if len(v.Cases) < 48 {
		t.Fatalf("only %d cases", len(v.Cases))
	}
	used := 0
	for _, c := range v.Cases {
		t.Run(c.Name, func(t *testing.T) {
			dir := t.TempDir()
			log, output := filepath.Join(dir, "log"), filepath.Join(dir, "output")
			switch c.Kind {
			case "file":
				write(t, log, c.log(t, v.BaseEntry))
			case "dir":
				must(t, os.Mkdir(log, 0o700))
			case "symlink":
				write(t, filepath.Join(dir, "elsewhere"), []byte(c.Text))
				must(t, os.Symlink("elsewhere", log))
			case "absent":
			default:
				t.Fatalf("kind %q", c.Kind)
			}
			if c.PriorOutput != "" {
				write(t, output, []byte(c.PriorOutput))
			}
			want := c.Expect
			if fix, ok := departures[c.Name]; ok {
				used++
				fix(&want)
			}
			r := Merge(log, output)
			if !reflect.DeepEqual(append([]string{}, r.Warnings...), want.Warnings) {
				t.Errorf("warnings %q, want %q", r.Warnings, want.Warnings)
			}
			if len(want.Infos) != 1 || r.Info != want.Infos[0] {
				t.Errorf("info %q, want %q", r.Info, want.Infos)
			}
			merged, err := os.ReadFile(output)
			switch {
			case want.MergedLines != nil:
				if lines := strings.Count(string(merged), "\n"); lines != *want.MergedLines {
					t.Errorf("%d lines, want %d", lines, *want.MergedLines)
				}
				if want.MergedSHA != nil && canonical.Sum(merged) != *want.MergedSHA {
					t.Errorf("digest %s, want %s", canonical.Sum(merged), *want.MergedSHA)
				}
			case want.Merged == nil:
				if err == nil {
					t.Errorf("output was created: %q", merged)
				}
			case string(merged) != *want.Merged:
				t.Errorf("merged\n%s\nwant\n%s", merged, *want.Merged)
			}
		})
	}
	if used != len(departures) {
		t.Errorf("%d of %d departures stand in the vectors", used, len(departures))
	}
}

func TestWithoutASafeOutputFileNothingIsMerged(t *testing.T) {
	var v vectors
	loadVectors(t, "txlog.json", &v)
	if r := Merge("anything", ""); r.Info != v.NoOutputConfigured.Infos[0] || r.Warnings != nil {
		t.Errorf("%+v", r)
	}
}

func TestTheWriterWritesTheVectorsLogAndItMergesToTheVectorsOutput(t *testing.T) {
	var v vectors
	loadVectors(t, "txlog.json", &v)
	dir := t.TempDir()
	log, output := filepath.Join(dir, "log"), filepath.Join(dir, "output")
	w, err := OpenWriter(log)
	must(t, err)
	for _, line := range v.LedgerWritten.Records {
		r := record(t, line)
		at, _ := ledger.ParseTime(r.Timestamp())
		must(t, w.Append(EventOf(r, at)))
	}
	must(t, w.Close())
	if got := read(t, log); got != v.LedgerWritten.Log {
		t.Errorf("log\n%s\nwant\n%s", got, v.LedgerWritten.Log)
	}
	if info, _ := os.Stat(log); fmt.Sprintf("%o", info.Mode().Perm()) != v.LedgerWritten.FileMode {
		t.Errorf("mode %o", info.Mode().Perm())
	}
	if r := Merge(log, output); r.Added != 2 || r.Warnings != nil {
		t.Errorf("%+v", r)
	}
	if got := read(t, output); got != v.LedgerWritten.Merged {
		t.Errorf("merged\n%s\nwant\n%s", got, v.LedgerWritten.Merged)
	}
}

func TestEventsAreTheReferencesForEveryAppendOfTheVectors(t *testing.T) {
	var v struct {
		Cases []struct {
			Name           string
			Steps          []struct{ Record *string }
			TransactionLog *string `json:"transaction_log"`
		}
	}
	loadVectors(t, "append.json", &v)
	checked := 0
	for _, c := range v.Cases {
		if c.TransactionLog == nil {
			continue
		}
		lines := strings.Split(strings.TrimSuffix(*c.TransactionLog, "\n"), "\n")
		for _, step := range c.Steps {
			if step.Record == nil {
				continue
			}
			var at struct{ Timestamp string }
			must(t, json.Unmarshal([]byte(lines[0]), &at))
			time, _ := ledger.ParseTime(at.Timestamp)
			if got := string(EventOf(record(t, *step.Record), time).Line()); got != lines[0] {
				t.Errorf("%s: event\n%s\nwant\n%s", c.Name, got, lines[0])
			}
			lines = lines[1:]
			checked++
		}
		if len(lines) != 0 {
			t.Errorf("%s: %d events without a record", c.Name, len(lines))
		}
	}
	if checked < 3 {
		t.Errorf("only %d events checked", checked)
	}
}

func record(t testing.TB, line string) ledger.Record {
	t.Helper()
	r, fault := ledger.ParseLine([]byte(line))
	if fault != "" {
		t.Fatalf("no record: %s", fault)
	}
	return r
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func write(t testing.TB, path string, data []byte) {
	t.Helper()
	must(t, os.WriteFile(path, data, 0o600))
}

func read(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	return string(data)
}
