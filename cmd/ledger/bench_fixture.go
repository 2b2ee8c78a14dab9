package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// fixture makes ledgers to measure: one long chain, as agents write it, in full
// shards, the same for a seed.
type fixture struct{ random *rand.Rand }

func newFixture() *fixture { return &fixture{rand.New(rand.NewPCG(1, 2))} }

// Read makes the fixture a source of UUIDs.
func (f *fixture) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(f.random.Uint32())
	}
	return len(p), nil
}

// text is the payload of a record of about 400 bytes: words and integers.
func (f *fixture) text(i int) []byte {
	return fmt.Appendf(nil, `{"actor":"agent-%d","issue":%d,"note":"looked at the failing build and found that the cache key ignores the lock file","seq":%d}`, i%50, 1000+i%900, i)
}

// prices is a payload of the same size made of decimals.
func (f *fixture) prices(int) []byte {
	p := append([]byte(nil), `{"prices":[`...)
	for j := range 13 {
		if j > 0 {
			p = append(p, ',')
		}
		p = strconv.AppendFloat(p, float64(f.random.IntN(9_000_000)+100_000)/100, 'f', -1, 64)
	}
	return append(p, `]}`...)
}

// floats is a payload of the same size made of doubles of up to 17 digits.
func (f *fixture) floats(int) []byte {
	p := append([]byte(nil), `{"values":[`...)
	for j := range 7 {
		if j > 0 {
			p = append(p, ',')
		}
		p = strconv.AppendFloat(p, 0.1+f.random.Float64(), 'f', -1, 64)
	}
	return append(p, `]}`...)
}

// snapshot returns a chain of n records as the files of a branch.
func (f *fixture) snapshot(n int, limits ledger.Limits, payload func(int) []byte) (ledger.Snapshot, error) {
	snap := ledger.Snapshot{Files: map[string][]byte{}}
	var parents []ledger.Hash
	var shard []byte
	flush := func() error {
		if len(shard) == 0 {
			return nil
		}
		id, err := ledger.NewUUID(f)
		snap.Files[ledger.ShardPath(id)] = shard
		shard = nil
		return err
	}
	for i := range n {
		id, err := ledger.NewUUID(f)
		if err != nil {
			return snap, err
		}
		r, err := ledger.Seal(ledger.Draft{ID: "ldg-" + id, Parents: parents, Payload: payload(i), Timestamp: "2026-01-02T03:04:05.678Z", Type: "note"})
		if err != nil {
			return snap, err
		}
		if len(shard)+len(r.Line())+1 > limits.MaxSegmentBytes {
			if err := flush(); err != nil {
				return snap, err
			}
		}
		shard = append(append(shard, r.Line()...), '\n')
		parents = []ledger.Hash{r.SHA()}
	}
	return snap, flush()
}

// write lays a snapshot out as a folder whose shards are closed.
func write(snap ledger.Snapshot, dir string) error {
	for path, content := range snap.Files {
		file := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, content, 0o444); err != nil {
			return err
		}
	}
	return nil
}
