package memoryrun

import (
	"bytes"
	"fmt"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// metadata is that of every shard, in the digest that names it.
const metadata = "{}"

// Change returns the change that adds records to a branch, as few shards as the
// bounds allow; none for no records.
func Change(snap ledger.Snapshot, limits ledger.Limits, records []ledger.Record, message string) (ledger.Change, error) {
	if len(records) == 0 {
		return ledger.Change{}, nil
	}
	l := ledger.OpenSnapshot(snap, limits)
	if err := l.Whole(); err != nil {
		return ledger.Change{}, err
	}
	add := map[string][]byte{}
	for len(records) > 0 {
		n, size := 0, 0
		for n < len(records) && (n == 0 || size+len(records[n].Line())+1 <= limits.MaxSegmentBytes) {
			size += len(records[n].Line()) + 1
			n++
		}
		segment, err := ledger.BuildSegment(records[:n], metadata, limits.MaxSegmentBytes)
		if err != nil {
			return ledger.Change{}, err
		}
		path := ledger.ShardPath(segment.ID)
		standing, taken := snap.Files[path]
		if _, irregular := snap.Irregular[path]; irregular || taken && !bytes.Equal(standing, segment.Content) {
			return ledger.Change{}, fmt.Errorf("shard %s: its name is on the branch with other content", segment.ID)
		}
		add[path], records = segment.Content, records[n:]
	}
	if n := len(l.Shards()) + len(add); n > limits.MaxShards {
		return ledger.Change{}, fmt.Errorf("max-shards allows %d shards, with this there would be %d: run maintenance to compact the ledger", limits.MaxShards, n)
	}
	return ledger.Change{Add: add, Message: message}, nil
}
