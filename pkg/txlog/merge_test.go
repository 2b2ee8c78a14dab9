package txlog

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/canonical"
)

// mergeText merges a log of the given text onto an output that holds prior.
func mergeText(t testing.TB, log, prior string) (Report, string) {
	t.Helper()
	dir := t.TempDir()
	logPath, output := filepath.Join(dir, "log"), filepath.Join(dir, "output")
	write(t, logPath, []byte(log))
	if prior != "" {
		write(t, output, []byte(prior))
	}
	r := Merge(logPath, output)
	data, err := os.ReadFile(output)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return r, string(data)
}

func TestARunOfTheStepAgainAddsNothing(t *testing.T) {
	log := base + "\n" + with("aaaa", "cccc") + "\n"
	for name, prior := range map[string]string{"empty": "", "ended": "{}\n", "torn": "{}"} {
		_, first := mergeText(t, log, prior)
		r, second := mergeText(t, log, first)
		if second != first || r.Added != 0 || r.Present != 2 || r.Warnings != nil {
			t.Errorf("%s: %+v\n%s", name, r, second)
		}
		if r.Info != "Merged 0 ledger audit entries into the safe-output file; 2 already there" {
			t.Errorf("%s", r.Info)
		}
	}
}

func TestOnlyAnExactLineCountsAsAlreadyThere(t *testing.T) {
	for name, prior := range map[string]string{
		"the same record under another type": with("note", "forged") + "\n",
		"with a space":                       base + " \n",
		"inside a longer line":               `{"x":` + base + "}\n",
		"after a carriage return":            "x\r" + base + "\n",
		"at the end of a very long line":     strings.Repeat("y", 200_000) + base + "\n",
		"at the start of a very long line":   base + strings.Repeat("y", 200_000) + "\n",
	} {
		if r, got := mergeText(t, base+"\n", prior); r.Added != 1 || r.Present != 0 || got != prior+base+"\n" {
			t.Errorf("%s: %+v", name, r)
		}
	}
	for name, prior := range map[string]string{
		"first": base + "\n{}\n", "last": "{}\n" + base + "\n", "last and unfinished": "{}\n" + base,
		"after a very long line": strings.Repeat("y", 200_000) + "\n" + base + "\n",
	} {
		if r, got := mergeText(t, base+"\n", prior); r.Added != 0 || r.Present != 1 || got != prior {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func TestEveryDroppedLineIsCountedAndTheFirstAreNamed(t *testing.T) {
	log := base + "\n<<<<<<< HEAD\n" + with("aaaa", "cccc") + "\n=======\n\n   \n# comment\n[]\n\"str\"\nnull\n1\n>>>>>>> other\n" + with("aaaa", "dddd")
	r, got := mergeText(t, log, "")
	if r.Added != 3 || r.Dropped != 8 || strings.Count(got, "\n") != 3 {
		t.Errorf("%+v", r)
	}
	var lines []int
	for _, f := range r.Faults {
		lines = append(lines, f.Line)
	}
	if fmt.Sprint(lines) != "[2 4 7 8 9 10 11 12]" {
		t.Errorf("lines %v", lines)
	}
	r, _ = mergeText(t, strings.Repeat("x\n", 500), "")
	if r.Dropped != 500 || len(r.Faults) != MaxFaults {
		t.Errorf("%d dropped, %d named", r.Dropped, len(r.Faults))
	}
}

func TestALineOf64KiBNeitherStopsTheReaderNorHidesWhatFollows(t *testing.T) {
	for _, size := range []int{65_535, 65_536, 65_537, 1 << 20} {
		big := with(`"type":`, `"x":"`+strings.Repeat("y", size-len(base)-7)+`","type":`)
		if len(big) != size {
			t.Fatalf("%d bytes", len(big))
		}
		r, got := mergeText(t, with("aaaa", "cccc")+"\n"+big+"\n"+with("aaaa", "dddd")+"\n", "")
		want := 3
		if size > maxLineBytes {
			want = 2
		}
		if r.Added != want || r.Dropped != 3-want || strings.Count(got, "\n") != want {
			t.Errorf("%d: %+v", size, r)
		}
	}
}

func TestFillerOfManyLinesIsCountedAndNotDecoded(t *testing.T) {
	r, _ := mergeText(t, strings.Repeat("{}\n", maxLines)+base+"\n", "")
	if r.Added != 0 || r.Dropped != maxLines+1 {
		t.Errorf("%d added, %d dropped", r.Added, r.Dropped)
	}
	r, _ = mergeText(t, strings.Repeat("\n", maxLines-1)+base+"\n", "")
	if r.Added != 1 || r.Dropped != 0 {
		t.Errorf("%+v", r)
	}
}

func TestOneIdUnderTwoDigestsIsKeptTwiceAndCounted(t *testing.T) {
	r, got := mergeText(t, base+"\n"+with("aaaa", "cccc")+"\n"+with("note", "other")+"\n", "")
	if r.Added != 2 || r.Conflicts != 1 || r.Duplicate != 1 || r.Warnings != nil || strings.Contains(got, "other") {
		t.Errorf("%+v", r)
	}
}

func TestALogAtItsBoundIsMergedAndOneByteMoreIsNot(t *testing.T) {
	for extra, added := range map[int]int{0: 1, 1: 0} {
		r, _ := mergeText(t, base+"\n"+strings.Repeat(" ", MaxLogBytes-len(base)-1+extra), "")
		if r.Added != added || (len(r.Warnings) == 0) != (added == 1) {
			t.Errorf("%+v", r)
		}
	}
}

func TestAnOutputOverItsBoundIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	log, output := filepath.Join(dir, "log"), filepath.Join(dir, "output")
	write(t, log, []byte(base))
	write(t, output, nil)
	must(t, os.Truncate(output, maxOutputBytes+1))
	r := Merge(log, output)
	if info, _ := os.Stat(output); r.Added != 0 || len(r.Warnings) != 1 || info.Size() != maxOutputBytes+1 {
		t.Errorf("%+v", r)
	}
}

func TestAnInternalFaultIsAWarning(t *testing.T) {
	r := unfailing(func() Report { panic("secret") })
	if r.Info != "No ledger audit entries to merge" || len(r.Warnings) != 1 || strings.Contains(r.Warnings[0], "secret") {
		t.Errorf("%+v", r)
	}
}

func FuzzMergeKeepsOnlyKnownBoundedUniqueLinesAfterWhatStoodThere(f *testing.F) {
	for _, log := range []string{
		base, base + "\n" + base + "\n", base + base, with("aaaa", "cccc") + "\r\n" + base, "\ufeff" + base, "{}\n\x00\n" + base,
		with(`"record":`, `"Record":1,"record":`), with(`"record":{`, `"record":{"payload":{"a":[1e400]},`), with("note", `a\n\u0000`),
		with(`"parents":[]`, quotedList(manyParents(64)...)), strings.Repeat("{}\n", 2000), "<<<<<<< HEAD\n" + base + "\n=======\n",
	} {
		f.Add(log, "")
		f.Add(log, "{\"type\":\"noop\"}")
		f.Add(log, base+"\n")
	}
	f.Fuzz(func(t *testing.T, log, prior string) {
		r, got := mergeText(t, log, prior)
		if !strings.HasPrefix(got, prior) {
			t.Fatal("what stood in the output was changed")
		}
		added := got[len(prior):]
		if r.Added == 0 {
			if added != "" {
				t.Fatalf("nothing added and %q written", added)
			}
			return
		}
		if prior != "" && !strings.HasSuffix(prior, "\n") {
			if !strings.HasPrefix(added, "\n") {
				t.Fatal("the first line is glued to what stood there")
			}
			added = added[1:]
		}
		lines := strings.Split(strings.TrimSuffix(added, "\n"), "\n")
		if len(lines) != r.Added || r.Added > MaxEntries || !strings.HasSuffix(added, "\n") {
			t.Fatalf("%d lines, %d reported", len(lines), r.Added)
		}
		seen := map[string]bool{}
		for _, line := range lines {
			e, err := parseEvent([]byte(line))
			if err != nil || string(e.Entry()) != line {
				t.Fatalf("a line that is no entry: %q, %v", line, err)
			}
			// The decoder refuses every name that this struct does not have.
			var exact struct {
				Type      string `json:"type"`
				Operation string `json:"operation"`
				Timestamp string `json:"timestamp"`
				Record    struct {
					ID         string   `json:"id"`
					Type       string   `json:"type"`
					Timestamp  string   `json:"timestamp"`
					Parents    []string `json:"parents"`
					SHA        string   `json:"sha"`
					PayloadSHA string   `json:"payload_sha"`
				} `json:"record"`
			}
			if err := canonical.Decode([]byte(line), &exact); err != nil {
				t.Fatalf("unknown members in %q: %v", line, err)
			}
			if seen[e.SHA.String()] || len(line) > 8<<10 {
				t.Fatalf("line %q", line)
			}
			seen[e.SHA.String()] = true
		}
		if again, second := mergeText(t, log, got); again.Added != 0 || second != got {
			t.Fatalf("a second run added %d", again.Added)
		}
	})
}
