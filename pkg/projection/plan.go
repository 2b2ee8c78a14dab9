package projection

import (
	"context"
	"slices"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// source yields the digests of candidates after a given one, ascending, at most
// n; fewer are the last.
type source interface {
	next(after []byte, n int) ([]ledger.Hash, error)
}

// plan returns a source of records, and the filters by which each has still to
// be judged.
func (p *Projection) plan(ctx context.Context, typ int, floor []byte, filters []filter) (source, []*filter, error) {
	if len(filters) == 0 {
		lead, _, err := p.source(ctx, typ, floor, &everything, 0)
		return lead, nil, err
	}
	var (
		lead   source
		leader int
		fewest = sparse + 1
		ask    = sparse + 1
	)
	if len(filters) == 1 {
		ask = 0 // nothing to choose from
	}
	for i := range filters {
		s, n, err := p.source(ctx, typ, floor, &filters[i], ask)
		if err != nil {
			return nil, nil, err
		}
		if n == 0 && ask > 0 {
			return s, nil, nil // no record meets all conditions
		}
		// Of two large ones that which needs no walk.
		if _, walks := lead.(*walk); lead == nil || n < fewest || n == fewest && walks {
			lead, leader, fewest = s, i, n
		}
	}
	var others []*filter
	for i := range filters {
		if i != leader || filters[i].beyond {
			others = append(others, &filters[i])
		}
	}
	return lead, others, nil
}

// source returns the source of one filter, and how many records it yields, at
// most the count asked for.
func (p *Projection) source(ctx context.Context, typ int, floor []byte, f *filter, ask int) (source, int, error) {
	t, err := p.table(ctx, f, typ != 0)
	if err != nil {
		return nil, 0, err
	}
	s := f.stored()
	if s.points != nil {
		lead := &points{t, typ, s.points}
		if ask == 0 {
			return lead, 0, nil
		}
		found, err := lead.next(floor, ask)
		return lead, len(found), err
	}
	found, err := t.interval(typ, s.lo, s.hi, sparse+1)
	if err != nil {
		return nil, 0, err
	}
	if len(found) > sparse {
		return &walk{t, typ, s.lo, s.hi}, len(found), nil
	}
	slices.SortFunc(found, ledger.Hash.Compare)
	return list(found), len(found), nil
}

// points yields the records with one of several keys.
type points struct {
	table *table
	typ   int
	keys  [][]byte
}

func (s *points) next(after []byte, n int) ([]ledger.Hash, error) {
	var all []ledger.Hash
	for _, key := range s.keys {
		found, err := s.table.point(s.typ, key, after, n)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	if len(s.keys) > 1 {
		slices.SortFunc(all, ledger.Hash.Compare)
	}
	return all[:min(len(all), n)], nil
}

// list yields records that were read already.
type list []ledger.Hash

func (s list) next(after []byte, n int) ([]ledger.Hash, error) {
	rest := []ledger.Hash(s)
	if after != nil {
		at, found := slices.BinarySearchFunc(s, ledger.Hash(after), ledger.Hash.Compare)
		if found {
			at++
		}
		rest = s[at:]
	}
	return rest[:min(len(rest), n)], nil
}

// walk yields the records of an interval in the order of all digests.
type walk struct {
	table  *table
	typ    int
	lo, hi []byte
}

func (s *walk) next(after []byte, n int) ([]ledger.Hash, error) {
	return s.table.walk(s.typ, s.lo, s.hi, after, n)
}
