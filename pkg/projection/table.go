package projection

import (
	"bytes"
	"context"
	_ "embed"
	"slices"
	"strings"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/repo-memory/ledger/pkg/ledger"
)

var (
	//go:embed sql/table.sql
	sqlTable string
	//go:embed sql/order.sql
	sqlOrder string
	//go:embed sql/insert.sql
	sqlInsert string
	//go:embed sql/point.sql
	sqlPoint string
	//go:embed sql/interval.sql
	sqlInterval string
	//go:embed sql/walk.sql
	sqlWalk string
)

// table is the table of one path, in a database of its own, so that dropping it
// gives back all it took.
type table struct {
	conn    *sqlite.Conn
	names   []string
	typed   bool
	rows    int  // records of the ledger that stand in it
	ordered bool // the index by digest is there
	used    int  // the query that used it last
}

// noCompany are the settings of a database that one connection holds in memory
// and that is thrown away after any error.
var noCompany = []string{"PRAGMA journal_mode = off", "PRAGMA synchronous = off", "PRAGMA temp_store = memory"}

func newTable(names []string, typed bool) (*table, error) {
	conn, err := sqlite.OpenConn(":memory:", sqlite.OpenReadWrite, sqlite.OpenCreate, sqlite.OpenMemory)
	if err != nil {
		return nil, err
	}
	t := &table{conn: conn, names: names, typed: typed}
	for _, statement := range append(noCompany[:len(noCompany):len(noCompany)], sqlTable) {
		if err := sqlitex.ExecuteTransient(conn, statement, nil); err != nil {
			conn.Close()
			return nil, err
		}
	}
	return t, nil
}

// row is one record on its way into a table; its key stands in a slab.
type row struct {
	typ, start, end int
	sha             ledger.Hash
}

// extend brings in the records that the ledger has beyond those in t. Sorted
// rows make SQLite fill page after page.
func (t *table) extend(ctx context.Context, l *ledger.Ledger, types map[string]int) error {
	rows := make([]row, 0, l.Len()-t.rows)
	var keys []byte
	for r := range l.Added(t.rows) {
		start := len(keys)
		if t.names != nil {
			whole := appendKey(keys, find(r.Payload(), t.names))
			keys = whole[:min(len(whole), start+maxKeyBytes)]
		}
		typ := 0
		if t.typed {
			typ = types[r.Type()]
		}
		rows = append(rows, row{typ, start, len(keys), r.SHA()})
		if len(rows)%maxBatch == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	slices.SortFunc(rows, func(a, b row) int {
		if a.typ != b.typ {
			return a.typ - b.typ
		}
		if c := bytes.Compare(keys[a.start:a.end], keys[b.start:b.end]); c != 0 {
			return c
		}
		return a.sha.Compare(b.sha)
	})
	if err := sqlitex.ExecuteTransient(t.conn, "BEGIN", nil); err != nil {
		return err
	}
	many := len(rows) / insertRows * insertRows
	if err := t.insert(ctx, rows[:many], keys, insertRows); err != nil {
		return err
	}
	if err := t.insert(ctx, rows[many:], keys, 1); err != nil {
		return err
	}
	t.rows += len(rows)
	return sqlitex.ExecuteTransient(t.conn, "COMMIT", nil)
}

// insert inserts rows, n at a time.
func (t *table) insert(ctx context.Context, rows []row, keys []byte, n int) error {
	if len(rows) == 0 {
		return nil
	}
	stmt, err := t.conn.Prepare(sqlInsert + strings.Repeat(", (?, ?, ?)", n-1))
	if err != nil {
		return err
	}
	for ; len(rows) > 0; rows = rows[n:] {
		for i := range rows[:n] {
			r := &rows[i]
			stmt.BindInt64(3*i+1, int64(r.typ))
			stmt.BindBytes(3*i+2, keys[r.start:r.end])
			stmt.BindBytes(3*i+3, r.sha[:])
		}
		if _, err := stmt.Step(); err != nil {
			return err
		}
		if err := stmt.Reset(); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// point returns the digests of at most n records with the key, ascending, after
// the given one.
func (t *table) point(typ int, key, after []byte, n int) ([]ledger.Hash, error) {
	return t.digests(sqlPoint, n, func(s *sqlite.Stmt) {
		s.BindInt64(1, int64(typ))
		s.BindBytes(2, key)
		s.BindBytes(3, after)
		s.BindInt64(4, int64(n))
	})
}

// interval returns the digests of at most n records with keys from lo up to and
// without hi, in no order that matters.
func (t *table) interval(typ int, lo, hi []byte, n int) ([]ledger.Hash, error) {
	return t.digests(sqlInterval, n, func(s *sqlite.Stmt) {
		s.BindInt64(1, int64(typ))
		s.BindBytes(2, lo)
		s.BindBytes(3, hi)
		s.BindInt64(4, int64(n))
	})
}

// walk is interval in ascending order after the given digest.
func (t *table) walk(typ int, lo, hi, after []byte, n int) ([]ledger.Hash, error) {
	if !t.ordered {
		if err := sqlitex.ExecuteTransient(t.conn, sqlOrder, nil); err != nil {
			return nil, err
		}
		t.ordered = true
	}
	return t.digests(sqlWalk, n, func(s *sqlite.Stmt) {
		s.BindInt64(1, int64(typ))
		s.BindBytes(2, lo)
		s.BindBytes(3, hi)
		s.BindBytes(4, after)
		s.BindInt64(5, int64(n))
	})
}

func (t *table) digests(query string, n int, bind func(*sqlite.Stmt)) ([]ledger.Hash, error) {
	stmt, err := t.conn.Prepare(query)
	if err != nil {
		return nil, err
	}
	defer stmt.Reset()
	bind(stmt)
	found := make([]ledger.Hash, 0, min(n, DefaultLimit))
	for {
		more, err := stmt.Step()
		if err != nil || !more {
			return found, err
		}
		var sha ledger.Hash
		stmt.ColumnBytes(0, sha[:])
		found = append(found, sha)
	}
}
