//go:build unix

package regular

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestOnlyARegularFileWithOneLinkIsRead(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(at("plain"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at("twin"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		os.Symlink("plain", at("link")), os.Symlink(at("plain"), at("absolute")), os.Symlink("nowhere", at("dangling")),
		os.Link(at("twin"), at("hard")), os.Mkdir(at("folder"), 0o700), syscall.Mkfifo(at("pipe"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for name, want := range map[string]error{
		"plain": nil, "link": ErrKind, "absolute": ErrKind, "dangling": ErrKind, "hard": ErrLinked,
		"folder": ErrKind, "pipe": ErrKind, "/dev/null": ErrKind, "absent": os.ErrNotExist,
	} {
		path := at(name)
		if filepath.IsAbs(name) {
			path = name
		}
		f, err := Open(path)
		if !errors.Is(err, want) {
			t.Errorf("Open(%s) = %v, want %v", name, err, want)
		}
		if err != nil && strings.Contains(err.Error(), dir) {
			t.Errorf("Open(%s) shows the path: %v", name, err)
		}
		f.Close()
		if !filepath.IsAbs(name) {
			f, err := OpenIn(root, name)
			if !errors.Is(err, want) {
				t.Errorf("OpenIn(%s) = %v, want %v", name, err, want)
			}
			f.Close()
		}
	}
}

func TestReadingStopsAtTheBoundWithAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadFile(path, 5); err != nil || string(got) != "12345" {
		t.Errorf("at the bound: %q, %v", got, err)
	}
	if got, err := ReadFile(path, 4); !errors.Is(err, ErrTooLarge) || got != nil {
		t.Errorf("over the bound: %q, %v", got, err)
	}
}
