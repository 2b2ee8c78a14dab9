package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/repo-memory/ledger/pkg/ledger"
)

const (
	appends = 20
	half    = appends / 2
)

// appendMany appends records of 8 KiB and returns the ids that were acknowledged,
// until an append fails.
func (p *process) appendMany(ctx context.Context, acknowledged func(n int)) (ids []string, err error) {
	for n := range appends {
		text, err := p.reply(ctx, "ledger_append", map[string]any{"type": "note", "payload": fmt.Sprint(n, strings.Repeat("é", 4<<10))})
		if err != nil {
			return ids, err
		}
		var r struct{ ID string }
		if err := json.Unmarshal([]byte(text), &r); err != nil {
			return ids, err
		}
		ids = append(ids, r.ID)
		acknowledged(n + 1)
	}
	return ids, nil
}

// watch reads the folder again and again until done: no read may meet bytes of
// two records in one line.
func watch(dir string, done <-chan struct{}) error {
	for {
		l, err := ledger.Open(dir, ledger.DefaultLimits())
		if err != nil {
			return err
		}
		diagnostics := l.Diagnostics()
		l.Close()
		for _, d := range diagnostics {
			// A reader can meet a line half written, and a shard read before the
			// parent in it was there.
			if d.Code != ledger.TruncatedRecord && d.Code != ledger.MissingParent {
				return fmt.Errorf("a reader met %v", d)
			}
		}
		select {
		case <-done:
			return nil
		default:
		}
	}
}

func TestTwoServersOnOneFolderLoseAndMixNothing(t *testing.T) {
	for _, killed := range []bool{false, true} {
		t.Run(fmt.Sprintf("one is killed %v", killed), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "box")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			first, second := serveDir(t, dir), serveDir(t, dir)
			done, watched := make(chan struct{}), make(chan error, 1)
			go func() { watched <- watch(dir, done) }()
			var (
				wait                 sync.WaitGroup
				firstIDs, secondIDs  []string
				firstErr, secondErr  error
				together             = make(chan struct{})
				firstIsHalf, goneNow = make(chan struct{}), make(chan struct{})
			)
			wait.Go(func() {
				<-together
				firstIDs, firstErr = first.appendMany(t.Context(), func(n int) {
					if n == half {
						close(firstIsHalf)
					}
				})
			})
			wait.Go(func() {
				<-together
				secondIDs, secondErr = second.appendMany(t.Context(), func(n int) {
					if n == half {
						<-goneNow // so that the other half comes after the kill
					}
				})
			})
			close(together)
			<-firstIsHalf
			if killed {
				if err := first.command.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
			close(goneNow)
			wait.Wait()
			close(done)
			if err := <-watched; err != nil {
				t.Error(err)
			}
			if secondErr != nil || len(secondIDs) != appends {
				t.Errorf("the survivor acknowledged %d: %v", len(secondIDs), secondErr)
			}
			if !killed && (firstErr != nil || len(firstIDs) != appends) {
				t.Errorf("the first acknowledged %d: %v", len(firstIDs), firstErr)
			}

			l, err := ledger.Open(dir, ledger.DefaultLimits())
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			for _, id := range append(slices.Clone(firstIDs), secondIDs...) {
				if n := len(l.GetID(id)); n != 1 {
					t.Errorf("acknowledged record %s is there %d times", id, n)
				}
			}
			acknowledged := len(firstIDs) + len(secondIDs)
			// The one append that was on its way may stand too.
			if extra := l.Len() - acknowledged; extra < 0 || extra > 1 || extra == 1 && !killed {
				t.Errorf("%d records, %d acknowledged", l.Len(), acknowledged)
			}
			for _, d := range l.Diagnostics() {
				if !killed || d.Code != ledger.TruncatedRecord {
					t.Errorf("diagnostic %v", d)
				}
			}
			// Nothing that the killed one left behind blocks the next.
			third := serveDir(t, dir)
			if text := third.must(t, "ledger_append", map[string]any{"type": "note", "payload": nil}); !strings.Contains(text, `"payload":null`) {
				t.Error(text)
			}
		})
	}
}
