package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/txlog"
)

const (
	openRuns     = 9    // of each, in turn, so that both see the same machine
	appendRuns   = 1200 // beyond three shards of 100 KiB, rotations included
	firstAppends = 31
)

// opening measures a cold open, every hash, shape and order verified, against
// one SHA-256 pass over the same bytes.
func (b *bench) opening() error {
	var single time.Duration
	for _, kind := range []struct {
		name    string
		payload func(int) []byte
		goal    float64
	}{
		{"open, text and integers", b.fixture.text, 5},
		{"open, prices", b.fixture.prices, 8},
		{"open, 17-digit floats", b.fixture.floats, 8},
	} {
		snap, err := b.fixture.snapshot(b.records, b.limits, kind.payload)
		if err != nil {
			return err
		}
		took, base, err := b.open(snap, b.records)
		if err != nil {
			return err
		}
		b.against(kind.name+" / one SHA-256 pass", took, base, kind.goal)
		if single == 0 {
			single = took
		}
	}
	double, err := b.fixture.snapshot(2*b.records, b.limits, b.fixture.text)
	if err != nil {
		return err
	}
	took, _, err := b.open(double, 2*b.records)
	if err != nil {
		return err
	}
	b.against("open, twice the records / once", took, single, 2.4)
	return nil
}

// open returns the medians of opening the snapshot from a folder and of one
// SHA-256 pass over it.
func (b *bench) open(snap ledger.Snapshot, records int) (took, base time.Duration, err error) {
	dir, err := b.folder("open")
	if err != nil {
		return 0, 0, err
	}
	defer removeAll(dir)
	if err := write(snap, dir); err != nil {
		return 0, 0, err
	}
	limits := b.limits
	limits.MaxShards = ledger.MaxReadShards
	var opens, passes []time.Duration
	for range openRuns {
		d, err := timed(func() error {
			l, err := ledger.Open(dir, limits)
			if err != nil {
				return err
			}
			defer l.Close()
			if l.Len() != records || len(l.Heads()) != 1 || len(l.Diagnostics()) != 0 {
				return fmt.Errorf("opened %d records with %d diagnostics, want %d and none", l.Len(), len(l.Diagnostics()), records)
			}
			return nil
		})
		if err != nil {
			return 0, 0, err
		}
		opens = append(opens, d)
		d, _ = timed(func() error {
			for _, content := range snap.Files {
				sha256.Sum256(content)
			}
			return nil
		})
		passes = append(passes, d)
	}
	return median(opens), median(passes), nil
}

// appending measures appends in steady state, rotations included, and a writer's
// first one, against a raw write and sync of the same bytes.
func (b *bench) appending() error {
	full, err := b.fixture.snapshot(b.records, b.limits, b.fixture.text)
	if err != nil {
		return err
	}
	for _, on := range []struct {
		name string
		snap ledger.Snapshot
	}{{"an empty ledger", ledger.Snapshot{}}, {fmt.Sprintf("%d records", b.records), full}} {
		for _, audited := range []bool{false, true} {
			if err := b.appendTo(on.name, on.snap, audited); err != nil {
				return err
			}
		}
		if err := b.appendFirst(on.name, on.snap); err != nil {
			return err
		}
	}
	return nil
}

// wide limits let a measured run add more than a real one may.
func (b *bench) wide() ledger.Limits {
	limits := b.limits
	limits.MaxPatchBytes = 1 << 30
	return limits
}

func (b *bench) appendTo(on string, snap ledger.Snapshot, audited bool) error {
	dir, err := b.folder("append")
	if err != nil {
		return err
	}
	defer removeAll(dir)
	if err := write(snap, dir); err != nil {
		return err
	}
	w, err := ledger.NewWriter(dir, b.wide(), ledger.WriterOptions{})
	if err != nil {
		return err
	}
	defer w.Close()
	log, err := txlog.OpenWriter(filepath.Join(b.dir, "transactions.jsonl"))
	if err != nil {
		return err
	}
	defer log.Close()
	raw, err := os.OpenFile(filepath.Join(b.dir, "raw"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer raw.Close()
	var ours, bare []time.Duration
	for i := range appendRuns + 1 {
		var line []byte
		d, err := timed(func() error {
			r, err := w.Append("note", b.fixture.text(i))
			if err == nil && audited {
				err = log.Append(txlog.EventOf(r, time.Now()))
			}
			line = r.Line()
			return err
		})
		if err != nil {
			return err
		}
		e, err := timed(func() error {
			if _, err := raw.Write(append(line[:len(line):len(line)], '\n')); err != nil {
				return err
			}
			return raw.Sync()
		})
		if err != nil {
			return err
		}
		if i > 0 { // the first is measured apart
			ours, bare = append(ours, d), append(bare, e)
		}
	}
	name, goal := "append on "+on, 1.25
	if audited {
		name, goal = "append and audit event on "+on, 2.4
	}
	b.against(name+" / raw write and sync, mean", mean(ours), mean(bare), goal)
	b.against(name+" / raw write and sync, median", median(ours), median(bare), goal)
	return nil
}

func (b *bench) appendFirst(on string, snap ledger.Snapshot) error {
	dir, err := b.folder("first")
	if err != nil {
		return err
	}
	defer removeAll(dir)
	if err := write(snap, dir); err != nil {
		return err
	}
	var ours, bare []time.Duration
	for i := range firstAppends {
		w, err := ledger.NewWriter(dir, b.limits, ledger.WriterOptions{})
		if err != nil {
			return err
		}
		// An agent thinks before it appends; opening's garbage is gone by then.
		runtime.GC()
		var line []byte
		d, err := timed(func() error {
			r, err := w.Append("note", b.fixture.text(i))
			line = r.Line()
			return err
		})
		if err != nil {
			return err
		}
		ours = append(ours, d)
		raw, err := os.OpenFile(filepath.Join(b.dir, "raw"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		d, err = timed(func() error {
			if _, err := raw.Write(line); err != nil {
				return err
			}
			return raw.Sync()
		})
		raw.Close()
		if err != nil {
			return err
		}
		bare = append(bare, d)
		if err := w.Close(); err != nil {
			return err
		}
	}
	b.against("a writer's first append on "+on+" / raw, median", median(ours), median(bare), 5)
	return nil
}
