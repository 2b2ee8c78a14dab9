package projection

import (
	"context"
	"errors"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// Projection answers queries over one ledger. It follows what is appended, and
// starts anew when the ledger was read anew; refreshing the ledger is the
// caller's. Like the ledger it is used by one goroutine at a time.
type Projection struct {
	ledger     *ledger.Ledger
	generation int
	// types gives each record type a number from 1 on; known is how many records
	// it has seen.
	types map[string]int
	known int

	tables  map[tableName]*table
	queries int
}

type tableName struct {
	path  string
	typed bool
}

// ErrUnavailable: SQLite failed twice. The ledger and everything else about it
// are sound.
var ErrUnavailable = errors.New("query is not possible at the moment: try again, or get records by id")

// New returns the projection of l. It costs nothing until it is asked.
func New(l *ledger.Ledger) *Projection {
	p := &Projection{ledger: l}
	p.drop()
	return p
}

// Close gives back all memory. The Projection can be used again.
func (p *Projection) Close() { p.drop() }

// Query answers q. Errors are [ErrQuery] with a sentence, [ErrUnavailable], or
// that of ctx.
func (p *Projection) Query(ctx context.Context, q Query) (Page, error) {
	filters, err := q.compile()
	if err != nil {
		return Page{}, err
	}
	if q.Limit == 0 {
		q.Limit = DefaultLimit
	}
	page, err := p.page(ctx, q, filters)
	if err != nil && ctx.Err() == nil {
		p.drop()
		page, err = p.page(ctx, q, filters)
	}
	if err == nil {
		return page, nil
	}
	p.drop()
	if ctx.Err() != nil {
		return Page{}, ctx.Err()
	}
	return Page{}, ErrUnavailable
}

// drop forgets everything derived.
func (p *Projection) drop() {
	for _, t := range p.tables {
		t.conn.Close()
	}
	p.tables, p.types, p.known = map[tableName]*table{}, map[string]int{}, 0
	p.generation = p.ledger.Generation()
}

// sync numbers the types of new records.
func (p *Projection) sync() {
	if p.generation != p.ledger.Generation() {
		p.drop()
	}
	for r := range p.ledger.Added(p.known) {
		typ := r.Type()
		if p.types[typ] == 0 {
			p.types[typ] = len(p.types) + 1
		}
	}
	p.known = p.ledger.Len()
}

// table returns the table of a filter's path with every record in it.
func (p *Projection) table(ctx context.Context, f *filter, typed bool) (*table, error) {
	name := tableName{f.path, typed}
	t, ok := p.tables[name]
	if !ok {
		p.evict()
		var err error
		if t, err = newTable(f.names, typed); err != nil {
			return nil, err
		}
		p.tables[name] = t
	}
	t.used = p.queries
	if t.rows == p.ledger.Len() {
		return t, nil
	}
	return t, t.extend(ctx, p.ledger, p.types)
}

// evict makes room for one more table.
func (p *Projection) evict() {
	for len(p.tables) >= maxTables {
		var oldest tableName
		used := p.queries + 1
		for name, t := range p.tables {
			if t.used < used {
				oldest, used = name, t.used
			}
		}
		p.tables[oldest].conn.Close()
		delete(p.tables, oldest)
	}
}
