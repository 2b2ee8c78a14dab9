package branch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// walkOf renders a history: one line a commit, with what changed.
func walkOf(t *testing.T, remote Remote, since string) []string {
	t.Helper()
	var lines []string
	err := History(context.Background(), remote, testName, since, Limits{}, func(c Commit) error {
		var s strings.Builder
		fmt.Fprintf(&s, "%s parents=%d children=%d at=%d", c.ID[:7], len(c.Parents), c.Children, c.Time.Unix())
		if c.Baseline {
			s.WriteString(" baseline")
		}
		for _, list := range c.Changes {
			s.WriteString(" [")
			for i, f := range list {
				old, err := f.Old.Bytes()
				if err != nil {
					return err
				}
				now, err := f.New.Bytes()
				if err != nil {
					return err
				}
				if (f.Old.ID == "") != (old == nil) || (f.New.ID == "") != (now == nil) {
					t.Errorf("%s: an id without content, or the reverse", f.Path)
				}
				fmt.Fprintf(&s, "%s%s:%s>%s", strings.Repeat(" ", min(i, 1)), strings.TrimPrefix(f.Path, "ledger/"), old, now)
			}
			s.WriteString("]")
		}
		lines = append(lines, s.String())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func TestHistoryShowsEveryCommitOldestFirstWithItsChangesToEachParent(t *testing.T) {
	r := newRepo(t)
	c1 := r.commit(testRef, map[string]string{"ledger/a": "1", "notes": "n"})
	c2 := r.commit(testRef, map[string]string{"ledger/b": "2", "notes": "n2"})
	s1 := r.commit("refs/heads/side", map[string]string{"ledger/s": "3"}, c1)
	c3 := r.commit(testRef, map[string]string{"ledger/a": "-", "ledger/b": "2+"})
	m := r.commit(testRef, map[string]string{"ledger/s": "3", "ledger/d/e": "4"}, c3, s1)
	c5 := r.commit(testRef, map[string]string{"ledger/s": "120000:x", "ledger/d": "file now"})
	r.commit("refs/heads/other", map[string]string{"ledger/z": "not on the branch"})
	line := func(id, rest string) string { return id[:7] + " " + rest }
	whole := []string{
		line(c1, "parents=0 children=2 at=1700000060 [a:>1]"),
		line(c2, "parents=1 children=1 at=1700000120 [b:>2]"),
		line(s1, "parents=1 children=1 at=1700000180 [s:>3]"),
		line(c3, "parents=1 children=1 at=1700000240 [a:1> b:2>2+]"),
		line(m, "parents=2 children=1 at=1700000300 [d/e:>4 s:>3] [a:1> b:>2+ d/e:>4]"),
		line(c5, "parents=1 children=0 at=1700000360 [d:>file now d/e:4> s:3>]"),
	}
	for name, remote := range map[string]Remote{"path": r.remote(), "https": serve(t, r).remote(t, "")} {
		t.Run(name, func(t *testing.T) {
			if got := walkOf(t, remote, ""); !slices.Equal(got, whole) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(whole, "\n"))
			}
		})
	}
	t.Run("since a commit, which is shown whole first, as are others that were merged from before it", func(t *testing.T) {
		want := []string{
			line(c1, "parents=0 children=1 at=1700000060 baseline [a:>1]"),
			line(s1, "parents=1 children=1 at=1700000180 [s:>3]"),
			line(c3, "parents=1 children=1 at=1700000240 baseline [b:>2+]"),
			whole[4], whole[5],
		}
		if got := walkOf(t, r.remote(), c3); !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
	t.Run("since the head", func(t *testing.T) {
		want := []string{line(c5, "parents=1 children=0 at=1700000360 baseline [b:>2+ d:>file now]")}
		if got := walkOf(t, r.remote(), c5); !slices.Equal(got, want) {
			t.Errorf("got %q", got)
		}
	})
}

func TestHistoryRefusesACommitThatIsNotOnTheBranch(t *testing.T) {
	r := newRepo(t)
	r.commit(testRef, map[string]string{"ledger/a": "1"})
	other := r.commit("refs/heads/other", map[string]string{"ledger/z": "z"})
	none := func(Commit) error { t.Error("visited"); return nil }
	for _, since := range []string{other, strings.Repeat("1", 40), "main", "HEAD~1", strings.Repeat("A", 40)} {
		if err := History(context.Background(), r.remote(), testName, since, Limits{}, none); !errors.Is(err, ErrUnknownCommit) {
			t.Errorf("%s: %v", since, err)
		}
	}
	if err := History(context.Background(), r.remote(), "ledgers/none", "", Limits{}, none); err != nil {
		t.Errorf("a missing branch: %v", err)
	}
	if err := History(context.Background(), r.remote(), "ledgers/none", other, Limits{}, none); !errors.Is(err, ErrUnknownCommit) {
		t.Errorf("a missing branch, since a commit: %v", err)
	}
}

func TestARemoteWithoutItsHistoryProvesNothing(t *testing.T) {
	r := newRepo(t)
	first := r.commit(testRef, map[string]string{"ledger/a": "1"})
	r.commit(testRef, map[string]string{"ledger/a": "2"})
	cut := &repo{t: t, dir: t.TempDir() + "/cut.git"}
	r.run("", "clone", "-q", "--bare", "--depth=1", "--branch=ledgers/memory", "file://"+r.dir, cut.dir)
	if s := read(t, cut.remote()); string(s.Files["ledger/a"]) != "2" {
		t.Errorf("reading: %v", s)
	}
	if err := History(context.Background(), cut.remote(), testName, "", Limits{}, func(Commit) error { return nil }); !errors.Is(err, ErrShallow) {
		t.Errorf("history: %v", err)
	}
	if _, err := Contains(context.Background(), cut.remote(), testName, first, Limits{}); !errors.Is(err, ErrShallow) {
		t.Errorf("contains: %v", err)
	}
}

func TestAHistoryOverABoundIsAnErrorBeforeAnythingIsVisited(t *testing.T) {
	r := newRepo(t)
	r.commit(testRef, map[string]string{"ledger/big": strings.Repeat("x", maxTreeBytes+1)})
	r.commit(testRef, map[string]string{"ledger/big": "-"})
	limits := Limits{FileBytes: maxTreeBytes}
	none := func(Commit) error { t.Error("visited"); return nil }
	if err := History(context.Background(), r.remote(), testName, "", limits, none); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v", err)
	}
	if _, err := Read(context.Background(), r.remote(), testName, limits); err != nil {
		t.Errorf("the present state is within the bounds: %v", err)
	}
}
