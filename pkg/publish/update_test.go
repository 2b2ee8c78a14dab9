package publish

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/repo-memory/ledger/pkg/branch"
	"github.com/repo-memory/ledger/pkg/ledger"
)

const (
	testName = "ledgers/memory"
	testRef  = "refs/heads/ledgers/memory"
)

// quick makes pauses take no time.
func quick(o Options) Options {
	o.Now = func() time.Time { return time.Unix(1_800_000_000, 0) }
	o.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	o.Random = func() float64 { return 0 }
	return o
}

// add is an idempotent change: the file is added unless it stands there.
func add(path, text string) func(ledger.Snapshot) (ledger.Change, error) {
	return func(s ledger.Snapshot) (ledger.Change, error) {
		if string(s.Files[path]) == text {
			return ledger.Change{}, nil
		}
		return ledger.Change{Add: map[string][]byte{path: []byte(text)}, Message: "ledger: add " + path}, nil
	}
}

// between runs a hook at each call, before the change, with the call's number.
func between(change func(ledger.Snapshot) (ledger.Change, error), hook func(call int)) func(ledger.Snapshot) (ledger.Change, error) {
	call := 0
	return func(s ledger.Snapshot) (ledger.Change, error) {
		call++
		hook(call)
		return change(s)
	}
}

// show lists the branch as "mode path content".
func show(r *repo, ref string) []string {
	var lines []string
	for line := range strings.SplitSeq(r.git("ls-tree", "-r", ref), "\n") {
		meta, path, _ := strings.Cut(line, "\t")
		f := strings.Fields(meta)
		text := ""
		if f[1] == "blob" {
			text = r.git("cat-file", "blob", f[2])
		}
		lines = append(lines, f[0]+" "+path+" "+text)
	}
	return lines
}

// remotes are the ways to one repository.
func remotes(t *testing.T, r *repo) map[string]branch.Remote {
	file, err := branch.ParseRemote("file://"+r.dir, "", "")
	if err != nil {
		t.Fatal(err)
	}
	return map[string]branch.Remote{"path": r.remote(), "file URL": file, "https": serve(t, r).remote(t, "")}
}

func TestAMissingBranchBeginsWithAnOrphanCommitOfTheChangeAlone(t *testing.T) {
	for _, transport := range []string{"path", "file URL", "https"} {
		for _, empty := range []bool{false, true} {
			t.Run(fmt.Sprint(transport, ", empty repository: ", empty), func(t *testing.T) {
				r := newRepo(t)
				if !empty {
					r.commit("refs/heads/main", map[string]string{"README": "x"})
				}
				got, err := Update(context.Background(), remotes(t, r)[transport], testName, quick(Options{}), add("ledger/shards/a.jsonl", "one\r\n"))
				if err != nil {
					t.Fatal(err)
				}
				head := r.git("rev-parse", testRef)
				if want := (Result{After: head, Attempts: 1, Created: true}); got != want {
					t.Errorf("got %+v, want %+v", got, want)
				}
				if want := []string{"100644 .gitattributes *.jsonl -text", "100644 ledger/shards/a.jsonl one"}; !slices.Equal(show(r, testRef), want) {
					t.Errorf("got %q", show(r, testRef))
				}
				if size := r.git("cat-file", "-s", testRef+":ledger/shards/a.jsonl"); size != "5" {
					t.Errorf("the bytes were filtered: %s of 5 left", size)
				}
				const want = "repo-memory ledger <ledger@noreply.invalid> 1800000000 +0000|repo-memory ledger <ledger@noreply.invalid> 1800000000 +0000||ledger: add ledger/shards/a.jsonl"
				if log := r.git("log", "--date=raw", "--format=%an <%ae> %ad|%cn <%ce> %cd|%P|%B", testRef); log != want {
					t.Errorf("commit %s", log)
				}
				r.git("fsck", "--strict")
			})
		}
	}
}

func TestAChangeLeavesEverythingElseByteForByte(t *testing.T) {
	r := newRepo(t)
	base := r.commit(testRef, map[string]string{
		"link": "120000:/etc/passwd", "sub": "160000:" + strings.Repeat("1", 40), "run.sh": "100755:#!/bin/sh",
		".gitattributes": "*.jsonl ident", "ledger/shards/a.jsonl": "$Id$", "ledger/shards/b.jsonl": "b", "ledger/x/y/z": "z", "ledger-x": "sorts between",
	})
	got, err := Update(context.Background(), r.remote(), testName, quick(Options{Base: base}), func(s ledger.Snapshot) (ledger.Change, error) {
		return ledger.Change{
			Add:    map[string][]byte{"ledger/shards/c.jsonl": []byte("$Id: x$"), "ledger/shards/b.jsonl": []byte("b2"), "run.sh": []byte("#!/bin/sh"), "new/deep/er": nil},
			Delete: []string{"ledger/x/y/z", "ledger/shards/a.jsonl"}, Message: "ledger: compact\n\nbody",
		}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got.Before != base || got.After != r.git("rev-parse", testRef) || r.git("rev-parse", testRef+"^") != base {
		t.Errorf("got %+v", got)
	}
	want := []string{
		"100644 .gitattributes *.jsonl ident", "100644 ledger-x sorts between", "100644 ledger/shards/b.jsonl b2",
		"100644 ledger/shards/c.jsonl $Id: x$", "120000 link /etc/passwd", "100644 new/deep/er ", "100755 run.sh #!/bin/sh", "160000 sub ",
	}
	if s := show(r, testRef); !slices.Equal(s, want) {
		t.Errorf("got %q", s)
	}
	r.git("fsck", "--strict")
}

func TestNothingIsCommittedWhenTheWorkStandsAlready(t *testing.T) {
	r := newRepo(t)
	head := r.commit(testRef, map[string]string{"a": "a"})
	for name, change := range map[string]func(ledger.Snapshot) (ledger.Change, error){
		"an empty change": add("a", "a"),
		"a change that has no diff": func(ledger.Snapshot) (ledger.Change, error) {
			return ledger.Change{Add: map[string][]byte{"a": []byte("a")}, Message: "m"}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Update(context.Background(), r.remote(), testName, quick(Options{}), change)
			if want := (Result{Before: head, After: head, Attempts: 1, Empty: true}); err != nil || got != want {
				t.Errorf("got %+v, %v", got, err)
			}
			if r.git("rev-parse", testRef) != head {
				t.Error("a commit was made")
			}
		})
	}
	t.Run("an empty change on a missing branch", func(t *testing.T) {
		got, err := Update(context.Background(), r.remote(), "ledgers/third", quick(Options{}), func(ledger.Snapshot) (ledger.Change, error) { return ledger.Change{}, nil })
		if want := (Result{Attempts: 1, Empty: true}); err != nil || got != want {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}

func TestALostRaceIsRebuiltFromTheNewHead(t *testing.T) {
	for _, transport := range []string{"path", "https"} {
		t.Run(transport, func(t *testing.T) {
			r := newRepo(t)
			base := r.commit(testRef, map[string]string{"e1": "1"})
			remote := remotes(t, r)[transport]
			var heads []string
			got, err := Update(context.Background(), remote, testName, quick(Options{Base: base}), func(s ledger.Snapshot) (ledger.Change, error) {
				heads = append(heads, s.Head)
				if len(heads) <= 2 {
					r.commit(testRef, map[string]string{fmt.Sprint("other", len(heads)): "o"})
				}
				return add("mine", fmt.Sprint(len(s.Files)))(s)
			})
			if err != nil || got.Attempts != 3 || got.Before != base {
				t.Fatalf("got %+v, %v", got, err)
			}
			if len(heads) != 3 || heads[0] == heads[1] || heads[1] == heads[2] {
				t.Errorf("called with heads %q", heads)
			}
			want := []string{"100644 e1 1", "100644 mine 3", "100644 other1 o", "100644 other2 o"}
			if s := show(r, testRef); !slices.Equal(s, want) {
				t.Errorf("got %q", s)
			}
			if n := r.git("rev-list", "--count", "--first-parent", testRef); n != "4" {
				t.Errorf("%s commits", n)
			}
		})
	}
}

func TestTwoFirstRunsAtOnceMakeOneBranchWithBoth(t *testing.T) {
	r := newRepo(t)
	got, err := Update(context.Background(), r.remote(), testName, quick(Options{}), between(add("mine", "m"), func(call int) {
		if call == 1 {
			if other, err := Update(context.Background(), r.remote(), testName, quick(Options{}), add("theirs", "t")); err != nil || !other.Created {
				t.Errorf("other: %+v, %v", other, err)
			}
		}
	}))
	if err != nil || got.Created || got.Attempts != 2 || got.Before != "" {
		t.Errorf("got %+v, %v", got, err)
	}
	if want := []string{"100644 .gitattributes *.jsonl -text", "100644 mine m", "100644 theirs t"}; !slices.Equal(show(r, testRef), want) {
		t.Errorf("got %q", show(r, testRef))
	}
}

func TestEightConcurrentWritersLoseAndDuplicateNothing(t *testing.T) {
	for _, transport := range []string{"path", "https"} {
		t.Run(transport, func(t *testing.T) {
			r := newRepo(t)
			remote := remotes(t, r)[transport]
			var wg sync.WaitGroup
			for w := range 8 {
				wg.Go(func() {
					got, err := Update(context.Background(), remote, testName, quick(Options{}), func(s ledger.Snapshot) (ledger.Change, error) {
						c := ledger.Change{Add: map[string][]byte{}, Message: "m"}
						for i := range 25 {
							if p := fmt.Sprintf("ledger/shards/%d-%d.jsonl", w, i); s.Files[p] == nil {
								c.Add[p] = []byte(p)
							}
						}
						return c, nil
					})
					if err != nil {
						t.Errorf("writer %d: %+v, %v", w, got, err)
					}
				})
			}
			wg.Wait()
			if n := r.git("rev-list", "--count", testRef); n != "8" {
				t.Errorf("%s commits", n)
			}
			if n := len(show(r, testRef)); n != 201 {
				t.Errorf("%d files, want 200 and the attributes", n)
			}
		})
	}
}

func TestADeletedOrRewoundBranchIsNeverARace(t *testing.T) {
	for name, c := range map[string]struct {
		base  bool // the base commit, then the branch is touched before the Update
		touch func(r *repo, first string)
		want  error
	}{
		"deleted before":                    {true, func(r *repo, _ string) { r.git("update-ref", "-d", testRef) }, ErrDeleted},
		"rewound before":                    {true, func(r *repo, first string) { r.git("update-ref", testRef, first) }, ErrRewound},
		"replaced before":                   {true, func(r *repo, _ string) { r.commit(testRef, map[string]string{"z": "z"}, strings.Repeat("0", 40)) }, ErrRewound},
		"deleted between tries":             {false, func(r *repo, _ string) { r.git("update-ref", "-d", testRef) }, ErrDeleted},
		"rewound between tries":             {false, func(r *repo, first string) { r.git("update-ref", testRef, first) }, ErrRewound},
		"rewound and continued in between":  {false, func(r *repo, first string) { r.commit(testRef, map[string]string{"z": "z"}, first) }, ErrRewound},
		"replaced between tries":            {false, func(r *repo, _ string) { r.commit(testRef, map[string]string{"z": "z"}, strings.Repeat("0", 40)) }, ErrRewound},
		"continued before is no fault":      {true, func(r *repo, _ string) { r.commit(testRef, map[string]string{"z": "z"}) }, nil},
		"merged before is no fault":         {true, func(r *repo, first string) { merge(r, first) }, nil},
		"continued in between is no fault":  {false, func(r *repo, _ string) { r.commit(testRef, map[string]string{"z": "z"}) }, nil},
		"merged in between is no fault too": {false, func(r *repo, first string) { merge(r, first) }, nil},
	} {
		for _, transport := range []string{"path", "https"} {
			t.Run(name+" by "+transport, func(t *testing.T) {
				r := newRepo(t)
				first := r.commit(testRef, map[string]string{"a": "a"})
				second := r.commit(testRef, map[string]string{"b": "b"})
				opts := quick(Options{})
				if c.base {
					opts.Base = second
					c.touch(r, first)
				}
				calls := 0
				got, err := Update(context.Background(), remotes(t, r)[transport], testName, opts, between(add("mine", "m"), func(call int) {
					if calls = call; call == 1 && !c.base {
						c.touch(r, first)
					}
				}))
				if c.want == nil {
					if err != nil || got.After != r.git("rev-parse", testRef) || r.git("show", testRef+":mine") != "m" {
						t.Errorf("got %+v, %v", got, err)
					}
					return
				}
				if !errors.Is(err, c.want) {
					t.Errorf("got %v", err)
				}
				if c.base != (calls == 0) {
					t.Errorf("called %d times", calls)
				}
				if out := r.git("log", "--all", "--format=%s", "--", "mine"); out != "" {
					t.Errorf("something was written: %s", out)
				}
			})
		}
	}
}

// merge advances the branch by a merge of its head with a side branch that
// forked at an old commit.
func merge(r *repo, fork string) {
	head := r.git("rev-parse", testRef)
	side := r.commit("refs/heads/side", map[string]string{"s": "s"}, fork)
	r.commit(testRef, map[string]string{"m": "m", "s": "s"}, head, side)
}

func TestABaseThatIsNoCommitIdStops(t *testing.T) {
	r := newRepo(t)
	r.commit(testRef, map[string]string{"a": "a"})
	for _, base := range []string{"main", "HEAD", strings.Repeat("A", 40), strings.Repeat("1", 39), strings.Repeat("1", 40), "-" + strings.Repeat("1", 39)} {
		if _, err := Update(context.Background(), r.remote(), testName, quick(Options{Base: base}), add("x", "x")); !errors.Is(err, ErrRewound) {
			t.Errorf("base %q: %v", base, err)
		}
	}
}

func TestTheLastOfSixteenRoundsGivesUp(t *testing.T) {
	r := newRepo(t)
	r.commit(testRef, map[string]string{"a": "a"})
	var pauses []time.Duration
	opts := quick(Options{})
	opts.Sleep = func(_ context.Context, d time.Duration) error { pauses = append(pauses, d); return nil }
	opts.Random = func() float64 { return 0.5 }
	got, err := Update(context.Background(), r.remote(), testName, opts, between(add("mine", "m"), func(call int) {
		r.commit(testRef, map[string]string{"a": fmt.Sprint(call)})
	}))
	if !errors.Is(err, ErrAttempts) || !errors.Is(err, errMoved) || got.Attempts != MaxAttempts || Reason(err) != "exhausted" {
		t.Errorf("got %+v, %v", got, err)
	}
	if len(pauses) != MaxAttempts-1 || pauses[0] != firstPause/2 || pauses[1] != firstPause || pauses[MaxAttempts-2] != longestPause/2 {
		t.Errorf("pauses %v", pauses)
	}
	if strings.Contains(r.git("ls-tree", "--name-only", testRef), "mine") {
		t.Error("something was written")
	}
}

func TestTheFunctionsErrorIsReturnedAsItIs(t *testing.T) {
	r := newRepo(t)
	own := fmt.Errorf("own: %w", branch.ErrUnavailable)
	got, err := Update(context.Background(), r.remote(), testName, quick(Options{}), func(ledger.Snapshot) (ledger.Change, error) { return ledger.Change{}, own })
	if err != own || got.Attempts != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestACanceledContextStopsBetweenRounds(t *testing.T) {
	r := newRepo(t)
	r.commit(testRef, map[string]string{"a": "a"})
	ctx, cancel := context.WithCancel(context.Background())
	_, err := Update(ctx, r.remote(), testName, Options{}, between(add("mine", "m"), func(int) { cancel() }))
	if !errors.Is(err, context.Canceled) || Reason(err) != "canceled" {
		t.Errorf("got %v", err)
	}
	if strings.Contains(r.git("ls-tree", "--name-only", testRef), "mine") {
		t.Error("something was written")
	}
}
