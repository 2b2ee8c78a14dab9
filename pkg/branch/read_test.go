package branch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/ledger"
)

const (
	testName = "ledgers/memory"
	testRef  = "refs/heads/ledgers/memory"
)

func read(t *testing.T, r Remote) ledger.Snapshot {
	t.Helper()
	s, err := Read(context.Background(), r, testName, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestReadListsRegularFilesAndNamesTheOthers(t *testing.T) {
	r := newRepo(t)
	head := r.commit(testRef, map[string]string{
		"ledger/shards/a.jsonl": "one\r\n\xff\x00two",
		"notes.md":              "n",
		"run.sh":                "100755:#!/bin/sh\n",
		"link":                  "120000:../../etc/passwd",
		"sub":                   "160000:" + strings.Repeat("1", 40),
		".gitattributes":        "*.jsonl ident text working-tree-encoding=UTF-16\n",
		"empty":                 "",
	})
	web := serve(t, r)
	file, err := ParseRemote("file://"+r.dir, "", "")
	if err != nil {
		t.Fatal(err)
	}
	for name, remote := range map[string]Remote{"path": r.remote(), "file URL": file, "https": web.remote(t, "")} {
		t.Run(name, func(t *testing.T) {
			s := read(t, remote)
			if s.Head != head {
				t.Errorf("head %s, want %s", s.Head, head)
			}
			want := map[string]string{
				"ledger/shards/a.jsonl": "one\r\n\xff\x00two", "notes.md": "n", "run.sh": "#!/bin/sh\n", "empty": "",
				".gitattributes": "*.jsonl ident text working-tree-encoding=UTF-16\n",
			}
			if got := slices.Sorted(maps.Keys(s.Files)); !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
				t.Fatalf("files %q", got)
			}
			for p, text := range want {
				if string(s.Files[p]) != text {
					t.Errorf("%s is %q, want the stored bytes %q", p, s.Files[p], text)
				}
			}
			if fmt.Sprint(s.Irregular) != "map[link:symbolic link sub:submodule]" {
				t.Errorf("irregular %v", s.Irregular)
			}
		})
	}
}

func TestAMissingBranchIsASnapshotWithoutHead(t *testing.T) {
	empty, other := newRepo(t), newRepo(t)
	other.commit("refs/heads/main", map[string]string{"a": "a"})
	for name, remote := range map[string]Remote{
		"empty repository by path": empty.remote(), "empty repository by https": serve(t, empty).remote(t, ""),
		"other branches by path": other.remote(), "other branches by https": serve(t, other).remote(t, ""),
	} {
		t.Run(name, func(t *testing.T) {
			if s := read(t, remote); s.Head != "" || len(s.Files) != 0 {
				t.Errorf("got %+v", s)
			}
		})
	}
}

func TestAMissingRepositoryIsNamedAsSuch(t *testing.T) {
	r := newRepo(t)
	web := serve(t, r).remote(t, "")
	web.URL += "x"
	gone := r.remote()
	gone.URL += "-gone"
	plain := Remote{URL: t.TempDir()}
	for name, remote := range map[string]Remote{"https": web, "path": gone, "not a repository": plain} {
		t.Run(name, func(t *testing.T) {
			_, err := Read(context.Background(), remote, testName, Limits{})
			if !errors.Is(err, ErrNotFound) {
				t.Errorf("got %v", err)
			}
			if err != nil && strings.Contains(err.Error(), os.TempDir()) {
				t.Errorf("the error shows a local path: %v", err)
			}
		})
	}
}

func TestAnotherReferenceInTheWayIsRefusedWithTheCause(t *testing.T) {
	for name, c := range map[string]struct{ ref, cause string }{
		"a tag of the same name":             {"refs/tags/ledgers/memory", "there is a tag of the name ledgers/memory"},
		"a branch that is its directory":     {"refs/heads/ledgers", "the branch ledgers exists"},
		"a branch below it":                  {"refs/heads/ledgers/memory/old", `the branch "ledgers/memory/old" exists`},
		"a branch of a like name is no harm": {"refs/heads/ledgers/memory2", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t)
			r.commit(c.ref, map[string]string{"a": "a"})
			_, err := Read(context.Background(), r.remote(), testName, Limits{})
			if c.cause == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !errors.Is(err, ErrNameTaken) || !strings.Contains(err.Error(), c.cause) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestBoundsAreErrorsNeverPartsOfABranch(t *testing.T) {
	r := newRepo(t)
	r.commit(testRef, map[string]string{"a/b/c": strings.Repeat("x", 1000), "a/b/d": "y", "e": "z"})
	for name, c := range map[string]struct {
		limits Limits
		ok     bool
	}{
		"entries at the bound":   {Limits{Entries: 5}, true},
		"entries over the bound": {Limits{Entries: 4}, false},
		"file at the bound":      {Limits{FileBytes: 1000}, true},
		"file over the bound":    {Limits{FileBytes: 999}, false},
		"total at the bound":     {Limits{TotalBytes: 1002}, true},
		"total over the bound":   {Limits{TotalBytes: 1001}, false},
		"depth at the bound":     {Limits{Depth: 3}, true},
		"depth over the bound":   {Limits{Depth: 2}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := Read(context.Background(), r.remote(), testName, c.limits)
			if c.ok && (err != nil || len(s.Files) != 3) {
				t.Errorf("got %d files, %v", len(s.Files), err)
			}
			if !c.ok && (!errors.Is(err, ErrTooLarge) || s.Files != nil) {
				t.Errorf("got %d files, %v", len(s.Files), err)
			}
		})
	}
}

func TestOneContentUnderManyPathsCountsForEach(t *testing.T) {
	r := newRepo(t)
	r.commit(testRef, map[string]string{"a": "twelve bytes", "b": "twelve bytes", "c": "twelve bytes"})
	for total, ok := range map[int64]bool{36: true, 35: false} {
		if _, err := Read(context.Background(), r.remote(), testName, Limits{TotalBytes: total}); ok != (err == nil) || !ok && !errors.Is(err, ErrTooLarge) {
			t.Errorf("limit %d: %v", total, err)
		}
	}
}

func TestATreeThatNamesOneDirectoryAgainAndAgainCountsEachPath(t *testing.T) {
	r := newRepo(t)
	tree := r.run(fmt.Sprintf("100644 blob %s\tf\n", r.object("blob", "x")), "-C", r.dir, "mktree")
	for range 12 {
		var s strings.Builder
		for i := range 10 {
			fmt.Fprintf(&s, "040000 tree %s\t%d\n", tree, i)
		}
		tree = r.run(s.String(), "-C", r.dir, "mktree")
	}
	r.git("update-ref", testRef, r.run("m", "-C", r.dir, "commit-tree", tree))
	if _, err := Read(context.Background(), r.remote(), testName, Limits{}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v", err)
	}
}

func TestHostileTreesAreMalformedOrIrregular(t *testing.T) {
	entry := func(mode, name, id string) string {
		raw := make([]byte, 20)
		fmt.Sscanf(id, "%x", &raw)
		return mode + " " + name + "\x00" + string(raw)
	}
	for name, c := range map[string]struct {
		tree      func(file, dir string) string
		irregular string
		malformed bool
	}{
		"dot dot":          {tree: func(f, d string) string { return entry("40000", "..", d) }, irregular: ".."},
		"git's directory":  {tree: func(f, d string) string { return entry("40000", ".GIT", d) }, irregular: ".GIT"},
		"a backslash":      {tree: func(f, d string) string { return entry("100644", `a\b`, f) }, irregular: `a\b`},
		"a line feed":      {tree: func(f, d string) string { return entry("100644", "a\nb", f) }, irregular: "a\nb"},
		"bytes, not UTF-8": {tree: func(f, d string) string { return entry("100644", "a\xff", f) }, irregular: `"a\xff"`},
		"an unknown type":  {tree: func(f, d string) string { return entry("10644", "a", f) }, irregular: "a"},
		"two of one name": {tree: func(f, d string) string {
			return entry("100644", "a", f) + entry("100644", "a", f)
		}, malformed: true},
		"a file and a directory of one name": {tree: func(f, d string) string {
			return entry("100644", "a", f) + entry("100644", "a.b", f) + entry("40000", "a", d)
		}, malformed: true},
		"out of order":      {tree: func(f, d string) string { return entry("100644", "b", f) + entry("100644", "a", f) }, malformed: true},
		"a slash in a name": {tree: func(f, d string) string { return entry("100644", "a/b", f) }, malformed: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t)
			file := r.object("blob", "x")
			dir := r.run("100644 blob "+file+"\tf\n", "-C", r.dir, "mktree")
			tree := r.object("tree", c.tree(file, dir))
			commit := r.object("commit", "tree "+tree+"\nauthor T <t@x> 1 +0000\ncommitter T <t@x> 1 +0000\n\nm\n")
			os.MkdirAll(r.dir+"/refs/heads/ledgers", 0o755)
			os.WriteFile(r.dir+"/"+testRef, []byte(commit+"\n"), 0o644)
			s, err := Read(context.Background(), r.remote(), testName, Limits{})
			if c.malformed {
				if !errors.Is(err, ErrMalformed) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Files) != 0 || s.Irregular[c.irregular] == "" {
				t.Errorf("files %d, irregular %q", len(s.Files), s.Irregular)
			}
		})
	}
}
