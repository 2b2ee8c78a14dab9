package persist_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/repo-memory/ledger/pkg/branch"
	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/persist"
	"github.com/repo-memory/ledger/pkg/publish"
)

const branchName = "ledgers/memory"

// git runs the command line in a repository.
func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd, clean, err := branch.Command(t.Context(), append([]string{"-C", dir}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	defer clean()
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, complaint.String())
	}
	return strings.TrimSpace(string(out))
}

func bare(t testing.TB) (dir string, remote branch.Remote) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "remote.git")
	git(t, t.TempDir(), "init", "-q", "--bare", "--initial-branch=main", dir)
	remote, err := branch.ParseRemote(dir, "", "")
	if err != nil {
		t.Fatal(err)
	}
	return dir, remote
}

func read(t testing.TB, remote branch.Remote) ledger.Snapshot {
	t.Helper()
	s, err := branch.Read(context.Background(), remote, branchName, branch.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// stage restores the branch and lets a writer append n records.
func stage(t testing.TB, s ledger.Snapshot, name string, n int) (dir string, shas []ledger.Hash) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), name)
	if err := branch.Export(s, dir); err != nil {
		t.Fatal(err)
	}
	w, err := ledger.NewWriter(dir, ledger.DefaultLimits(), ledger.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for i := range n {
		r, err := w.Append("note", fmt.Appendf(nil, `{"by":%q,"n":%d}`, name, i))
		if err != nil {
			t.Fatal(err)
		}
		shas = append(shas, r.SHA())
	}
	return dir, shas
}

func update(remote branch.Remote, dir, base string) (publish.Result, persist.Report, error) {
	var report persist.Report
	staged, err := persist.Prepare(dir, persist.Options{Limits: ledger.DefaultLimits(), Ledger: "memory"})
	if err != nil {
		return publish.Result{}, report, err
	}
	result, err := publish.Update(context.Background(), remote, branchName, publish.Options{Base: base}, func(s ledger.Snapshot) (ledger.Change, error) {
		change, r, err := staged.Change(s)
		report = r
		return change, err
	})
	return result, report, err
}

func TestEightConcurrentPersistsLoseNothingAndDuplicateNothing(t *testing.T) {
	_, remote := bare(t)
	const writers, each = 8, 25
	var (
		want   []ledger.Hash
		dirs   []string
		group  sync.WaitGroup
		failed [writers]error
	)
	// Four began before the branch existed, four on what the first left.
	for i := range writers {
		if i == writers/2 {
			if _, _, err := update(remote, dirs[0], ""); err != nil {
				t.Fatal(err)
			}
		}
		dir, shas := stage(t, read(t, remote), fmt.Sprint("writer", i), each)
		dirs, want = append(dirs, dir), append(want, shas...)
	}
	for i := range writers {
		group.Go(func() { _, _, failed[i] = update(remote, dirs[i], "") })
	}
	group.Wait()
	if err := errors.Join(failed[:]...); err != nil {
		t.Fatal(err)
	}
	s := read(t, remote)
	l := ledger.OpenSnapshot(s, ledger.DefaultLimits())
	if d := l.Diagnostics(); len(d) != 0 || l.Len() != len(want) {
		t.Errorf("%d records, want %d; diagnostics %v", l.Len(), len(want), d)
	}
	for _, sha := range want {
		if !l.Has(sha) {
			t.Errorf("record %s is lost", sha)
		}
	}
	stored := 0
	for path, content := range s.Files {
		if strings.HasPrefix(path, ledger.ShardDir) {
			stored += bytes.Count(content, []byte("\n"))
		}
	}
	if stored != len(want) {
		t.Errorf("%d lines are stored for %d records", stored, len(want))
	}
	// Every one of them again.
	for _, dir := range dirs {
		if result, r, err := update(remote, dir, ""); err != nil || !result.Empty || r.Records != 0 {
			t.Errorf("persisting again: %+v, %d records, %v", result, r.Records, err)
		}
	}
	if read(t, remote).Head != s.Head {
		t.Error("persisting again moved the branch")
	}
}

func TestABranchThatWasDeletedOrRewoundIsAnErrorAndNothingIsWritten(t *testing.T) {
	dir, remote := bare(t)
	first, _ := stage(t, ledger.Snapshot{}, "first", 3)
	if _, _, err := update(remote, first, ""); err != nil {
		t.Fatal(err)
	}
	before := read(t, remote)
	second, _ := stage(t, before, "second", 3)
	if _, _, err := update(remote, second, before.Head); err != nil {
		t.Fatal(err)
	}
	base := read(t, remote)
	third, _ := stage(t, base, "third", 3)
	for name, c := range map[string]struct {
		args []string
		want error
	}{
		"rewound": {[]string{"update-ref", "refs/heads/" + branchName, before.Head}, publish.ErrRewound},
		"deleted": {[]string{"update-ref", "-d", "refs/heads/" + branchName}, publish.ErrDeleted},
	} {
		git(t, dir, "update-ref", "refs/heads/"+branchName, base.Head)
		git(t, dir, c.args...)
		stood := git(t, dir, "for-each-ref")
		if _, _, err := update(remote, third, base.Head); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if now := git(t, dir, "for-each-ref"); now != stood {
			t.Errorf("%s: the remote holds %q, then %q", name, stood, now)
		}
	}
}

func TestTheCommittedBlobIsTheValidatedText(t *testing.T) {
	dir, remote := bare(t)
	stagedDir, shas := stage(t, ledger.Snapshot{}, "writer", 2)
	text := "$Id: x$\r\nline\n"
	if err := os.WriteFile(filepath.Join(stagedDir, "notes.md"), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(stagedDir, ".gitattributes"), []byte("* ident working-tree-encoding=UTF-16\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var validated []persist.File
	staged, err := persist.Prepare(stagedDir, persist.Options{Limits: ledger.DefaultLimits(), Now: time.Now(), Validate: func(files []persist.File, _ []ledger.Record) error {
		validated = files
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = publish.Update(t.Context(), remote, branchName, publish.Options{}, func(s ledger.Snapshot) (ledger.Change, error) {
		c, _, err := staged.Change(s)
		return c, err
	})
	if err != nil || len(validated) != 2 {
		t.Fatalf("%d files validated, %v", len(validated), err)
	}
	s := read(t, remote)
	for _, f := range validated {
		if string(s.Files[f.Path]) != f.Text {
			t.Errorf("%s is %q, validated was %q", f.Path, s.Files[f.Path], f.Text)
		}
	}
	if got := string(s.Files[".gitattributes"]); got != "*.jsonl -text\n" {
		t.Errorf(".gitattributes is %q", got)
	}
	for _, line := range strings.Split(git(t, dir, "ls-tree", "-r", branchName), "\n") {
		if !strings.HasPrefix(line, "100644 blob ") {
			t.Errorf("tree has %q", line)
		}
	}
	if l := ledger.OpenSnapshot(s, ledger.DefaultLimits()); !l.Has(shas[1]) {
		t.Error("the record is not there")
	}
}
