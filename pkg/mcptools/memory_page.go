package mcptools

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// pager collects what fits a page: at least one entry, then as many as the limit
// and the bytes allow.
type pager struct {
	limit, bytes, n int
	full            bool
}

// newPager reads a limit; without one the page is small.
func newPager(limit *int) (*pager, error) {
	if limit == nil {
		return &pager{limit: defaultMemoryRows, bytes: pageBytes}, nil
	}
	if *limit < 1 || *limit > maxMemoryRows {
		return nil, refusal(fmt.Sprintf("invalid arguments: limit must be 1 to %d", maxMemoryRows))
	}
	return &pager{limit: *limit, bytes: longPageBytes}, nil
}

// takes reports whether an entry is on the page; after the first that is not,
// none is.
func (p *pager) takes(entry any) bool {
	if p.full {
		return false
	}
	text, err := json.Marshal(entry)
	if err != nil || p.n > 0 && (p.n == p.limit || len(text) > p.bytes) {
		p.full = true
		return false
	}
	p.n++
	p.bytes -= len(text)
	return true
}

// A cursor names what a page was made of, so that the next one goes on in the same
// list whatever was written since: names of changesets, which never change, and a
// position, between spaces.
func cursor(parts ...string) string { return strings.Join(parts, " ") }

var errCursor = refusal("invalid arguments: after is no nextCursor of this tool")

func cut(after string, parts int) ([]string, error) {
	list := strings.Split(after, " ")
	if len(list) != parts {
		return nil, errCursor
	}
	return list, nil
}

func position(text string, most int) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most || strconv.Itoa(n) != text {
		return 0, errCursor
	}
	return n, nil
}
