package publish

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/branch"
	"github.com/repo-memory/ledger/pkg/ledger"
)

// files makes the Add of a change from path, content, path, content…
func files(pairs ...string) map[string][]byte {
	m := map[string][]byte{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = []byte(pairs[i+1])
	}
	return m
}

func TestAChangeThatCannotBeCommittedReachesNoServer(t *testing.T) {
	r := newRepo(t)
	head := r.commit(testRef, map[string]string{
		"a": "a", "d/x": "x", "d/y": "y", "link": "120000:d", "dir/link": "120000:..", "sub": "160000:" + strings.Repeat("1", 40),
	})
	s := serve(t, r)
	remote := s.remote(t, "")
	limits := branch.Limits{Entries: 12, FileBytes: 100, TotalBytes: 150, Depth: 4}
	big := strings.Repeat("x", 101)
	for name, c := range map[string]struct {
		change ledger.Change
		want   error
		says   string
	}{
		"deleting what is not there":        {ledger.Change{Delete: []string{"b"}}, ErrChange, `"b"`},
		"deleting twice":                    {ledger.Change{Delete: []string{"a", "a"}}, ErrChange, `"a"`},
		"deleting a directory":              {ledger.Change{Delete: []string{"d"}}, ErrChange, `"d"`},
		"deleting a link":                   {ledger.Change{Delete: []string{"link"}}, ErrChange, `"link"`},
		"adding and deleting one path":      {ledger.Change{Add: files("a", "b"), Delete: []string{"a"}}, ErrChange, "both"},
		"adding over a link":                {ledger.Change{Add: files("link", "b")}, ErrChange, "symbolic link"},
		"adding through a link":             {ledger.Change{Add: files("link/x", "b")}, ErrChange, "symbolic link"},
		"adding through a deeper link":      {ledger.Change{Add: files("dir/link/x", "b")}, ErrChange, "symbolic link"},
		"adding into a submodule":           {ledger.Change{Add: files("sub/x", "b")}, ErrChange, "submodule"},
		"adding below a file":               {ledger.Change{Add: files("a/x", "b")}, ErrChange, "below the file"},
		"adding a file over a directory":    {ledger.Change{Add: files("d", "b")}, ErrChange, "where a directory is"},
		"adding over one that keeps a link": {ledger.Change{Add: files("dir", "b")}, ErrChange, "where a directory is"},
		"adding a file and below it":        {ledger.Change{Add: files("n", "b", "n/x", "c")}, ErrChange, "directory"},
		"a path outside":                    {ledger.Change{Add: files("../x", "b")}, ErrChange, "dot name"},
		"an absolute path":                  {ledger.Change{Add: files("/x", "b")}, ErrChange, "empty"},
		"git's own directory":               {ledger.Change{Add: files(".Git/hooks/x", "b")}, ErrChange, "git's own"},
		"a backslash":                       {ledger.Change{Add: files(`a\b`, "b")}, ErrChange, "backslash"},
		"a file over the bound":             {ledger.Change{Add: files("n", big)}, ErrTooLarge, "101 bytes, the limit is 100"},
		"all files over the bound":          {ledger.Change{Add: files("n", big[:80], "m", big[:80])}, ErrTooLarge, "the limit is 150"},
		"too many files":                    {ledger.Change{Add: files("1", "", "2", "", "3", "", "4", "", "5", "")}, ErrTooLarge, "the limit is 12"},
		"too deep":                          {ledger.Change{Add: files("1/2/3/4/5", "")}, ErrTooLarge, "5 components"},
	} {
		t.Run(name, func(t *testing.T) {
			s.requests = nil
			c.change.Message = "m"
			got, err := Update(context.Background(), remote, testName, quick(Options{Limits: limits}), func(ledger.Snapshot) (ledger.Change, error) { return c.change, nil })
			if !errors.Is(err, c.want) || got.Attempts != 1 || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %+v, %v", got, err)
			}
			for _, q := range s.requests {
				if strings.Contains(q.URL.String(), "receive-pack") {
					t.Errorf("reached the server: %s", q.URL)
				}
			}
			if r.git("rev-parse", testRef) != head {
				t.Error("something was written")
			}
		})
	}
}

func TestEntriesInAnOldSpellingAreTakenOverAsTheyStand(t *testing.T) {
	r := newRepo(t)
	blob := r.run("x", "-C", r.dir, "hash-object", "-w", "--stdin")
	raw := func(id string) string {
		var b []byte
		fmt.Sscanf(id, "%x", &b)
		return string(b)
	}
	tree := func(entries string) string {
		return r.run(entries, "-C", r.dir, "hash-object", "--literally", "-w", "-t", "tree", "--stdin")
	}
	inner := tree("100664 f\x00" + raw(blob))
	top := tree("040000 d\x00" + raw(inner) + "100664 g\x00" + raw(blob))
	r.git("update-ref", testRef, r.run("m", "-C", r.dir, "commit-tree", top))
	if _, err := Update(context.Background(), r.remote(), testName, quick(Options{}), add("d/new", "n")); err != nil {
		t.Fatal(err)
	}
	if got := r.git("cat-file", "tree", testRef+"^{tree}"); !strings.HasPrefix(got, "040000 d\x00") || !strings.Contains(got, "100664 g\x00"+raw(blob)) {
		t.Errorf("got %q", got)
	}
	if got := r.git("cat-file", "tree", testRef+":d"); !strings.HasPrefix(got, "100664 f\x00"+raw(blob)+"100644 new\x00") {
		t.Errorf("got %q", got)
	}
}

func TestAFileMayTakeTheNameOfADirectoryThatTheChangeEmpties(t *testing.T) {
	r := newRepo(t)
	r.commit(testRef, map[string]string{"d/x": "x", "d/e/y": "y", "f": "f", "keep": "k"})
	change := ledger.Change{Add: files("d", "now a file", "f/z", "now a directory"), Delete: []string{"d/x", "d/e/y", "f"}, Message: "m"}
	if _, err := Update(context.Background(), r.remote(), testName, quick(Options{}), func(ledger.Snapshot) (ledger.Change, error) { return change, nil }); err != nil {
		t.Fatal(err)
	}
	if want := []string{"100644 d now a file", "100644 f/z now a directory", "100644 keep k"}; !slices.Equal(show(r, testRef), want) {
		t.Errorf("got %q", show(r, testRef))
	}
	r.git("fsck", "--strict")
}

func TestDeletingEverythingLeavesAnEmptyTree(t *testing.T) {
	r := newRepo(t)
	r.commit(testRef, map[string]string{"d/x": "x"})
	change := func(s ledger.Snapshot) (ledger.Change, error) {
		if len(s.Files) == 0 {
			return ledger.Change{}, nil
		}
		return ledger.Change{Delete: []string{"d/x"}, Message: "m"}, nil
	}
	for _, empty := range []bool{false, true} {
		if got, err := Update(context.Background(), r.remote(), testName, quick(Options{}), change); err != nil || got.Empty != empty {
			t.Fatal(got, err)
		}
	}
	if out := r.git("ls-tree", testRef); out != "" {
		t.Errorf("left %q", out)
	}
	r.git("fsck", "--strict")
	if got, err := Update(context.Background(), r.remote(), testName, quick(Options{}), add("a", "a")); err != nil || got.Created {
		t.Errorf("growing again: %+v, %v", got, err)
	}
}

func TestANewBranchKeepsTheAttributesThatTheChangeBrings(t *testing.T) {
	r := newRepo(t)
	change := ledger.Change{Add: files(".gitattributes", "own\n", "a", "a"), Message: "m"}
	if _, err := Update(context.Background(), r.remote(), testName, quick(Options{}), func(ledger.Snapshot) (ledger.Change, error) { return change, nil }); err != nil {
		t.Fatal(err)
	}
	if text := r.git("show", testRef+":.gitattributes"); text != "own" {
		t.Errorf("got %q", text)
	}
	if len(change.Add) != 2 {
		t.Error("the caller's change was modified")
	}
}

// TestACheckoutWithLineEndingConversionLeavesTheBytesAlone is what the
// attributes are for.
func TestACheckoutWithLineEndingConversionLeavesTheBytesAlone(t *testing.T) {
	r := newRepo(t)
	if _, err := Update(context.Background(), r.remote(), testName, quick(Options{}), add("ledger/shards/a.jsonl", "one\ntwo\n")); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	r.run("", "-c", "core.autocrlf=true", "clone", "-q", "--branch", testName, r.dir, dir)
	if sum := r.run("", "hash-object", "--no-filters", dir+"/ledger/shards/a.jsonl"); sum != r.git("rev-parse", testRef+":ledger/shards/a.jsonl") {
		t.Error("the checkout changed the bytes")
	}
}

func TestCommitMessages(t *testing.T) {
	for _, m := range []string{"subject", "subject\n", "subject\n\nbody\nof lines", "ünïcode", strings.Repeat("s", maxSubjectBytes)} {
		if err := checkMessage(m); err != nil {
			t.Errorf("%q: %v", m, err)
		}
	}
	for _, m := range []string{
		"", "\n", " ", "\nsubject", "two\nlines", "cr\rlf", "a\x1b[31m", "a\x00", "tab\there", "a\u0085b", "a\u2028b", "a\u202eb", "a\u200b\nb", "a\xff",
		strings.Repeat("s", maxSubjectBytes+1), "s\n\n" + strings.Repeat("x", maxMessageBytes),
	} {
		if err := checkMessage(m); !errors.Is(err, ErrChange) {
			t.Errorf("%q: %v", m[:min(len(m), 20)], err)
		}
	}
	r := newRepo(t)
	_, err := Update(context.Background(), r.remote(), testName, quick(Options{}), func(ledger.Snapshot) (ledger.Change, error) {
		return ledger.Change{Add: files("a", "a"), Message: "m\n\nbody\n\n\n"}, nil
	})
	if raw := r.git("cat-file", "commit", testRef); err != nil || !strings.HasSuffix(raw, "\n\nm\n\nbody") {
		t.Errorf("%q, %v", raw, err)
	}
}

func TestReasonsAreAClosedSet(t *testing.T) {
	for err, want := range map[error]string{
		nil: "", ErrDeleted: "deleted", ErrRewound: "rewound", ErrChange: "invalid_change", ErrTooLarge: "too_large", ErrRejected: "rejected",
		ErrUnauthorized: "unauthorized", ErrNotFound: "not_found", ErrRemote: "bad_remote", ErrName: "bad_name", ErrNameTaken: "name_taken",
		ErrThrottled: "throttled", ErrMalformed: "malformed", ErrUnavailable: "unavailable", context.Canceled: "canceled", context.DeadlineExceeded: "canceled",
		errors.New("x"): "failed", fmt.Errorf("%w: %w", ErrAttempts, errMoved): "exhausted", fmt.Errorf("%w: %w", ErrAttempts, ErrThrottled): "throttled",
	} {
		if got := Reason(err); got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
}
