package ledger

import (
	"fmt"
	"slices"
	"strings"
)

func isShardName(file string) bool { return strings.HasSuffix(file, ShardExt) }

func (l *Ledger) reset() {
	l.shards, l.entries, l.slab, l.heads = nil, l.entries[:0], l.slab[:0], nil
	l.bySHA, l.byID = index[Hash]{}, index[recordID]{}
	l.wanted, l.clash = map[Hash]struct{}{}, map[recordID][]int32{}
	l.order, l.stale, l.reload, l.read = nil, true, false, false
}

// bytesPerRecord is what a record usually takes on disk, for sizing tables: twice
// too large a table costs more than one that grows once.
const bytesPerRecord = 400

// spareEntries is how many records more than were read find room without moving
// the tables: what a run appends.
const spareEntries = 1024

// loadAll reads shards, which are in the order of their names.
func (l *Ledger) loadAll(shards []*shard) {
	l.shards = shards
	size := 0
	for _, s := range shards {
		size += len(s.content)
	}
	n := size/bytesPerRecord + spareEntries
	l.entries, l.slab = slices.Grow(l.entries, n), slices.Grow(l.slab, n)
	l.bySHA, l.byID = make(index[Hash], n), make(index[recordID], n)
	for _, s := range shards {
		l.extend(s, l.load)
	}
	l.sorted()
}

// addShard puts a new shard in its place by name and reads it.
func (l *Ledger) addShard(s *shard) {
	at, _ := slices.BinarySearchFunc(l.shards, s.file, func(s *shard, file string) int { return strings.Compare(s.file, file) })
	l.shards = slices.Insert(l.shards, at, s)
	l.extend(s, l.insert)
}

// extend reads what is new in s and adds each record with add.
func (l *Ledger) extend(s *shard, add func(entry)) {
	l.stale = true
	if s.fault {
		return
	}
	mark := len(l.slab)
	keep := func(parent Hash) { l.slab = append(l.slab, parent) }
	s.scan(&l.parser, keep, func(line []byte, offset int, ok bool) {
		if !ok {
			l.slab = l.slab[:mark]
			if s.faults++; s.faults > maxShardFaults {
				return
			}
			// Where the reference gives up the whole shard for invalid UTF-8, only the
			// line is spoiled here: readers must not discard valid records.
			code := faultOf(line)
			if code == "" {
				code = InvalidEnvelope
			}
			s.lines = append(s.lines, Diagnostic{Code: code, File: s.file, Line: s.count})
			return
		}
		start := offset
		if offset == 0 && s.content[0] == byteOrderMark[0] {
			start = len(byteOrderMark)
		}
		e := entry{shard: s, offset: int32(offset), start: int32(start), length: int32(len(line)),
			first: int32(mark), at: l.parser.at, sha: l.parser.sha}
		n := int32(len(l.entries))
		known := !l.bySHA.add(e.sha, n)
		taken := !known && !l.byID.add(l.parser.id, n)
		if (known || taken) && l.read {
			// Which of the two comes first depends on the names of their shards.
			l.reload = true
		}
		if known {
			l.slab = l.slab[:mark]
			return
		}
		if taken {
			l.clash[l.parser.id] = append(l.clash[l.parser.id], n)
			s.lines = append(s.lines, Diagnostic{Code: DuplicateIDConflict, File: s.file, Line: s.count,
				ID: string(line[idStart : idStart+e.at.idLen()])})
		}
		add(e)
		mark = len(l.slab)
	})
}

// load adds an entry whose place is found later, in one go with all others.
func (l *Ledger) load(e entry) { l.entries = append(l.entries, e) }

func (l *Ledger) parents(i int32) []Hash {
	e := &l.entries[i]
	return l.slab[e.first : e.first+int32(e.at.parents)]
}

// sorted returns the entries in reconstruction order: Kahn's algorithm by
// waves, a wave being the records whose parents all stand in earlier ones, each
// wave sorted by digest. Linear in records and parents, but for the sorting.
func (l *Ledger) sorted() []int32 {
	if l.order != nil {
		return l.order
	}
	n := len(l.entries)
	// Edges from parent to child, counted, then laid out in one slice.
	child := make([]int32, n+1)
	waiting := make([]int32, n)
	parentOf := make([]int32, len(l.slab))
	clear(l.wanted)
	for i := range l.entries {
		l.entries[i].absent = false
		e := &l.entries[i]
		for j, parent := range l.parents(int32(i)) {
			at := int(e.first) + j
			// In a chain, as agents write it, the parent is the line before.
			p, here := int32(i-1), i > 0 && l.entries[i-1].sha == parent
			if !here {
				p, here = l.bySHA.find(parent)
			}
			if !here {
				parentOf[at] = -1
				e.absent = true
				l.wanted[parent] = struct{}{}
				continue
			}
			parentOf[at] = p
			child[p+1]++
			waiting[i]++
		}
	}
	for i := range n {
		child[i+1] += child[i]
	}
	edges := make([]int32, child[n])
	next := slices.Clone(child[:n])
	l.heads = l.heads[:0]
	order := make([]int32, 0, n+spareEntries)
	for i := range l.entries {
		e := &l.entries[i]
		for j := e.first; j < e.first+int32(e.at.parents); j++ {
			if p := parentOf[j]; p >= 0 {
				edges[next[p]] = int32(i)
				next[p]++
			}
		}
		if child[i] == child[i+1] {
			l.heads = append(l.heads, e.sha)
		}
		if waiting[i] == 0 {
			order = append(order, int32(i))
		}
	}
	slices.SortFunc(l.heads, Hash.Compare)
	bySHA := func(a, b int32) int { return l.entries[a].sha.Compare(l.entries[b].sha) }
	for start, level := 0, int32(0); start < len(order); level++ {
		end := len(order)
		slices.SortFunc(order[start:end], bySHA)
		for _, i := range order[start:end] {
			l.entries[i].level = level
			for _, c := range edges[child[i]:child[i+1]] {
				if waiting[c]--; waiting[c] == 0 {
					order = append(order, c)
				}
			}
		}
		start = end
	}
	// A cycle would need records that contain each other's digests; what a hash
	// collision could bring is left out rather than looped over.
	l.order, l.read = order, true
	return order
}

// insert adds an entry to a ledger that was in order. When it does not simply
// take its place, the order is dropped; the caller ends with sorted.
func (l *Ledger) insert(e entry) {
	n := int32(len(l.entries))
	l.entries = append(l.entries, e)
	_, waited := l.wanted[e.sha] // then a record that was an orphan moves
	if l.inserts++; waited || l.inserts > maxInserts {
		l.order = nil
	}
	if l.order == nil {
		return
	}
	for _, parent := range l.parents(n) {
		if p, here := l.bySHA.find(parent); here {
			l.entries[n].level = max(l.entries[n].level, l.entries[p].level+1)
		} else {
			l.entries[n].absent = true
			l.wanted[parent] = struct{}{}
		}
	}
	for _, parent := range l.parents(n) {
		if at, found := slices.BinarySearchFunc(l.heads, parent, Hash.Compare); found {
			l.heads = slices.Delete(l.heads, at, at+1)
		}
	}
	at, _ := slices.BinarySearchFunc(l.heads, e.sha, Hash.Compare)
	l.heads = slices.Insert(l.heads, at, e.sha)
	at, _ = slices.BinarySearchFunc(l.order, n, func(a, b int32) int {
		if d := l.entries[a].level - l.entries[b].level; d != 0 {
			return int(d)
		}
		return l.entries[a].sha.Compare(l.entries[b].sha)
	})
	l.order = slices.Insert(l.order, at, n)
}

// Diagnostics returns what was wrong, in the order that [Diagnostic] states.
func (l *Ledger) Diagnostics() []Diagnostic {
	if !l.stale {
		return l.diagnostics
	}
	l.diagnostics = []Diagnostic{}
	if l.misplaced {
		l.diagnostics = append(l.diagnostics, Diagnostic{Code: InvalidEnvelope, Detail: ErrDirectory.Error()})
	}
	if l.cut {
		l.diagnostics = append(l.diagnostics, Diagnostic{Code: InvalidEnvelope,
			Detail: fmt.Sprintf("Only the first %d ledger shards were inspected", l.limits.MaxShards)})
	}
	for _, s := range l.shards {
		if s.fault {
			l.diagnostics = append(l.diagnostics, Diagnostic{Code: InvalidEnvelope, File: s.file})
		}
		if s.truncated != 0 {
			l.diagnostics = append(l.diagnostics, Diagnostic{Code: TruncatedRecord, File: s.file, Line: s.truncated})
		}
		l.diagnostics = append(l.diagnostics, s.lines...)
		if more := s.faults - maxShardFaults; more > 0 {
			l.diagnostics = append(l.diagnostics, Diagnostic{Code: InvalidEnvelope, File: s.file,
				Detail: fmt.Sprintf("%d more lines are no records", more)})
		}
	}
	order := l.sorted()
	if len(l.wanted) > 0 {
		for _, i := range order {
			if l.entries[i].absent {
				l.diagnostics = append(l.diagnostics, Diagnostic{Code: MissingParent, ID: l.record(i).ID()})
			}
		}
	}
	l.stale = false
	return l.diagnostics
}
