package safeoutput

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/repo-memory/ledger/pkg/regular"
)

func list(data string) (got []string) {
	for n, text := range Entries([]byte(data)) {
		got = append(got, fmt.Sprintf("%d %s", n, text))
	}
	return got
}

func TestBothFormsAreReadAndNothingElseIsTakenForADocument(t *testing.T) {
	for name, c := range map[string]struct {
		data string
		want []string
	}{
		"nothing":                           {"", nil},
		"lines":                             {"{\"a\":1}\n\n \ufeff\t\r\n[2]\r\n{torn", []string{"1 {\"a\":1}", "4 [2]", "5 {torn"}},
		"a document":                        {` {"items": [{"a":1}, 2, "x"], "errors": []} `, []string{`1 {"a":1}`, "2 2", `3 "x"`}},
		"a document without items":          {`{"errors":[]}`, []string{`1 {"errors":[]}`}},
		"a document of no items":            {`{"items":[]}`, nil},
		"items that are no list":            {`{"items":{}}`, []string{`1 {"items":{}}`}},
		"two lists of items":                {`{"items":[1],"items":[2]}`, []string{`1 {"items":[1],"items":[2]}`}},
		"an entry that has items":           {`{"type":"x","items":[1]}`, []string{`1 {"type":"x","items":[1]}`}},
		"an entry whose type is spelled so": {`{"items":[1],"TYPE":"x"}`, []string{`1 {"items":[1],"TYPE":"x"}`}},
		"a line after the document":         {"{\"items\":[1]}\n{\"a\":1}", []string{`1 {"items":[1]}`, `2 {"a":1}`}},
		"an item that is no JSON":           {`{"items":[1,x]}`, []string{`1 {"items":[1,x]}`}},
		"a bad item does not hide others":   {`{"items":[{"a":1,"a":2},3]}`, []string{`1 {"a":1,"a":2}`, "2 3"}},
	} {
		if got := list(c.data); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestAReaderMayStop(t *testing.T) {
	for _, data := range []string{"1\n2\n3\n", `{"items":[1,2,3]}`} {
		n := 0
		for range Entries([]byte(data)) {
			if n++; n == 2 {
				break
			}
		}
		if n != 2 {
			t.Errorf("%s: %d", data, n)
		}
	}
}

func TestOnlyARegularFileIsRead(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	if err := os.WriteFile(file, []byte("{}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := Read(file); err != nil || string(data) != "{}\n" {
		t.Errorf("%q, %v", data, err)
	}
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(link); !errors.Is(err, regular.ErrKind) {
		t.Errorf("a link: %v", err)
	}
	if _, err := Read(filepath.Join(dir, "absent")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
	if err := os.Truncate(file, MaxBytes+1); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(file); !errors.Is(err, regular.ErrTooLarge) {
		t.Errorf("large: %v", err)
	}
}

func FuzzEntries(f *testing.F) {
	for _, seed := range []string{"{}\n[]\n", `{"items":[{"type":"x"}]}`, `{"items":[1],"items":[2]}`, "\ufeff\n{"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		last, total := 0, 0
		for n, text := range Entries(data) {
			if n <= last || len(text) == 0 || !bytes.Contains(data, text) {
				t.Fatalf("entry %d after %d: %q", n, last, text)
			}
			last, total = n, total+len(text)
		}
		if total > len(data) {
			t.Fatalf("%d bytes of %d", total, len(data))
		}
	})
}
