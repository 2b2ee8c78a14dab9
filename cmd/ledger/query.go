package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"strconv"

	"github.com/repo-memory/ledger/pkg/projection"
)

var queryCommand = command{"query", "[--type T] [--where JSON] [--limit N] [--after SHA] DIR", "print one page of records, as ledger_query answers it",
	func(flags *flag.FlagSet) func(context.Context, streams, []string) error {
		src := sourceFlags(flags)
		typ := flags.String("type", "", "only records of this type")
		where := flags.String("where", "", `conditions as JSON, such as {"payload.actor":{"eq":"agent-1"}}`)
		limit := flags.Int("limit", projection.DefaultLimit, fmt.Sprintf("rows of the page, 1 to %d", projection.MaxLimit))
		after := flags.String("after", "", "only records whose digest sorts after this one")
		asJSON := flags.Bool("json", false, "the answer is always JSON; accepted so that every command takes it")
		return func(ctx context.Context, s streams, args []string) error {
			_ = *asJSON
			q, err := parseQuery(*typ, *where, *limit, *after)
			if err != nil {
				return err
			}
			l, err := src.open(ctx, args)
			if err != nil {
				return err
			}
			defer l.Close()
			p := projection.New(l)
			defer p.Close()
			page, err := p.Query(ctx, q)
			if err != nil {
				return err
			}
			text, err := page.AppendJSON(nil)
			if err == nil {
				_, err = fmt.Fprintf(s.out, "%s\n", text)
			}
			return err
		}
	}}

// parseQuery puts the flags together as the JSON of a query, so that the tool of
// the agents and this command refuse the same.
func parseQuery(typ, where string, limit int, after string) (projection.Query, error) {
	text := []byte(`{"limit":` + strconv.Itoa(limit))
	for _, member := range []struct{ name, value string }{{"type", typ}, {"after", after}} {
		if member.value == "" {
			continue
		}
		quoted, err := json.Marshal(member.value)
		if err != nil {
			return projection.Query{}, err
		}
		text = append(append(text, `,"`+member.name+`":`...), quoted...)
	}
	if where != "" {
		text = append(append(text, `,"where":`...), where...)
	}
	q, err := projection.ParseQuery(append(text, '}'))
	if errors.Is(err, projection.ErrQuery) {
		err = usageError{err}
	}
	return q, err
}
