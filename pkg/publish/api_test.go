package publish

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/github"
	"github.com/repo-memory/ledger/pkg/github/githubtest"
	"github.com/repo-memory/ledger/pkg/ledger"
)

func TestTheAPIPutsOneGuardedCommitOnTheHead(t *testing.T) {
	h := newHub(t)
	base := h.repo.commit(testRef, map[string]string{"a": "a", "b": "b", "same": "s", "run.sh": "100755:x", "link": "120000:a"})
	got, err := Update(context.Background(), h.remote, testName, h.options(t, API, github.Options{}), func(ledger.Snapshot) (ledger.Change, error) {
		return ledger.Change{Add: files("a", "a\r\n\x00\xff", "new/deep/er", "", "same", "s"), Delete: []string{"b"}, Message: "role: subject\n\nfirst\nsecond\n"}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	head := h.repo.git("rev-parse", testRef)
	if want := (Result{Before: base, After: head, Attempts: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if parent := h.repo.git("rev-parse", head+"^"); parent != base {
		t.Errorf("its parent is %s, want %s", parent, base)
	}
	want := []string{"100644 a a\r\n\x00\xff", "120000 link a", "100644 new/deep/er ", "100755 run.sh x", "100644 same s"}
	if s := show(h.repo, testRef); !slices.Equal(s, []string{"100644 a a\r\n\x00\xff", want[1], want[2], want[3], want[4]}) {
		t.Errorf("got %q", s)
	}
	if m := h.repo.git("log", "-1", "--format=%B", head); m != "role: subject\n\nfirst\nsecond" {
		t.Errorf("the message is %q", m)
	}
	if how := h.how(t); !slices.Equal(how, []string{"mutation"}) {
		t.Errorf("made by %v", how)
	}
	for _, r := range h.Requests() {
		if strings.Contains(string(r.Body), `"same"`) {
			t.Error("a file that stands there already was sent")
		}
	}
}

func TestABranchThatIsMissingIsMadeByAReferenceThatMustNotExist(t *testing.T) {
	h := newHub(t)
	got, err := Update(context.Background(), h.remote, testName, h.options(t, API, github.Options{}), add("ledger/shards/a.jsonl", "one\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	if want := (Result{After: h.repo.git("rev-parse", testRef), Attempts: 1, Created: true}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if want := []string{"100644 .gitattributes *.jsonl -text", "100644 ledger/shards/a.jsonl one"}; !slices.Equal(show(h.repo, testRef), want) {
		t.Errorf("got %q", show(h.repo, testRef))
	}
	if parents := h.repo.git("log", "--format=%P", testRef); parents != "" {
		t.Errorf("parents %s", parents)
	}
	if how := h.how(t); !slices.Equal(how, []string{"ref"}) {
		t.Errorf("made by %v", how)
	}
	h.repo.git("fsck", "--strict")
}

func TestTheAPIIsNotAskedToChangeNothing(t *testing.T) {
	h := newHub(t)
	head := h.repo.commit(testRef, map[string]string{"a": "a"})
	got, err := Update(context.Background(), h.remote, testName, h.options(t, API, github.Options{}), func(ledger.Snapshot) (ledger.Change, error) {
		return ledger.Change{Add: files("a", "a"), Message: "m"}, nil
	})
	if err != nil || got.After != head || !got.Empty || len(h.Commits(testRepository)) != 0 {
		t.Errorf("got %+v, %v, %d commits", got, err, len(h.Commits(testRepository)))
	}
}

func TestABranchThatMovesUnderTheAPIIsReadAgain(t *testing.T) {
	for name, missing := range map[string]bool{"on a branch": false, "on none": true} {
		t.Run(name, func(t *testing.T) {
			h := newHub(t)
			match := githubtest.Match(githubtest.Mutation)
			if missing {
				match = githubtest.On("POST", "/api/v3/repos/octo/consumer/git/refs")
			} else {
				h.repo.commit(testRef, map[string]string{"a": "a"})
			}
			h.Before(match, func() { h.repo.commit(testRef, map[string]string{"theirs": "t"}) })
			got, err := Update(context.Background(), h.remote, testName, h.options(t, Auto, github.Options{}), add("mine", "m"))
			if err != nil || got.Attempts != 2 || got.Created {
				t.Fatalf("got %+v, %v", got, err)
			}
			if s := strings.Join(show(h.repo, testRef), " "); !strings.Contains(s, "theirs t") || !strings.Contains(s, "mine m") {
				t.Errorf("got %s", s)
			}
			h.how(t)
		})
	}
}

func TestAPathToDeleteThatIsGoneIsBelievedTheSecondTime(t *testing.T) {
	h := newHub(t)
	h.repo.commit(testRef, map[string]string{"a": "a", "b": "b"})
	gone := githubtest.Respond(200, `{"data":{"createCommitOnBranch":null},"errors":[{"type":"UNPROCESSABLE","message":"A path was requested for deletion which does not exist as of commit oid abc"}]}`)
	h.Script(githubtest.Mutation, gone, gone)
	got, err := Update(context.Background(), h.remote, testName, h.options(t, API, github.Options{}), func(ledger.Snapshot) (ledger.Change, error) {
		return ledger.Change{Delete: []string{"b"}, Message: "m"}, nil
	})
	if !errors.Is(err, ErrChange) || got.Attempts != 2 || Reason(err) != "invalid_change" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestABranchThatIsDeletedOrRewoundUnderTheAPIStopsIt(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile func(h *hub, base string)
		kind      error
		reason    string
	}{
		"deleted": {func(h *hub, _ string) { h.repo.git("update-ref", "-d", testRef) }, ErrDeleted, "deleted"},
		"rewound": {func(h *hub, base string) { h.repo.git("update-ref", testRef, base) }, ErrRewound, "rewound"},
		"begun anew": {func(h *hub, _ string) {
			h.repo.git("update-ref", "-d", testRef)
			h.repo.commit(testRef, map[string]string{"other": "o"})
		}, ErrRewound, "rewound"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHub(t)
			base := h.repo.commit(testRef, map[string]string{"a": "a"})
			h.repo.commit(testRef, map[string]string{"b": "b"})
			h.Before(githubtest.Mutation, func() { c.meanwhile(h, base) })
			got, err := Update(context.Background(), h.remote, testName, h.options(t, Auto, github.Options{}), add("mine", "m"))
			if !errors.Is(err, c.kind) || Reason(err) != c.reason || got.Attempts != 2 {
				t.Errorf("got %+v, %q: %v", got, Reason(err), err)
			}
			if n := len(h.Commits(testRepository)); n != 0 {
				t.Errorf("%d commits were made", n)
			}
		})
	}
}

func TestWhatTheAPIDoesNotTakeIsPushedUnlessOnlyTheAPIMayBeUsed(t *testing.T) {
	many := func(n int) func(ledger.Snapshot) (ledger.Change, error) {
		return func(ledger.Snapshot) (ledger.Change, error) {
			c := ledger.Change{Add: map[string][]byte{}, Message: "m"}
			for i := range n {
				c.Add[fmt.Sprint("f", i)] = []byte("x")
			}
			return c, nil
		}
	}
	large := func(n int) func(ledger.Snapshot) (ledger.Change, error) {
		return func(ledger.Snapshot) (ledger.Change, error) {
			return ledger.Change{Add: files("f", strings.Repeat("x", n-1), "g", "y"), Message: "m"}, nil
		}
	}
	for name, c := range map[string]struct {
		branch bool
		empty  bool
		change func(ledger.Snapshot) (ledger.Change, error)
		how    string // with auto
		kind   error  // with api; nil when it takes it
	}{
		"contents at the bound":              {true, false, large(1000), "mutation", nil},
		"contents over the bound":            {true, false, large(1001), "push", ErrTooLarge},
		"contents over the bound, no branch": {false, false, large(1001), "push", ErrTooLarge},
		"a new branch of the most files":     {false, false, many(maxFirstFiles - 1), "ref", nil}, // and .gitattributes
		"a new branch of more files":         {false, false, many(maxFirstFiles), "push", ErrTooLarge},
		"more files on a branch":             {true, false, many(maxFirstFiles * 2), "mutation", nil},
		"an empty repository":                {false, true, many(1), "push", ErrRejected},
	} {
		for _, mode := range []Mode{Auto, API, Git} {
			if c.kind == nil && mode == Auto || mode == Git && !c.empty {
				continue // the same as another
			}
			t.Run(name+", "+string(mode), func(t *testing.T) {
				h := newHub(t)
				if c.empty {
					h.repo.git("update-ref", "-d", "refs/heads/main")
				}
				if c.branch {
					h.repo.commit(testRef, map[string]string{"a": "a"})
				}
				opts := h.options(t, mode, github.Options{})
				opts.apiBytes = 1000
				_, err := Update(context.Background(), h.remote, testName, opts, c.change)
				want := map[Mode]string{Auto: c.how, API: c.how, Git: "push"}[mode]
				if mode == API && c.kind != nil {
					if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), "use publish: auto or git") || len(h.Commits(testRepository)) != 0 {
						t.Errorf("got %v", err)
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if how := h.how(t); !slices.Equal(how, []string{want}) {
					t.Errorf("made by %v, want %s", how, want)
				}
				for _, r := range h.Requests() {
					if strings.Contains(r.Path+r.Query, testToken) || r.Token != testToken && r.Status != 401 {
						t.Errorf("%s %s carried the token %q", r.Method, r.Path, r.Token)
					}
				}
			})
		}
	}
	if MaxAPIBytes != 30_000_000 {
		t.Error("the bound is that of the documentation")
	}
}
