package branch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/ledger"
)

func snapshot(files ...string) ledger.Snapshot {
	s := ledger.Snapshot{Head: strings.Repeat("1", 40), Files: map[string][]byte{}, Irregular: map[string]string{"link": "symbolic link"}}
	for _, f := range files {
		s.Files[f] = []byte("content of " + f)
	}
	return s
}

func TestExportWritesFilesWithTheirModes(t *testing.T) {
	for _, start := range []string{"absent", "empty"} {
		t.Run(start, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "deep", "out")
			if start == "empty" {
				if err := os.MkdirAll(dir, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			s := snapshot("ledger/shards/a.jsonl", "ledger/compaction/state.json", "notes.md", "a b/c:d")
			if err := Export(s, dir); err != nil {
				t.Fatal(err)
			}
			seen := 0
			err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				rel, _ := filepath.Rel(dir, path)
				text, err := os.ReadFile(path)
				if want := s.Files[filepath.ToSlash(rel)]; string(text) != string(want) {
					t.Errorf("%s: %q", rel, text)
				}
				info, _ := d.Info()
				if readOnly := info.Mode().Perm()&0o222 == 0; readOnly != strings.HasPrefix(rel, "ledger/shards/") {
					t.Errorf("%s has mode %v", rel, info.Mode())
				}
				seen++
				return err
			})
			if err != nil || seen != len(s.Files) {
				t.Errorf("%d files, %v", seen, err)
			}
		})
	}
}

func TestExportRefusesEveryPathThatCouldEscapeBeforeItWritesAny(t *testing.T) {
	for _, p := range []string{"../x", "/etc/x", "a/../../x", ".git/config", ".GIT/hooks/x", "GIT~1/x", `a\..\x`, "a\x00b", "", "a//b"} {
		outer := t.TempDir()
		dir := filepath.Join(outer, "out")
		if err := Export(snapshot("a-first.md", p), dir); !errors.Is(err, ErrPath) {
			t.Errorf("%q: %v", p, err)
		}
		if inside, _ := os.ReadDir(outer); len(inside) != 0 {
			t.Errorf("%q: wrote %v", p, inside)
		}
	}
}

func TestExportRefusesADirectoryThatIsNotItsOwn(t *testing.T) {
	outer := t.TempDir()
	full, file, link := filepath.Join(outer, "full"), filepath.Join(outer, "file"), filepath.Join(outer, "link")
	for _, err := range []error{os.MkdirAll(filepath.Join(full, "x"), 0o755), os.WriteFile(file, nil, 0o644), os.Symlink(t.TempDir(), link)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{full, file, link} {
		err := Export(snapshot("a"), dir)
		if !errors.Is(err, ErrDirectory) || strings.Contains(err.Error(), outer) {
			t.Errorf("%s: %v", filepath.Base(dir), err)
		}
	}
}

func TestExportSaysWhenTwoPathsOfABranchCannotStandTogether(t *testing.T) {
	// No git tree can hold these two; a Snapshot made by hand can.
	if err := Export(snapshot("a", "a/b"), filepath.Join(t.TempDir(), "out")); !errors.Is(err, ErrDirectory) && !errors.Is(err, ErrPath) {
		t.Errorf("got %v", err)
	}
}
