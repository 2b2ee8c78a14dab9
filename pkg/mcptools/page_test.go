package mcptools

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// fill writes a chain of n records of some KiB each into shards.
func fill(t *testing.T, dir string, n, kib int) {
	t.Helper()
	shards := filepath.Join(dir, filepath.FromSlash(ledger.ShardDir))
	if err := os.MkdirAll(shards, 0o755); err != nil {
		t.Fatal(err)
	}
	var parents []ledger.Hash
	var content []byte
	payload := []byte(`"` + strings.Repeat("x", kib<<10-350) + `"`)
	for i := range n {
		r, err := ledger.Seal(ledger.Draft{ID: fmt.Sprintf("ldg-00000000-0000-4000-8000-%012d", i), Parents: parents,
			Payload: payload, Timestamp: "2026-01-01T00:00:00.000Z", Type: "note"})
		if err != nil {
			t.Fatal(err)
		}
		parents = []ledger.Hash{r.SHA()}
		content = append(append(content, r.Line()...), '\n')
		if i == n-1 || len(content) > 90<<10 {
			name := fmt.Sprintf("00000000-0000-4000-8000-%012d.jsonl", i)
			if err := os.WriteFile(filepath.Join(shards, name), content, 0o444); err != nil {
				t.Fatal(err)
			}
			content = content[:0]
		}
	}
}

type page struct {
	Rows       []struct{ ID, SHA string }
	HasMore    bool
	NextCursor *string
}

// query calls the tool; text is what the client would show to a model.
func (s *Server) page(t *testing.T, arguments string) (p page, text int) {
	t.Helper()
	a, err := s.query(context.Background(), []byte(arguments))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(a.json, &p); err != nil {
		t.Fatal(err)
	}
	if p.HasMore != (p.NextCursor != nil) || p.HasMore && *p.NextCursor != p.Rows[len(p.Rows)-1].SHA {
		t.Fatal("hasMore, nextCursor and the last row do not agree")
	}
	return p, len(a.json)
}

func TestPagesAreBoundedAndTheirWalkMeetsEveryRecordOnce(t *testing.T) {
	const records = 5000
	dir := t.TempDir()
	fill(t, dir, records, 1)
	s := New(newWriter(t, dir), Options{})
	defer s.Close()
	if p, n := s.page(t, `{}`); n > 40_000 || n < 20_000 || !p.HasMore {
		t.Errorf("a page without a limit has %d bytes of text and %d rows", n, len(p.Rows))
	}
	if p, n := s.page(t, `{"limit":100}`); n < 90_000 || len(p.Rows) != 100 {
		t.Errorf("a page that was asked for 100 rows has %d bytes of text and %d rows", n, len(p.Rows))
	}
	for _, limit := range []string{"", `"limit":500,`} {
		seen, last, after := map[string]bool{}, "", ""
		for {
			p, n := s.page(t, `{`+limit+`"type":"note"`+after+`}`)
			if n > longPageBytes+8<<10 {
				t.Fatalf("a page has %d bytes of text", n)
			}
			for _, row := range p.Rows {
				if seen[row.ID] || row.SHA <= last {
					t.Fatalf("%s comes twice or out of order", row.ID)
				}
				seen[row.ID], last = true, row.SHA
			}
			if !p.HasMore {
				break
			}
			after = `,"after":"` + *p.NextCursor + `"`
		}
		if len(seen) != records {
			t.Errorf("the walk with %q met %d of %d records", limit, len(seen), records)
		}
	}
}

func TestAPageOfOneRecordIsNeverEmpty(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, 2, 32)
	s := New(newWriter(t, dir), Options{})
	defer s.Close()
	if p, _ := s.page(t, `{}`); len(p.Rows) != 1 || !p.HasMore {
		t.Errorf("%d rows", len(p.Rows))
	}
}
