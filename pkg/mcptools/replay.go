package mcptools

import (
	"bytes"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// replays remembers which record was made under which idempotency key.
type replays struct {
	records map[string]ledger.Record
	order   []string // oldest first
}

// find returns the record made under key; another request under it is refused.
func (r *replays) find(key, typ string, payload []byte) (ledger.Record, bool, error) {
	record, known := r.records[key]
	if known && (record.Type() != typ || !bytes.Equal(record.Payload(), payload)) {
		return ledger.Record{}, false, refusal("idempotency_key was used for another request; nothing was recorded")
	}
	return record, known, nil
}

func (r *replays) remember(key string, record ledger.Record) {
	if r.records == nil {
		r.records = map[string]ledger.Record{}
	}
	if len(r.order) == maxIdempotencyKeys {
		delete(r.records, r.order[0])
		r.order = r.order[1:]
	}
	r.records[key] = record
	r.order = append(r.order, key)
}
