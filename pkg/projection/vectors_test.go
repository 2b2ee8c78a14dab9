package projection

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/ledger"
)

func TestQueriesAnswerAsTheReferencePredicate(t *testing.T) {
	data, err := os.ReadFile("../../testdata/vectors/query.json")
	if err != nil {
		t.Fatal(err)
	}
	var v struct {
		Files       []struct{ Name, Text string }
		Heads       []string
		Diagnostics []ledger.Diagnostic
		Cases       []struct {
			Name, Query string
			Expect      struct {
				Rows       []string
				HasMore    bool
				NextCursor *string
				Error      *struct{ Message string }
			}
		}
	}
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Cases) < 200 {
		t.Fatalf("only %d vectors", len(v.Cases))
	}
	snap := ledger.Snapshot{Files: map[string][]byte{}}
	for _, f := range v.Files {
		snap.Files[ledger.ShardDir+"/"+f.Name] = []byte(f.Text)
	}
	limits := ledger.DefaultLimits()
	limits.MaxSegmentBytes = 1 << 20
	l := ledger.OpenSnapshot(snap, limits)
	p := New(l)
	defer p.Close()
	for _, c := range v.Cases {
		q, err := ParseQuery([]byte(c.Query))
		if c.Expect.Error != nil {
			if !errors.Is(err, ErrQuery) {
				t.Errorf("%s: %s: %v, want an error like %q", c.Name, c.Query, err, c.Expect.Error.Message)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %s: %v", c.Name, c.Query, err)
			continue
		}
		page, err := p.Query(context.Background(), q)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		text, err := page.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Rows        []struct{ SHA string }
			HasMore     bool
			NextCursor  *string
			Heads       []string
			Diagnostics []ledger.Diagnostic
		}
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatalf("%s: %v in %.100s", c.Name, err, text)
		}
		var rows []string
		for _, row := range got.Rows {
			rows = append(rows, row.SHA)
		}
		if !slices.Equal(rows, c.Expect.Rows) || got.HasMore != c.Expect.HasMore || (got.NextCursor == nil) != (c.Expect.NextCursor == nil) ||
			got.NextCursor != nil && *got.NextCursor != *c.Expect.NextCursor {
			t.Errorf("%s: %s: %d rows %s, more %v; want %d rows %s, more %v", c.Name, c.Query,
				len(rows), short(rows), got.HasMore, len(c.Expect.Rows), short(c.Expect.Rows), c.Expect.HasMore)
		}
		// The vectors hold a sample of the heads, in order.
		if at := 0; slices.ContainsFunc(v.Heads, func(head string) bool {
			n := slices.Index(got.Heads[at:], head)
			at += n + 1
			return n < 0
		}) || len(got.Heads) != 60 || !slices.Equal(got.Diagnostics, v.Diagnostics) {
			t.Errorf("%s: %d heads and diagnostics %v", c.Name, len(got.Heads), got.Diagnostics)
		}
	}
	if len(p.tables) > maxTables {
		t.Errorf("%d tables are kept", len(p.tables))
	}
}

func short(shas []string) string {
	var b strings.Builder
	for _, sha := range shas {
		b.WriteString(sha[7:11] + " ")
	}
	return b.String()
}
