package compaction

import (
	"strconv"

	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/ledger"
)

// value is a JSON value that a stranger wrote; its methods take it for nothing
// but what it is.
type value canonical.Value

// hasExactly reports whether v is an object with these members, ascending.
func hasExactly(v canonical.Value, names ...string) bool {
	if v.Kind != canonical.Object || len(v.Members) != len(names) {
		return false
	}
	for i, name := range names {
		if v.Members[i].Name != name {
			return false
		}
	}
	return true
}

func member(v canonical.Value, name string) value {
	m, _ := v.Get(name)
	return value(m)
}

func (v value) text() (string, bool) { return v.Str, v.Kind == canonical.String }

// integer reads a whole number from 1 to most.
func (v value) integer(most int) (int, bool) {
	if v.Kind != canonical.Number {
		return 0, false
	}
	n, err := strconv.Atoi(v.Str)
	return n, err == nil && n >= 1 && n <= most
}

func (v value) hash() (ledger.Hash, bool) {
	if v.Kind != canonical.String {
		return ledger.Hash{}, false
	}
	return ledger.ParseHash(v.Str)
}

// hashes reads a list of at most most digests.
func (v value) hashes(most int) ([]ledger.Hash, bool) {
	if v.Kind != canonical.Array || len(v.Items) > most {
		return nil, false
	}
	list := make([]ledger.Hash, len(v.Items))
	for i := range v.Items {
		var ok bool
		if list[i], ok = value(v.Items[i]).hash(); !ok {
			return nil, false
		}
	}
	return list, true
}

// ascending reads a list of 1 to most digests, each larger than the one before.
func (v value) ascending(most int) ([]ledger.Hash, bool) {
	list, ok := v.hashes(most)
	for i := 1; i < len(list); i++ {
		ok = ok && list[i-1].Compare(list[i]) < 0
	}
	return list, ok && len(list) > 0
}

// appendHashes appends a list of digests as canonical text.
func appendHashes(b []byte, list []ledger.Hash) []byte {
	b = append(b, '[')
	for i, h := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), h.String()...), '"')
	}
	return append(b, ']')
}
