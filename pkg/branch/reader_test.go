package branch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/go-git/go-git/v5/plumbing"
)

func TestAReaderReadsAgainWhatIsNewAndProvesWhatCameBefore(t *testing.T) {
	for _, transport := range []string{"path", "https"} {
		t.Run(transport, func(t *testing.T) {
			ctx := context.Background()
			r := newRepo(t)
			old := strings.Repeat("a line that compresses well\n", 4000)
			first := r.commit(testRef, map[string]string{"ledger/a": old, "gone": "revived later"})
			second := r.commit(testRef, map[string]string{"gone": "-"})
			remote := r.remote()
			var web *server
			if transport == "https" {
				web = serve(t, r)
				remote = web.remote(t, "")
			}
			reader, err := NewReader(remote, testName, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			tip := func() *Tip {
				t.Helper()
				tip, err := reader.Read(ctx)
				if err != nil {
					t.Fatal(err)
				}
				return tip
			}
			contains := func(id string, want bool) {
				t.Helper()
				if got, err := reader.Contains(ctx, id); err != nil || got != want {
					t.Errorf("contains %s: %v, %v, want %v", id, got, err, want)
				}
			}
			before := tip()
			contains(second, true)
			contains(first, true)
			contains(strings.Repeat("1", 40), false)
			// A new commit brings back a blob that only the history of the
			// present head holds, and changes a large file by a little.
			r.git("repack", "-qadb") // with a bitmap, git leaves out all that a commit's ancestors hold
			third := r.commit(testRef, map[string]string{"back": "revived later", "ledger/a": old + "more\n"})
			if web != nil {
				web.requests = nil
			}
			after := tip()
			if web != nil && len(web.requests) != 2 {
				t.Errorf("%d requests: it started over", len(web.requests))
			}
			if after.Snapshot.Head != third || string(after.Snapshot.Files["ledger/a"]) != old+"more\n" || string(after.Snapshot.Files["back"]) != "revived later" {
				t.Errorf("wrong content at %s", after.Snapshot.Head)
			}
			if before.Snapshot.Head != second || len(before.Snapshot.Files) != 1 {
				t.Error("the first tip changed")
			}
			if !reader.ancestors[id(t, first)] || !reader.ancestors[id(t, second)] {
				t.Error("what was proven is asked again")
			}
			if again := tip(); again != after {
				t.Error("an unmoved branch was read again")
			}
			// Rewound to the first commit.
			r.git("update-ref", testRef, first)
			contains(third, true) // of the head last read
			if got := tip(); got.Snapshot.Head != first || len(got.Snapshot.Files) != 2 {
				t.Errorf("got %s", got.Snapshot.Head)
			}
			contains(third, false)
			contains(first, true)
			// Replaced by an unrelated history.
			other := r.commit(testRef, map[string]string{"x": "x"}, strings.Repeat("0", 40))
			if got := tip(); got.Snapshot.Head != other || len(got.Snapshot.Files) != 1 {
				t.Errorf("got %s %v", got.Snapshot.Head, got.Snapshot.Files)
			}
			contains(first, false)
			r.git("update-ref", "-d", testRef)
			if got := tip(); got.Snapshot.Head != "" {
				t.Errorf("got %s", got.Snapshot.Head)
			}
			contains(other, false)
		})
	}
}

func id(t *testing.T, text string) plumbing.Hash {
	t.Helper()
	h, err := parseID(text)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestReadingAgainTransfersOnlyWhatIsNew(t *testing.T) {
	r := newRepo(t)
	noise := make([]byte, 300_000)
	for i, x := 0, uint32(1); i < len(noise); i++ {
		x = x*1664525 + 1013904223
		noise[i] = "0123456789abcdef"[x>>28]
	}
	r.commit(testRef, map[string]string{"ledger/a": string(noise)})
	reader, err := NewReader(r.remote(), testName, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Read(context.Background()); err != nil {
		t.Fatal(err)
	}
	r.commit(testRef, map[string]string{"ledger/b": "small", "ledger/a": string(noise) + "tail"})
	c, head, err := reader.connect(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	want, _ := parseID(head)
	have, _ := parseID(reader.last.Snapshot.Head)
	pack, known, err := c.fetch(context.Background(), request{want: want, have: have, shallow: true}, 4096)
	if err != nil || !known {
		t.Fatal(known, err)
	}
	defer pack.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(pack); err != nil {
		t.Fatalf("more than 4096 bytes: %v", err)
	}
}

func TestAnAnswerOverItsBoundIsAnErrorNotAnEnd(t *testing.T) {
	for n, want := range map[int64]error{9: ErrTooLarge, 10: nil, 11: nil} {
		got, err := io.ReadAll(iotest.OneByteReader(&boundedReader{r: strings.NewReader("0123456789"), left: n, what: "it"}))
		if !errors.Is(err, want) || err != nil && want == nil || len(got) != int(min(n, 10)) {
			t.Errorf("bound %d: %q, %v", n, got, err)
		}
		again := &boundedReader{r: strings.NewReader("0123456789"), left: n, what: "it"}
		if _, err := io.ReadAll(again); !errors.Is(err, want) {
			t.Errorf("bound %d: %v", n, err)
		}
		if _, err := again.Read(make([]byte, 1)); want != nil && !errors.Is(err, want) {
			t.Errorf("bound %d, after the error: %v", n, err)
		}
	}
}

func TestAPackOverItsBoundIsRefused(t *testing.T) {
	r := newRepo(t)
	head := r.commit(testRef, map[string]string{"a": "0123456789"})
	for name, remote := range map[string]Remote{"path": r.remote(), "https": serve(t, r).remote(t, "")} {
		c, err := Connect(context.Background(), remote, uploadPack)
		if err != nil {
			t.Fatal(err)
		}
		pack, _, err := c.fetch(context.Background(), request{want: id(t, head), depth: 1}, 150)
		if err == nil {
			err = (&unpacker{into: store{}, limits: Limits{}.withDefaults()}).unpack(pack)
			pack.Close()
		}
		if !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
		c.Close()
	}
}
