package script

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestInputIsHandedOverExactly(t *testing.T) {
	got, err := ValidationInput{
		Files:   []File{{"a/é.md", "\"\\\n\u2028\x00"}, {"b", ""}},
		Records: [][]byte{[]byte(`{"a":[1.5,null]}` + "\n"), []byte(`{"__proto__":{"b":""}}`)},
	}.encode()
	want := `[{"files":[{"path":"a/é.md","text":"\"\\\n` + "\u2028" + `\u0000"},{"path":"b","text":""}],` +
		`"records":[{"a":[1.5,null]},{"__proto__":{"b":""}}]}]`
	if err != nil || string(got) != want {
		t.Fatalf("got  %s, %v\nwant %s", got, err, want)
	}
	got, err = encodeSelection(
		[]Segment{
			{ID: idA, SHA256: "sha256:00", Bytes: 12, Records: []string{"sha256:01", "sha256:02"}, Types: map[string]int{"b": 1, "a": 2}, Oldest: "o", Newest: "n"},
			{ID: idB},
		},
		SelectionOptions{Ledger: "l", Branch: "ledgers/l", Trigger: "requested", MinSegments: 2, MaxSegments: 8, MaxSegmentBytes: 102400})
	want = `[[{"id":"` + idA + `","sha256":"sha256:00","bytes":12,"records":["sha256:01","sha256:02"],"types":{"a":2,"b":1},"oldest":"o","newest":"n"},` +
		`{"id":"` + idB + `","sha256":"","bytes":0,"records":[],"types":{},"oldest":"","newest":""}],` +
		`{"ledger":"l","branch":"ledgers/l","trigger":"requested","minSegments":2,"maxSegments":8,"maxSegmentBytes":102400}]`
	if err != nil || string(got) != want {
		t.Fatalf("got  %s, %v\nwant %s", got, err, want)
	}
}

// Nothing here may start node: the path leads nowhere.
func TestNothingIsStartedOnInputThatCannotBeHandedOver(t *testing.T) {
	nowhere := Options{Node: filepath.Join(t.TempDir(), "node")}
	large := strings.Repeat("x", MaxInputBytes)
	for _, c := range []struct {
		name   string
		o      Options
		source string
		input  ValidationInput
		want   error
	}{
		{"a file over the bound", nowhere, "1", ValidationInput{Files: []File{{"a", large}}}, ErrInputTooLarge},
		{"files over the bound together", nowhere, "1", ValidationInput{Files: []File{{"a", large[:MaxInputBytes/2]}, {"b", large[:MaxInputBytes/2]}}}, ErrInputTooLarge},
		{"text that grows over the bound when it is quoted", nowhere, "1", ValidationInput{Files: []File{{"a", strings.Repeat("\n", MaxInputBytes*2/3)}}}, ErrInputTooLarge},
		{"a record over the bound", nowhere, "1", ValidationInput{Records: [][]byte{[]byte(`"` + large + `"`)}}, ErrInputTooLarge},
		{"a file that is not text", nowhere, "1", ValidationInput{Files: []File{{"a", "\xff"}}}, ErrInput},
		{"a path that is not text", nowhere, "1", ValidationInput{Files: []File{{"\xff", ""}}}, ErrInput},
		{"a record that is not canonical", nowhere, "1", ValidationInput{Records: [][]byte{[]byte(`{"a": 1}`)}}, ErrInput},
		{"two records in one", nowhere, "1", ValidationInput{Records: [][]byte{[]byte("{}\n{}\n")}}, ErrInput},
		{"an empty script", nowhere, "", ValidationInput{}, ErrInput},
		{"a script over the bound", nowhere, strings.Repeat(" ", MaxScriptBytes+1), ValidationInput{}, ErrInput},
		{"a script that is not text", nowhere, "\xff", ValidationInput{}, ErrInput},
		{"a timeout below zero", Options{Timeout: -1}, "1", ValidationInput{}, ErrInput},
		{"a timeout over the bound", Options{Timeout: MaxTimeout + time.Nanosecond}, "1", ValidationInput{}, ErrInput},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Validate(context.Background(), c.o, []byte(c.source), c.input); !errors.Is(err, c.want) {
				t.Fatalf("got %v, want %v", err, c.want)
			}
		})
	}
	t.Run("segments over the bound", func(t *testing.T) {
		records := make([]string, 1<<16)
		for i := range records {
			records[i] = "sha256:" + strings.Repeat("0", 64)
		}
		segments := make([]Segment, 8)
		for i := range segments {
			segments[i].Records = records
		}
		if _, err := Select(context.Background(), nowhere, []byte("1"), segments, SelectionOptions{}); !errors.Is(err, ErrInputTooLarge) {
			t.Fatalf("got %v, want %v", err, ErrInputTooLarge)
		}
	})
}

func TestAScriptFileIsReadWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	largest := strings.Repeat(" ", MaxScriptBytes)
	if got, err := ReadFile(write("largest.js", largest)); err != nil || string(got) != largest {
		t.Fatalf("the largest script: %d bytes, %v", len(got), err)
	}
	for name, path := range map[string]string{
		"one byte more":   write("more.js", largest+" "),
		"empty":           write("empty.js", ""),
		"not UTF-8":       write("bytes.js", "\xff"),
		"a folder":        dir,
		"a missing file":  filepath.Join(dir, "missing.js"),
		"beyond the disk": filepath.Join(dir, "more.js", "x"),
	} {
		if _, err := ReadFile(path); !errors.Is(err, ErrInput) || strings.Contains(err.Error(), dir) {
			t.Errorf("%s: got %v, want %v without a path", name, err, ErrInput)
		}
	}
}
