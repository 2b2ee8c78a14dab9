package projection

import (
	"context"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// Page is the answer to a Query.
type Page struct {
	// Rows are the records, ascending by digest.
	Rows []ledger.Record
	// HasMore says that more records match; NextCursor is then the digest of the
	// last row, and nil otherwise.
	HasMore    bool
	NextCursor *ledger.Hash
	// Heads and Diagnostics are the first of the whole ledger; MoreHeads and
	// MoreDiagnostics count the others.
	Heads           []ledger.Hash
	MoreHeads       int
	Diagnostics     []ledger.Diagnostic
	MoreDiagnostics int
}

// empty is a page without rows.
func (p *Projection) empty() Page {
	heads, diagnostics := p.ledger.Heads(), p.ledger.Diagnostics()
	shown, named := min(len(heads), MaxHeads), min(len(diagnostics), MaxDiagnostics)
	return Page{
		Rows:  []ledger.Record{},
		Heads: heads[:shown], MoreHeads: len(heads) - shown,
		Diagnostics: slices.Clone(diagnostics[:named]), MoreDiagnostics: len(diagnostics) - named,
	}
}

// page answers q, whose conditions are filters, or fails with an error of SQLite.
func (p *Projection) page(ctx context.Context, q Query, filters []filter) (Page, error) {
	p.queries++
	p.sync()
	page := p.empty()
	typ := 0
	if q.Type != "" {
		if typ = p.types[q.Type]; typ == 0 {
			return page, nil
		}
	}
	var floor []byte // below every digest
	if q.After != nil {
		floor = q.After[:]
	}
	lead, others, err := p.plan(ctx, typ, floor, filters)
	if err != nil {
		return page, err
	}
	n := q.Limit + 1
	if len(others) > 0 {
		n = max(n, firstBatch)
	}
	for size := 0; ; n = min(2*n, maxBatch) {
		batch, err := lead.next(floor, n)
		if err != nil {
			return page, err
		}
		for _, sha := range batch {
			r, _ := p.ledger.Get(sha)
			if slices.ContainsFunc(others, func(f *filter) bool { return !f.holds(r) }) {
				continue
			}
			size += len(r.Line()) + 1
			if len(page.Rows) == q.Limit || q.Bytes > 0 && size > q.Bytes && len(page.Rows) > 0 {
				last := page.Rows[len(page.Rows)-1].SHA()
				page.HasMore, page.NextCursor = true, &last
				return page, nil
			}
			page.Rows = append(page.Rows, r)
		}
		if len(batch) < n {
			return page, nil
		}
		if floor = batch[len(batch)-1][:]; ctx.Err() != nil {
			return page, ctx.Err()
		}
	}
}

// MarshalJSON returns the page as the package comment shows it, each row as the
// line of its record.
func (p Page) MarshalJSON() ([]byte, error) { return p.AppendJSON(nil) }

// AppendJSON appends what MarshalJSON returns. Encoders that are given a
// Marshaler may spell strings anew; these bytes they do not get to see.
func (p Page) AppendJSON(dst []byte) ([]byte, error) {
	dst = append(dst, `{"rows":[`...)
	for i, r := range p.Rows {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, r.Line()...)
	}
	dst = strconv.AppendBool(append(dst, `],"hasMore":`...), p.HasMore)
	rest, err := json.Marshal(struct {
		NextCursor      *ledger.Hash        `json:"nextCursor"`
		Heads           []ledger.Hash       `json:"heads"`
		MoreHeads       int                 `json:"moreHeads,omitzero"`
		Diagnostics     []ledger.Diagnostic `json:"diagnostics"`
		MoreDiagnostics int                 `json:"moreDiagnostics,omitzero"`
	}{p.NextCursor, p.Heads, p.MoreHeads, p.Diagnostics, p.MoreDiagnostics},
		// The name of a shard can be any bytes.
		jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return nil, err
	}
	return append(append(dst, ','), rest[1:]...), nil
}
