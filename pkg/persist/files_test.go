package persist

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/ledger"
)

func TestOrdinaryFilesAreAddedAndReplacedAndNeverDeleted(t *testing.T) {
	s := branchOf(map[string]string{"a.md": "one\n", "b.md": "two\n", "c.md": "three\n", ".gitattributes": "*.jsonl -text\n", "README": "no extension"})
	c, r := run(t, map[string]string{
		"a.md": "one\n", "b.md": "two\nmore\n", "d/e.md": "new\n", ".gitattributes": "*.jsonl -text\n", "README": "no extension",
	}, s, based(s))
	wantCounts(t, r, 2, 3, 0)
	if got := slices.Sorted(maps.Keys(c.Add)); !slices.Equal(got, []string{"b.md", "d/e.md"}) {
		t.Errorf("added are %q", got)
	}
	if string(c.Add["b.md"]) != "two\nmore\n" {
		t.Errorf("b.md is %q", c.Add["b.md"])
	}
	if r.Files != 2 || r.Replaced != 1 || r.FileBytes != len("more\nnew\n") {
		t.Errorf("%d files, %d replaced, %d bytes", r.Files, r.Replaced, r.FileBytes)
	}
	if c.Message != "persist: add 2 files to memory\n" {
		t.Errorf("message is %q", c.Message)
	}
	// Neither an empty staging nor one that lacks files takes anything away.
	for _, files := range []map[string]string{nil, {"a.md": "one\n"}} {
		if c, _ := run(t, files, s, based(s)); !c.Empty() {
			t.Errorf("%d staged files change the branch", len(files))
		}
	}
}

func TestFilesThatAreNotTaken(t *testing.T) {
	s := branchOf(map[string]string{
		"Notes/a.md": "x", "file.md": "x", "dir/x.md": "x", "ledger/coverage/" + strings.Repeat("a", 64) + ".jsonl": "{}\n",
		".old/x.md": "restored", "AGENTS.md": "restored",
	})
	s.Irregular["link.md"] = "symbolic link"
	s.Irregular["module"] = "submodule"
	for _, c := range []struct{ path, text, words string }{
		{"image.png", "x", "allowed-extensions"},
		{"Makefile", "x", "allowed-extensions"},
		{"md", "x", "allowed-extensions"},
		{"page.html", "x", "allowed-extensions"},
		{"bad.md", "abc\xffdef", "invalid UTF-8 at byte 3"},
		{"zero.jsonl", "{}\n\x00\x00\n", "NUL at byte 3"},
		{"big.md", strings.Repeat("x", 100<<10+1), "file is 102401 bytes, max-file-kb allows 102400"},
		{"sub/AGENTS.md", "x", "instructions"},
		{"AGENTS.md", "changed", "instructions"},
		{".github/copilot-instructions.md", "x", "dot"},
		{".old/x.md", "changed", "dot"},
		{"sub/.hidden/x.md", "x", "dot"},
		{"Ledger/shards/x.jsonl", "x", "ledger's own folder"},
		{"LEDGER", "x", "ledger's own folder"},
		{"notes/b.md", "x", "only in case or composition"},
		{"notes/A.md", "x", "only in case or composition"},
		{"NOTES/a.md", "x", "only in case or composition"},
		{"FILE.md", "x", "only in case or composition"},
		{"file.md/x.md", "x", "a file where its folder would be"},
		{"link.md", "x", "symbolic link where it would stand"},
		{"module/x.md", "x", "submodule where it would stand"},
		{"ledger/notes.md", "x", "is no shard"},
		{"ledger/shards/notes.jsonl", "x", "is no shard"},
		{"ledger/shards/00000000-0000-4000-8000-00000000000A.jsonl", "x", "is no shard"},
		{"ledger/shards/00000000-0000-1000-8000-000000000001.jsonl", "x", "is no shard"},
		{"ledger/shards/sub/00000000-0000-4000-8000-000000000001.jsonl", "x", "is no shard"},
		{"ledger/coverage/" + strings.Repeat("a", 64) + ".jsonl", "forged", "coverage declarations"},
		{"ledger/coverage/" + strings.Repeat("b", 64) + ".jsonl", "forged", "coverage declarations"},
		{"ledger/compaction/state.json", "{}", "state of compaction"},
		{"ledger/compaction/plan.json", "{}", "state of compaction"},
		{"ledger/.gitattributes", "x", "dot"},
	} {
		t.Run(c.path, func(t *testing.T) {
			change, r := run(t, map[string]string{c.path: c.text, "good.md": "good\n"}, s, based(s))
			wantCounts(t, r, 1, 0, 1)
			wantRejected(t, r, c.path, 0, c.words)
			if len(change.Add) != 1 {
				t.Errorf("added are %q", slices.Sorted(maps.Keys(change.Add)))
			}
		})
	}
	// A name that is taken by a folder of the branch; the file has an extension.
	s.Files["dir.md/x.md"] = []byte("x")
	_, r := run(t, map[string]string{"dir.md": "x"}, s, based(s))
	wantRejected(t, r, "dir.md", 0, "a folder of its name")
}

func TestAFileInPlaceOfTheLedgersFolderIsRejected(t *testing.T) {
	_, r := run(t, map[string]string{"ledger": "x"}, branchOf(nil), options())
	wantRejected(t, r, "ledger", 0, "ledger's own folder")
}

func TestWhatWasRestoredAndNotTouchedIsIgnoredWhateverItsName(t *testing.T) {
	files := map[string]string{
		".gitattributes": "x", "AGENTS.md": "x", "image.png": "\xff", "Notes.md": "x", "notes.md": "y", "ledger/compaction/state.json": "{}",
		"ledger/coverage/" + strings.Repeat("a", 64) + ".jsonl": "{}\n", "huge.md": strings.Repeat("x", 200<<10), "Ledger/x": "x",
	}
	c, r := run(t, files, branchOf(files), options())
	wantCounts(t, r, 0, len(files), 0)
	if !c.Empty() || r.Err() != nil {
		t.Errorf("added are %q, error %v", c.Add, r.Err())
	}
}

func TestAnUnpublishedShardAndTheRuntimesOwnFilesAreIgnored(t *testing.T) {
	o := options()
	o.Own = map[string]string{"audit.jsonl": "the transaction log"}
	pending := strings.TrimSuffix(shard(1), ".jsonl") + ".pending"
	_, r := run(t, map[string]string{pending: "{", "audit.jsonl": "{}\n", shard(2): ""}, branchOf(nil), o)
	wantCounts(t, r, 0, 3, 0)
	wantIgnored(t, r, "audit.jsonl", 0, "the transaction log")
	wantIgnored(t, r, pending, 0, "did not publish")
	wantIgnored(t, r, shard(2), 0, "empty")
	if s := prepare(t, tree(t, map[string]string{"audit.jsonl": ""}), o); !s.Empty() {
		t.Error("a staging with the runtime's own file alone is not empty")
	}
	if s := prepare(t, tree(t, map[string]string{"a.md": ""}), o); s.Empty() {
		t.Error("a staging with a file is empty")
	}
}

func TestAnOldCopyReplacesNothing(t *testing.T) {
	base := branchOf(map[string]string{"a.md": "old\n", "gone.md": "old\n", "empty.md": ""})
	head := branchOf(map[string]string{"a.md": "newer\n", "c.md": "others'\n", "d.md": ""})
	for _, c := range []struct {
		name, path, text string
		rejected         string // "" for ignored, when ignored is set
		ignored          string
	}{
		{"as it was restored", "a.md", "old\n", "", "as it was restored"},
		{"as it is on the branch", "a.md", "newer\n", "", "on the branch as it is here"},
		{"edited by both", "a.md", "mine\n", "conflict", ""},
		{"restored and deleted on the branch", "gone.md", "old\n", "", "as it was restored"},
		{"edited and deleted on the branch", "gone.md", "mine\n", "conflict", ""},
		{"edited and deleted on the branch when it was empty", "empty.md", "mine\n", "conflict", ""},
		{"created by both", "c.md", "mine\n", "conflict", ""},
		{"created by both, empty on the branch", "d.md", "mine\n", "conflict", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			change, r := run(t, map[string]string{c.path: c.text}, head, based(base))
			if !change.Empty() {
				t.Errorf("added are %q", change.Add)
			}
			if c.ignored != "" {
				wantIgnored(t, r, c.path, 0, c.ignored)
			} else {
				wantRejected(t, r, c.path, 0, c.rejected)
			}
		})
	}
}

func TestWithoutABaseNothingIsReplaced(t *testing.T) {
	s := branchOf(map[string]string{"a.md": "newer\n"})
	c, r := run(t, map[string]string{"a.md": "mine\n", "b.md": "new\n"}, s, options())
	wantCounts(t, r, 1, 0, 1)
	wantRejected(t, r, "a.md", 0, "without the commit that was restored")
	if len(c.Add) != 1 {
		t.Errorf("added are %q", c.Add)
	}
}

func TestTheBaseIsReadOnceAndOnlyWhereItMatters(t *testing.T) {
	reads := 0
	o := options()
	o.Base = func() (ledger.Snapshot, error) { reads++; return branchOf(map[string]string{"a.md": "x"}), nil }
	s := prepare(t, tree(t, map[string]string{"a.md": "y", shard(1): lines(record(t, 1))}), o)
	for range 3 {
		if _, _, err := s.Change(branchOf(map[string]string{"a.md": "x"})); err != nil {
			t.Fatal(err)
		}
	}
	if reads != 1 {
		t.Errorf("%d reads, want 1", reads)
	}
	reads = 0
	s = prepare(t, tree(t, map[string]string{shard(1): lines(record(t, 1))}), o)
	if _, _, err := s.Change(branchOf(nil)); err != nil || reads != 0 {
		t.Errorf("%d reads for records alone, %v", reads, err)
	}
	failure := errors.New("no such commit")
	o.Base = func() (ledger.Snapshot, error) { return ledger.Snapshot{}, failure }
	c, _, err := prepare(t, tree(t, map[string]string{"a.md": "y"}), o).Change(branchOf(nil))
	if !errors.Is(err, failure) || !c.Empty() {
		t.Errorf("an unreadable base gives %v", err)
	}
}

func TestOfStagedTwinsNoneIsTaken(t *testing.T) {
	for _, c := range [][]string{
		{"notes.md", "Notes.md"}, {"a/x.md", "A/y.md"}, {"x.md", "X.md/y.md"}, {"straße.md", "STRASSE.md"}, {"a/b/c.md", "a/B/d.md"},
	} {
		files := map[string]string{"other.md": "x"}
		for _, path := range c {
			files[path] = "x"
		}
		change, r := run(t, files, branchOf(nil), options())
		wantCounts(t, r, 1, 0, len(c))
		for _, path := range c {
			wantRejected(t, r, path, 0, "another staged name")
		}
		if len(change.Add) != 1 {
			t.Errorf("added are %q", change.Add)
		}
	}
	// The branch has one of them: it keeps its name and takes the edit.
	s := branchOf(map[string]string{"notes.md": "old"})
	_, r := run(t, map[string]string{"notes.md": "new", "Notes.md": "x"}, s, based(s))
	wantCounts(t, r, 1, 0, 1)
	wantRejected(t, r, "Notes.md", 0, "one on the branch")
}

func TestAGlobTakesPathsFromTheRootAndIsReportedWhenItMatchesNothing(t *testing.T) {
	o := options()
	o.Files.Globs = []string{"memory/token-audit/*.jsonl", "notes/**/*.md"}
	_, r := run(t, map[string]string{"notes/a.md": "x", "notes/b/c/d.md": "x", "memory/token-audit/1.jsonl": "x", "2.jsonl": "x", "memory/x/3.jsonl": "x"}, branchOf(nil), o)
	wantCounts(t, r, 3, 0, 2)
	wantRejected(t, r, "2.jsonl", 0, "matches no file-glob")
	if len(r.Warnings) != 0 {
		t.Errorf("warnings are %q", r.Warnings)
	}
	_, r = run(t, map[string]string{"2026-04-04.jsonl": "x"}, branchOf(nil), o)
	wantCounts(t, r, 0, 0, 1)
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "file-glob matches none of the 1 file") {
		t.Errorf("warnings are %q", r.Warnings)
	}
	// What stands on the branch already does not count.
	_, r = run(t, map[string]string{"2.jsonl": "x"}, branchOf(map[string]string{"2.jsonl": "x"}), o)
	if len(r.Warnings) != 0 {
		t.Errorf("warnings are %q", r.Warnings)
	}
}

func TestFileBoundsCountWhatTheChangeAddsToTheByte(t *testing.T) {
	text := func(n int) string { return strings.Repeat("x", n) }
	many := func(n int) map[string]string {
		files := map[string]string{}
		for i := range n {
			files[fmt.Sprint("f", i, ".md")] = ""
		}
		return files
	}
	large := branchOf(map[string]string{"log.md": strings.Repeat("a line\n", 10<<10), "other.md": text(90 << 10)})
	for _, c := range []struct {
		name   string
		branch ledger.Snapshot
		files  map[string]string
		limit  string // "" when it passes
		have   int64
	}{
		{"a file at the patch bound", branchOf(nil), map[string]string{"a.md": text(10 << 10)}, "", 0},
		{"a file one over it", branchOf(nil), map[string]string{"a.md": text(10<<10 + 1)}, "max-memory-patch-kb", 10<<10 + 1},
		{"two files one over it", branchOf(nil), map[string]string{"a.md": text(10 << 10), "b.md": "y"}, "max-memory-patch-kb", 10<<10 + 1},
		{"characters of two bytes", branchOf(nil), map[string]string{"a.md": strings.Repeat("é", 5<<10) + "x"}, "max-memory-patch-kb", 10<<10 + 1},
		{"a line added to a large file", large, map[string]string{"log.md": strings.Repeat("a line\n", 10<<10) + "one more\n"}, "", 0},
		{"a large file with lines moved", large, map[string]string{"log.md": "first\n" + strings.Repeat("a line\n", 10<<10-1)}, "", 0},
		{"a large file written anew", large, map[string]string{"log.md": text(20 << 10)}, "max-memory-patch-kb", 20 << 10},
		{"a line repeated", large, map[string]string{"log.md": strings.Repeat("a line\n", 12<<10)}, "max-memory-patch-kb", 2 << 10 * 7},
		{"as many files as allowed", branchOf(nil), many(100), "", 0},
		{"one file more", branchOf(nil), many(101), "max-file-count", 101},
		{"one file more on a branch that has most", branchOf(many(100)), many(101), "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			change, r, err := prepare(t, tree(t, c.files), based(c.branch)).Change(c.branch)
			if c.limit == "" {
				if err != nil || r.Rejected.Count != 0 || change.Empty() {
					t.Fatalf("%v, %q", err, verdicts(r))
				}
				return
			}
			var limit *LimitError
			if !errors.As(err, &limit) || limit.Limit != c.limit || limit.Measured != c.have || !change.Empty() {
				t.Fatalf("error is %v, want %s with %d", err, c.limit, c.have)
			}
			if strings.Contains(err.Error(), "delet") || strings.Contains(err.Error(), "remov") {
				t.Errorf("the error invites to delete: %v", err)
			}
		})
	}
	// At the bound of one file and one over it.
	o := options()
	o.Files.MaxPatchBytes = 1 << 20
	_, r, err := prepare(t, tree(t, map[string]string{"at.md": text(100 << 10), "over.md": text(100<<10 + 1)}), o).Change(branchOf(nil))
	if err != nil {
		t.Fatal(err)
	}
	wantCounts(t, r, 1, 0, 1)
}

func TestALedgerLimitAboveItsFileLimitIsWarnedOf(t *testing.T) {
	o := options()
	o.Files.MaxFileBytes = 50 << 10
	_, r := run(t, nil, branchOf(nil), o)
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "max-segment-kb (100) exceeds max-file-kb (50)") {
		t.Errorf("warnings are %q", r.Warnings)
	}
	if _, r := run(t, nil, branchOf(nil), options()); len(r.Warnings) != 0 {
		t.Errorf("the defaults are warned of: %q", r.Warnings)
	}
}

func TestOptionsThatCannotBeMeantAreErrors(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"no limits":                     func(o *Options) { o.Limits = ledger.Limits{} },
		"a record larger than a shard":  func(o *Options) { o.Limits.MaxRecordBytes = o.Limits.MaxSegmentBytes + 1 },
		"an extension without a dot":    func(o *Options) { o.Files.Extensions = []string{"md"} },
		"an extension of a dot":         func(o *Options) { o.Files.Extensions = []string{"."} },
		"an extension in upper case":    func(o *Options) { o.Files.Extensions = []string{".MD"} },
		"an extension with a separator": func(o *Options) { o.Files.Extensions = []string{"./md"} },
		"a malformed glob":              func(o *Options) { o.Files.Globs = []string{"a[b"} },
		"an absolute glob":              func(o *Options) { o.Files.Globs = []string{"/notes/*.md"} },
	} {
		o := options()
		change(&o)
		_, err := Prepare(tree(t, nil), o)
		if err == nil {
			t.Errorf("%s is accepted", name)
		}
		var input *InputError
		if ours := strings.Contains(name, "extension") || strings.Contains(name, "glob"); errors.As(err, &input) != ours {
			t.Errorf("%s gives %v", name, err)
		}
	}
}
