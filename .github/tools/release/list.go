package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// list is actions/checksums.txt.
type list struct {
	release, toolchain, source string
	digests                    map[string]string
}

func listPath(root string) string { return filepath.Join(root, "actions", "checksums.txt") }

// sums are the lines of the list without its comments.
func (l list) sums() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(l.digests)) {
		fmt.Fprintf(&b, "%s  %s\n", l.digests[name], name)
	}
	return b.String()
}

func (l list) String() string {
	return "# release " + l.release + "\n# toolchain " + l.toolchain + "\n# source " + l.source + "\n" + l.sums()
}

// parse reads a list; it must be the very text that String writes.
func parse(text string) (list, error) {
	l := list{digests: map[string]string{}}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if rest, ok := strings.CutPrefix(line, "# "); ok {
			key, value, _ := strings.Cut(rest, " ")
			switch key {
			case "release":
				l.release = value
			case "toolchain":
				l.toolchain = value
			case "source":
				l.source = value
			}
			continue
		}
		sum, name, ok := strings.Cut(line, "  ")
		if _, err := hex.DecodeString(sum); !ok || err != nil || len(sum) != 2*sha256.Size {
			return list{}, fmt.Errorf("checksums.txt: %q is no digest and name", line)
		}
		l.digests[name] = sum
	}
	if l.String() != text {
		return list{}, errors.New("checksums.txt was not written by this program: prepare the release anew")
	}
	return l, nil
}

// source is the digest of what a build reads of this module.
func source(root string) (string, error) {
	var paths []string
	for _, from := range []string{"go.mod", "go.sum", "cmd", "pkg"} {
		err := filepath.WalkDir(filepath.Join(root, from), func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && d.Name() == "testdata":
				return fs.SkipDir
			case d.IsDir() || strings.HasSuffix(path, "_test.go"):
				return nil
			case !d.Type().IsRegular():
				return fmt.Errorf("%s is no regular file", path)
			}
			paths = append(paths, path)
			return nil
		})
		if err != nil {
			return "", err
		}
	}
	h := sha256.New()
	lines := map[string]string{}
	for _, path := range paths {
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return "", err
		}
		sum, err := digest(path)
		if err != nil {
			return "", err
		}
		lines[filepath.ToSlash(rel)] = sum
	}
	for _, path := range slices.Sorted(maps.Keys(lines)) {
		fmt.Fprintf(h, "%s  %s\n", lines[path], path)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// prepare writes the list of a release of the commit that is checked out.
func prepare(root string, m matrix, version string) error {
	cmd := exec.Command("git", "status", "--porcelain")
	cmd.Dir, cmd.Stderr = root, os.Stderr
	if out, err := cmd.Output(); err != nil || len(bytes.TrimSpace(out)) > 0 {
		return errors.New("the working tree has changes: a release is made of a commit")
	}
	dir, err := os.MkdirTemp("", "ledger-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	l := list{release: version, toolchain: toolchain}
	if l.source, err = source(root); err != nil {
		return err
	}
	if l.digests, err = build(root, m, version, dir); err != nil {
		return err
	}
	return os.WriteFile(listPath(root), []byte(l.String()), 0o644)
}

// verify builds a release again, and leaves the binaries and their SHA256SUMS in a
// folder if they are what the list pins.
func verify(root string, m matrix, version, dir string) error {
	pinned, err := checked(root, m)
	if err != nil {
		return err
	}
	if pinned.release != version {
		return fmt.Errorf("checksums.txt is of release %s, not %s", pinned.release, version)
	}
	if err := pinnedActions(root); err != nil {
		return err
	}
	got, err := build(root, m, version, dir)
	if err != nil {
		return err
	}
	var faults []error
	for _, name := range m.names() {
		if got[name] != pinned.digests[name] {
			faults = append(faults, fmt.Errorf("%s: built %s, pinned %s", name, got[name], pinned.digests[name]))
		}
	}
	if len(faults) > 0 {
		return fmt.Errorf("this build is not what checksums.txt pins:\n%w", errors.Join(faults...))
	}
	return os.WriteFile(filepath.Join(dir, "SHA256SUMS"), []byte(pinned.sums()), 0o644)
}

// check has nothing to say of a commit that is no release.
func check(root string, m matrix) error {
	if _, err := os.Lstat(listPath(root)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	_, err := checked(root, m)
	return err
}

// checked reads the list and compares it with all but a build.
func checked(root string, m matrix) (list, error) {
	text, err := os.ReadFile(listPath(root))
	if err != nil {
		return list{}, errors.New("there is no actions/checksums.txt: this commit is no release")
	}
	l, err := parse(string(text))
	if err != nil {
		return list{}, err
	}
	if got := slices.Sorted(maps.Keys(l.digests)); !slices.Equal(got, m.names()) {
		return list{}, fmt.Errorf("checksums.txt pins %v, a release has %v", got, m.names())
	}
	if l.toolchain != toolchain {
		return list{}, fmt.Errorf("checksums.txt was made with %s, a release is made with %s", l.toolchain, toolchain)
	}
	if now, err := source(root); err != nil || now != l.source {
		return list{}, errors.New("checksums.txt is of other source: remove it, only the commit of a release has one")
	}
	return l, nil
}
