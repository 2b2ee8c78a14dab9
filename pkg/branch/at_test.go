package branch

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"
)

func TestAtShowsTheFilesOfAnEarlierCommit(t *testing.T) {
	r := newRepo(t)
	first := r.commit(testRef, map[string]string{"ledger/a": "1", "notes.md": "old", "d/e": "deep", "link": "120000:notes.md"})
	r.commit(testRef, map[string]string{"ledger/a": "-", "notes.md": "new"})
	head := r.commit(testRef, map[string]string{"notes.md": "newer"})
	other := r.commit("refs/heads/other", map[string]string{"z": "z"})
	text := func(files map[string][]byte) map[string]string {
		out := map[string]string{}
		for path, content := range files {
			out[path] = string(content)
		}
		return out
	}
	for name, remote := range map[string]Remote{"path": r.remote(), "https": serve(t, r).remote(t, "")} {
		snap, err := At(context.Background(), remote, testName, first, Limits{})
		if want := map[string]string{"ledger/a": "1", "notes.md": "old", "d/e": "deep"}; err != nil || snap.Head != first || !maps.Equal(text(snap.Files), want) {
			t.Errorf("%s: %v, %v; want %v", name, text(snap.Files), err, want)
		}
		if snap, err := At(context.Background(), remote, testName, head, Limits{}); err != nil || string(snap.Files["notes.md"]) != "newer" {
			t.Errorf("%s: the head: %v, %v", name, text(snap.Files), err)
		}
		for _, commit := range []string{other, strings.Repeat("1", 40), ""} {
			if _, err := At(context.Background(), remote, testName, commit, Limits{}); !errors.Is(err, ErrUnknownCommit) {
				t.Errorf("%s: %q: %v", name, commit, err)
			}
		}
		if _, err := At(context.Background(), remote, testName, first, Limits{TotalBytes: 4}); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: over the bound: %v", name, err)
		}
	}
}
