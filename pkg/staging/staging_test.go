package staging

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var valid = Manifest{Ledger: "memory", Branch: "ledgers/memory", Base: strings.Repeat("a", 40), Run: "17", Attempt: 1,
	Writer: "00000000-0000-4000-8000-000000000001"}

func TestWhatIsWrittenIsRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "memory")
	for _, m := range []Manifest{valid, {Ledger: "x", Branch: "memory/x", Writer: valid.Writer}} {
		if err := Write(dir, m); err != nil {
			t.Fatal(err)
		}
		m.Version = 1
		if got, err := Read(dir); err != nil || got != m {
			t.Errorf("read %+v, %v; want %+v", got, err, m)
		}
	}
	if entries, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(entries) != 1 || strings.HasPrefix(entries[0].Name(), ".") {
		t.Errorf("left %v, %v", entries, err)
	}
}

func TestAManifestThatIsNotThereIsAnErrorOfItsOwn(t *testing.T) {
	if _, err := Read(filepath.Join(t.TempDir(), "memory")); !errors.Is(err, ErrMissing) {
		t.Errorf("got %v", err)
	}
}

func TestAnythingButAManifestIsRefusedWithoutShowingIt(t *testing.T) {
	good := `{"version":1,"ledger":"memory","branch":"ledgers/memory","base":"","run":"17","attempt":1,"writer":"00000000-0000-4000-8000-000000000001"}`
	for name, text := range map[string]string{
		"empty":            "",
		"null":             "null",
		"list":             "[]",
		"unknown member":   strings.Replace(good, `"run"`, `"x":1,"run"`, 1),
		"other case":       strings.Replace(good, `"run"`, `"Run"`, 1),
		"twice":            strings.Replace(good, `"run"`, `"run":"1","run"`, 1),
		"missing writer":   strings.Replace(good, `,"writer":"00000000-0000-4000-8000-000000000001"`, ``, 1),
		"version 2":        strings.Replace(good, `"version":1`, `"version":2`, 1),
		"ledger path":      strings.Replace(good, `"memory"`, `"../SECRET"`, 1),
		"branch elsewhere": strings.Replace(good, `ledgers/memory`, `main`, 1),
		"base":             strings.Replace(good, `"base":""`, `"base":"SECRET"`, 1),
		"run":              strings.Replace(good, `"17"`, `"17\n::error::SECRET"`, 1),
		"attempt":          strings.Replace(good, `"attempt":1`, `"attempt":-1`, 1),
		"too long":         good + strings.Repeat(" ", maxManifestBytes),
		"two values":       good + good,
	} {
		dir := filepath.Join(t.TempDir(), "memory")
		if err := os.WriteFile(ManifestPath(dir), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		m, err := Read(dir)
		if err == nil || m != (Manifest{}) {
			t.Errorf("%s: read %+v, %v", name, m, err)
			continue
		}
		if s := err.Error(); strings.Contains(s, "SECRET") || strings.Contains(s, dir) || strings.Contains(s, "\n") {
			t.Errorf("%s: the error shows too much: %q", name, s)
		}
	}
	dir := filepath.Join(t.TempDir(), "memory")
	if err := os.WriteFile(dir, []byte(good), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(dir, ManifestPath(dir)); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(dir); err == nil || errors.Is(err, ErrMissing) {
		t.Errorf("a link was read: %v", err)
	}
}

func TestAManifestThatCouldNotBeReadIsNotWritten(t *testing.T) {
	m := valid
	m.Ledger = "a/b"
	dir := filepath.Join(t.TempDir(), "memory")
	if err := Write(dir, m); err == nil {
		t.Error("written")
	}
	if _, err := Read(dir); !errors.Is(err, ErrMissing) {
		t.Errorf("left something: %v", err)
	}
}
