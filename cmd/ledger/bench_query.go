package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/projection"
)

const queryRuns = 201

// querying measures pages of 100 by type and one payload field, and get, on a
// ledger whose records all have one type.
func (b *bench) querying() error {
	snap, err := b.fixture.snapshot(b.records, b.limits, b.fixture.text)
	if err != nil {
		return err
	}
	l := ledger.OpenSnapshot(snap, b.limits)
	p := projection.New(l)
	defer p.Close()
	for _, q := range []struct {
		name, where string
		first, goal float64
		empty       bool
	}{
		{"eq with rows", `{"payload.actor":{"eq":"agent-7"}}`, 200, 2, false},
		{"eq without rows", `{"payload.actor":{"eq":"nobody"}}`, 0, 20, true},
		{"gt with rows", `{"payload.seq":{"gt":100}}`, 200, 2, false},
		{"gt without rows", `{"payload.seq":{"gt":1000000000}}`, 0, 20, true},
	} {
		query, err := projection.ParseQuery([]byte(`{"type":"note","where":` + q.where + `}`))
		if err != nil {
			return err
		}
		ask := func() error {
			page, err := p.Query(b.ctx, query)
			if err == nil && (len(page.Rows) == 0) != q.empty {
				err = fmt.Errorf("page has %d rows", len(page.Rows))
			}
			return err
		}
		took, err := timed(ask)
		if err != nil {
			return err
		}
		if q.first > 0 {
			b.within("query "+q.name+", first use of the path", took, q.first)
		}
		if took, err = b.repeated(ask); err != nil {
			return err
		}
		b.within("query "+q.name+", page of 100", took, q.goal)
	}
	shas := make([]ledger.Hash, 0, b.records)
	for r := range l.Records() {
		shas = append(shas, r.SHA())
	}
	i := 0
	took, err := b.repeated(func() error {
		i += 7919
		if _, ok := l.Get(shas[i%len(shas)]); !ok {
			return errors.New("a record is missing")
		}
		return nil
	})
	b.within("get by digest", took, 0.2)
	return err
}

// repeated returns the median of many runs.
func (b *bench) repeated(f func() error) (time.Duration, error) {
	var times []time.Duration
	for range queryRuns {
		d, err := timed(f)
		if err != nil {
			return 0, err
		}
		times = append(times, d)
	}
	return median(times), nil
}

// memory measures the peak memory of a process that opens the ledger, against
// four times its bytes and 40 MB.
func (b *bench) memory() error {
	snap, err := b.fixture.snapshot(b.records, b.limits, b.fixture.text)
	if err != nil {
		return err
	}
	dir, err := b.folder("memory")
	if err != nil {
		return err
	}
	defer removeAll(dir)
	if err := write(snap, dir); err != nil {
		return err
	}
	size := 0
	for _, content := range snap.Files {
		size += len(content)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	out, err := exec.CommandContext(b.ctx, self, "bench", "--probe-memory", dir).Output()
	if err != nil {
		return fmt.Errorf("failed to measure memory in a process of its own: %w", err)
	}
	peak, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		return err
	}
	const mb = 1 << 20
	b.report(result{Name: "peak memory / (4 x shard bytes + 40 MB)", Took: float64(peak) / mb, Base: float64(4*size)/mb + 40,
		Ratio: float64(peak) / float64(4*size+40*mb), Unit: "MB", Goal: 1})
	return nil
}

// probeMemory opens the ledger in dir and prints this process's peak memory.
func probeMemory(s streams, dir string) error {
	l, err := ledger.Open(dir, ledger.DefaultLimits())
	if err != nil {
		return err
	}
	defer l.Close()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return fmt.Errorf("peak memory is read from /proc, which is not here: %w", err)
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")))
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(s.out, kb<<10)
			return err
		}
	}
	return errors.New("peak memory is not in /proc/self/status")
}
