package projection

import (
	"errors"
	"strconv"

	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/ledger"
)

// ParseQuery reads the JSON text of a query, strictly (see the package comment).
// Errors are [ErrQuery] with a fixed sentence.
func ParseQuery(text []byte) (Query, error) {
	if len(text) > MaxQueryBytes {
		return Query{}, refuse("over %d bytes", MaxQueryBytes)
	}
	v, err := canonical.Parse(text)
	if err != nil {
		var fault *canonical.Error
		errors.As(err, &fault)
		return Query{}, refuse("%s", fault.Rule)
	}
	if v.Kind != canonical.Object {
		return Query{}, refuse("must be an object with type, where, limit and after, each optional")
	}
	if members(v) != colons(text) {
		return Query{}, refuse("%s", canonical.Duplicate)
	}
	q, err := readQuery(v)
	if err != nil {
		return Query{}, err
	}
	if _, err := q.compile(); err != nil {
		return Query{}, err
	}
	return q, nil
}

func readQuery(v canonical.Value) (Query, error) {
	q := Query{Limit: DefaultLimit}
	for _, m := range v.Members {
		switch m.Name {
		case "type":
			if m.Value.Kind != canonical.String || m.Value.Str == "" {
				return q, errType
			}
			q.Type = m.Value.Str
		case "limit":
			n, err := strconv.Atoi(m.Value.Str)
			if m.Value.Kind != canonical.Number || err != nil || n < 1 {
				return q, errLimit
			}
			q.Limit = n
		case "after":
			after, ok := ledger.ParseHash(m.Value.Str)
			if m.Value.Kind != canonical.String || !ok {
				return q, errAfter
			}
			q.After = &after
		case "where":
			if m.Value.Kind != canonical.Object || len(m.Value.Members) > MaxConditions {
				return q, errWhere
			}
			for _, c := range m.Value.Members {
				if c.Value.Kind != canonical.Object || len(c.Value.Members) != 1 {
					return q, errOneOp
				}
				only := c.Value.Members[0]
				q.Where = append(q.Where, Condition{Path: c.Name, Op: Op(only.Name), Operand: only.Value})
			}
		default:
			return q, refuse("it has a member that is not type, where, limit or after")
		}
	}
	return q, nil
}

// members counts the names in v.
func members(v canonical.Value) int {
	n := len(v.Members)
	for _, m := range v.Members {
		n += members(m.Value)
	}
	for _, item := range v.Items {
		n += members(item)
	}
	return n
}

// colons counts the names in a JSON text, which those in its value are fewer
// than exactly when one is repeated in an object: only the last one counts.
func colons(text []byte) int {
	n := 0
	inside := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			inside = !inside
		case c == '\\':
			i++ // only strings have escapes
		case c == ':' && !inside:
			n++
		}
	}
	return n
}
