//go:build unix

package persist

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// must stops a test whose preparation failed.
func must(t testing.TB, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func TestWhatIsNoRegularFileIsRejectedAndNeverFollowed(t *testing.T) {
	dir := tree(t, map[string]string{"notes.md": "text", shard(1): lines(record(t, 1))})
	outside := tree(t, map[string]string{"secret.md": "secret", "deep/secret.md": "secret"})
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	must(t,
		os.Symlink(filepath.Join(outside, "secret.md"), at("absolute.md")),
		os.Symlink("../../staging/notes.md", at("relative.md")),
		os.Symlink("notes.md", at("inside.md")),
		os.Symlink("nowhere", at("dangling.md")),
		os.Symlink(outside, at("folder")),
		os.Symlink(".", at("loop")),
		os.Symlink(filepath.Join(outside, "secret.md"), at(shard(2))),
		os.Link(filepath.Join(outside, "secret.md"), at("hard.md")),
		os.Link(at("notes.md"), at("twice.md")),
		syscall.Mkfifo(at("pipe.jsonl"), 0o644),
		syscall.Mkfifo(at(shard(3)), 0o644),
		os.Mkdir(at(shard(4)), 0o755),
		os.WriteFile(at(shard(4)+"/x.jsonl"), nil, 0o644),
	)
	socket, err := net.Listen("unix", at("s.txt"))
	must(t, err)
	defer socket.Close()
	c, r, err := prepare(t, dir, options()).Change(branchOf(nil))
	must(t, err)
	for _, name := range []string{"absolute.md", "relative.md", "inside.md", "dangling.md", "folder", "loop", shard(2), "pipe.jsonl", shard(3), "s.txt"} {
		wantRejected(t, r, name, 0, "no regular file")
	}
	for _, name := range []string{"hard.md", "twice.md", "notes.md"} {
		wantRejected(t, r, name, 0, "more than one link")
	}
	wantRejected(t, r, shard(4), 0, "a folder where a shard should be")
	if r.Accepted.Count != 1 || r.Ignored.Count != 0 || len(c.Add) != 1 {
		t.Errorf("more than the one record is taken: %q", verdicts(r))
	}
	for path, content := range c.Add {
		if strings.Contains(string(content), "secret") {
			t.Errorf("%s holds what a link leads to", path)
		}
	}
}

func TestALinkInPlaceOfTheStagingDirectoryOrItsFoldersIsNotFollowed(t *testing.T) {
	dir := tree(t, map[string]string{shard(1): lines(record(t, 1))})
	link := filepath.Join(t.TempDir(), "link")
	must(t, os.Symlink(dir, link))
	if _, err := Prepare(link, options()); err == nil || !strings.Contains(err.Error(), "a link or no directory") {
		t.Errorf("a linked staging directory gives %v", err)
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	must(t, syscall.Mkfifo(pipe, 0o600))
	if _, err := Prepare(pipe, options()); err == nil {
		t.Error("a pipe is taken for a staging directory")
	}
	for _, name := range []string{"ledger", "ledger/shards"} {
		staged := tree(t, nil)
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(staged, name)), 0o755), os.Symlink(filepath.Join(dir, name), filepath.Join(staged, name)))
		_, r, err := prepare(t, staged, options()).Change(branchOf(nil))
		must(t, err)
		wantCounts(t, r, 0, 0, 1)
		wantRejected(t, r, name, 0, "no regular file")
	}
}

func TestNamesThatNoBranchCanHoldAreRejectedWithoutALook(t *testing.T) {
	dir := tree(t, nil)
	names := map[string]string{
		"a\nb.md": "control character", "a\x1bb.md": "control character", "a\u0085b.md": "control character",
		`a\b.md`: "backslash", "a\xffb.md": "not UTF-8", ".git": "git's own folder", ".GIT": "git's own folder",
		".git\u200c": "git's own folder", ".git.": "git's own folder", ".git ": "git's own folder", "git~1": "git's own folder",
		".git::$INDEX_ALLOCATION": "git's own folder",
	}
	for name := range names {
		must(t, os.MkdirAll(filepath.Join(dir, name, "hooks"), 0o755),
			os.WriteFile(filepath.Join(dir, name, "hooks", "x.md"), nil, 0o644),
			syscall.Mkfifo(filepath.Join(dir, name, "pipe.md"), 0o644))
	}
	_, r, err := prepare(t, dir, options()).Change(branchOf(nil))
	must(t, err)
	for name, words := range names {
		wantRejected(t, r, name, 0, words)
	}
	wantCounts(t, r, 0, 0, len(names))
}

func TestAnItemIsPrintedOnOneLineOfASCII(t *testing.T) {
	dir := tree(t, nil)
	name := "::error::\u202e\n\x1b[31m" + strings.Repeat("é", 100) + "\xff.md"
	must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o644))
	_, r, err := prepare(t, dir, options()).Change(branchOf(nil))
	must(t, err)
	text := r.Rejected.Items[0].String()
	for _, c := range []byte(strings.ReplaceAll(text, "…", "")) {
		if c < ' ' || c > '~' {
			t.Fatalf("not printable: %q", text)
		}
	}
	if len(text) > 1200 || !strings.Contains(text, "…(+") {
		t.Errorf("not bounded: %d bytes, %q", len(text), text)
	}
	if err := r.Err(); err == nil || !strings.Contains(err.Error(), "1 staged items rejected") {
		t.Errorf("Err is %v", err)
	}
}

func TestAFileSwappedBetweenTheLookAndTheReadIsRejected(t *testing.T) {
	dir := tree(t, map[string]string{"notes.md": "text"})
	root, err := os.OpenRoot(dir)
	must(t, err)
	defer root.Close()
	before, err := root.Lstat(".")
	must(t, err)
	// A folder that is another one when it is opened.
	must(t, os.Rename(dir, dir+".old"), os.Mkdir(dir, 0o755))
	other, err := os.OpenRoot(dir)
	must(t, err)
	defer other.Close()
	if err := sameFolder(other, before); err == nil {
		t.Error("a replaced folder is taken")
	}
	if err := sameFolder(root, before); err != nil {
		t.Error(err)
	}
}

func TestAHugeSparseFileIsRejectedUnread(t *testing.T) {
	dir := tree(t, map[string]string{"notes.md": "text"})
	for _, name := range []string{"huge.md", "huger.md"} {
		must(t, os.WriteFile(filepath.Join(dir, name), nil, 0o644), os.Truncate(filepath.Join(dir, name), 5<<30))
	}
	must(t, os.MkdirAll(filepath.Join(dir, "ledger/shards"), 0o755), os.WriteFile(filepath.Join(dir, shard(1)), nil, 0o644),
		os.Truncate(filepath.Join(dir, shard(1)), 5<<30))
	_, r, err := prepare(t, dir, options()).Change(branchOf(nil))
	must(t, err)
	wantCounts(t, r, 1, 0, 3)
	wantRejected(t, r, "huge.md", 0, "larger than")
	wantRejected(t, r, shard(1), 0, "larger than")
}

func TestBoundsOnTheWholeStagingAreErrors(t *testing.T) {
	var limit *LimitError
	// 33 sparse files of 16 MiB are more than 512 MiB.
	dir := tree(t, nil)
	for i := range 33 {
		name := filepath.Join(dir, fmt.Sprint(i, ".md"))
		must(t, os.WriteFile(name, nil, 0o644), os.Truncate(name, 16<<20))
	}
	// Reading them takes memory, so the bound is looked at before each file.
	s := &scan{fold: newFolder(), bytes: maxStagedBytes - 16<<20}
	if err := s.directory(dir); !errors.As(err, &limit) || limit.Allowed != maxStagedBytes || limit.Measured != maxStagedBytes+16<<20 {
		t.Errorf("too many bytes give %v", err)
	}
	// One entry more than allowed.
	many := tree(t, map[string]string{"a.md": "", "b/c.md": ""})
	for extra, want := range map[int]bool{0: true, 1: false} {
		s := &scan{fold: newFolder(), seen: maxEntries - 3 + extra}
		err := s.directory(many)
		if (err == nil) != want || !want && !errors.As(err, &limit) {
			t.Errorf("%d entries over the bound give %v", extra, err)
		}
	}
}

func TestAFolderThatCannotBeReadIsAnErrorAndNoEmptyStaging(t *testing.T) {
	if _, err := Prepare(filepath.Join(t.TempDir(), "absent"), options()); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("an absent directory gives %v", err)
	}
	dir := tree(t, map[string]string{"notes.md": "text"})
	file := filepath.Join(dir, "notes.md")
	if _, err := Prepare(file, options()); err == nil {
		t.Error("a file is taken for a staging directory")
	}
	// A name that is gone when it is looked at.
	root, err := os.OpenRoot(dir)
	must(t, err)
	defer root.Close()
	if err := (&scan{fold: newFolder()}).file(root, "gone.md", "gone.md", ""); err == nil || strings.Contains(err.Error(), dir) {
		t.Errorf("a file that is gone gives %v", err)
	}
}

func TestWhatIsNestedTooDeepIsRejectedAsOneItem(t *testing.T) {
	path := strings.Repeat("d/", maxDepth-1)
	_, r := run(t, map[string]string{path + "last.md": "x", path + "d/over.md": "x", path + "d/over2.md": "x"}, branchOf(nil), options())
	wantCounts(t, r, 1, 0, 1)
	wantRejected(t, r, path+"d", 0, "nested more than 16 deep")
}
