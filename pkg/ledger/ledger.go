package ledger

import (
	"fmt"
	"iter"
	"slices"
)

// Ledger is a reconstructed ledger: every valid record of its shards, in order,
// with the heads and what was wrong. It is not safe for concurrent use.
type Ledger struct {
	limits Limits
	dir    *directory // nil when read from a Snapshot
	// shards are in the order of their names; cut counts those beyond the bound,
	// which were not looked at.
	shards []*shard
	cut    bool
	// misplaced is set when a link or a file stands where a folder of the ledger
	// should.
	misplaced bool

	entries []entry
	slab    []Hash // parents of all entries
	bySHA   index[Hash]
	byID    index[recordID]
	wanted  map[Hash]struct{} // parents that are not here
	clash   map[recordID][]int32
	heads   []Hash

	order       []int32 // entries in reconstruction order, nil when unknown
	diagnostics []Diagnostic
	stale       bool // diagnostics must be put together again
	reload      bool // the files must be read again from the start
	read        bool // they were: what comes now comes out of turn
	inserts     int  // records that came out of turn in this refresh
	generation  int  // of the entries: changes when they are read anew
	parser      lineParser
}

// entry is one record.
type entry struct {
	shard  *shard
	offset int32 // as the reference gives it: 0 for a first line after a mark
	start  int32
	length int32
	first  int32 // of the parents in the slab
	level  int32 // longest distance from a root among the records present
	at     layout
	absent bool // a parent is not here
	sha    Hash
}

// OpenSnapshot reconstructs the ledger of a snapshot. Nothing in it is an error:
// what is wrong is a diagnostic.
func OpenSnapshot(snap Snapshot, limits Limits) *Ledger {
	l := &Ledger{limits: limits}
	l.reset()
	sources := map[string][]byte{}
	const prefix = ShardDir + "/"
	for path, content := range snap.Files {
		if file, ok := shardFile(path, prefix); ok {
			if len(path) != len(prefix)+len(file) { // a folder with a shard's name
				content = nil
			} else if content == nil {
				content = []byte{}
			}
			sources[file] = content
		}
	}
	for _, folder := range []string{Dir, ShardDir} {
		_, isFile := snap.Files[folder]
		_, isOther := snap.Irregular[folder]
		l.misplaced = l.misplaced || isFile || isOther
	}
	for path := range snap.Irregular {
		if file, ok := shardFile(path, prefix); ok {
			sources[file] = nil
		}
	}
	names := make([]string, 0, len(sources))
	for file := range sources {
		names = append(names, file)
	}
	var shards []*shard
	for _, file := range l.bound(names) {
		s := &shard{file: file, content: sources[file], size: int64(len(sources[file]))}
		_, named := ShardID(file)
		s.fault = !named || s.content == nil || len(s.content) > limits.MaxSegmentBytes
		shards = append(shards, s)
	}
	l.loadAll(shards)
	return l
}

// shardFile returns the first element of path below prefix if it ends like a
// shard.
func shardFile(path, prefix string) (string, bool) {
	if len(path) <= len(prefix) || path[:len(prefix)] != prefix {
		return "", false
	}
	file := path[len(prefix):]
	for i := range file {
		if file[i] == '/' {
			file = file[:i]
			break
		}
	}
	return file, isShardName(file)
}

// bound sorts the names of shards and cuts them at the bound.
func (l *Ledger) bound(names []string) []string {
	slices.Sort(names)
	if l.cut = len(names) > l.limits.MaxShards; l.cut {
		names = names[:l.limits.MaxShards]
	}
	return names
}

// Whole returns an error when the ledger has more shards than were inspected:
// then what was read authorizes nothing and nothing may be added.
func (l *Ledger) Whole() error {
	if l.misplaced {
		return ErrDirectory
	}
	if l.cut {
		return fmt.Errorf("ledger has more than %d shards: compact it first", l.limits.MaxShards)
	}
	return nil
}

// Len returns the number of records.
func (l *Ledger) Len() int { return len(l.entries) }

// Limits returns the limits that the ledger was opened with.
func (l *Ledger) Limits() Limits { return l.limits }

// Records yields every record in reconstruction order: by the longest distance
// from a root among the parents present, then by digest (specification, section
// 5.1).
func (l *Ledger) Records() iter.Seq[Record] {
	return func(yield func(Record) bool) {
		for _, i := range l.sorted() {
			if !yield(l.record(i)) {
				return
			}
		}
	}
}

// Added yields the records from the nth on in the order in which this Ledger
// read them, which only ever grows until [Ledger.Generation] changes.
func (l *Ledger) Added(n int) iter.Seq[Record] {
	return func(yield func(Record) bool) {
		for i := n; i < len(l.entries); i++ {
			if !yield(l.record(int32(i))) {
				return
			}
		}
	}
}

// Heads returns the digests that no record present names as a parent, ascending.
func (l *Ledger) Heads() []Hash { return append([]Hash{}, l.heads...) }

// Has reports whether a record with that digest is present.
func (l *Ledger) Has(sha Hash) bool {
	_, ok := l.bySHA.find(sha)
	return ok
}

// HasID reports whether a record with that id is present.
func (l *Ledger) HasID(id string) bool {
	key, ok := parseID([]byte(id))
	if ok {
		_, ok = l.byID.find(key)
	}
	return ok
}

// Get returns the record with that digest.
func (l *Ledger) Get(sha Hash) (Record, bool) {
	i, ok := l.bySHA.find(sha)
	if !ok {
		return Record{}, false
	}
	return l.record(i), true
}

// GetID returns the records with that id, ascending by digest: one, none, or
// those that are in conflict about it.
func (l *Ledger) GetID(id string) []Record {
	key, ok := parseID([]byte(id))
	if !ok {
		return nil
	}
	i, ok := l.byID.find(key)
	if !ok {
		return nil
	}
	found := []Record{l.record(i)}
	for _, other := range l.clash[key] {
		found = append(found, l.record(other))
	}
	slices.SortFunc(found, func(a, b Record) int { return a.sha.Compare(b.sha) })
	return found
}

func (l *Ledger) record(i int32) Record {
	e := &l.entries[i]
	return Record{line: e.shard.content[e.start : e.start+e.length], sha: e.sha, at: e.at}
}

// Shard is one file of a ledger.
type Shard struct {
	ID      string // "" when the name is no UUID
	File    string
	Bytes   int64
	Records int // those that the ledger counts to this shard
}

// Shards returns the inspected shards by name.
func (l *Ledger) Shards() []Shard {
	counts := map[*shard]int{}
	for i := range l.entries {
		counts[l.entries[i].shard]++
	}
	shards := make([]Shard, len(l.shards))
	for i, s := range l.shards {
		id, ok := ShardID(s.file)
		if !ok {
			id = ""
		}
		shards[i] = Shard{ID: id, File: s.file, Bytes: s.size, Records: counts[s]}
	}
	return shards
}

// Location returns the shard that holds the record and its byte offset there.
func (l *Ledger) Location(sha Hash) (file string, offset int, ok bool) {
	i, ok := l.bySHA.find(sha)
	if !ok {
		return "", 0, false
	}
	return l.entries[i].shard.file, int(l.entries[i].offset), true
}
