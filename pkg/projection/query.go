package projection

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/ledger"
)

// Op is how a condition compares.
type Op string

const (
	Eq     Op = "eq"
	In     Op = "in"
	Exists Op = "exists"
	Prefix Op = "prefix"
	Gt     Op = "gt"
	Gte    Op = "gte"
	Lt     Op = "lt"
	Lte    Op = "lte"
)

// Query asks for one page. The zero Query is the first page of all records.
type Query struct {
	// Type is the record's type, in the string encoding of canonical.Value; ""
	// is any.
	Type string
	// Where are conditions that must all hold, at most MaxConditions, each on
	// another path.
	Where []Condition
	// Limit is how many rows the page has at most; 0 is DefaultLimit.
	Limit int
	// After leaves out what does not sort after it; nil leaves out nothing.
	After *ledger.Hash
	// Bytes bounds the lines of the rows, newlines included; 0 does not. It is
	// the caller's own bound and no member of the JSON.
	Bytes int
}

// Condition compares what stands at a path with an operand.
type Condition struct {
	Path    string // payload.a.b
	Op      Op
	Operand canonical.Value
}

// ErrQuery: the query is not one. What follows is a fixed sentence, with at most
// the names of its members, in ASCII.
var ErrQuery = errors.New("invalid query")

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrQuery}, args...)...)
}

var pathForm = regexp.MustCompile(`^payload\.[a-zA-Z_][a-zA-Z0-9_-]*(\.[a-zA-Z_][a-zA-Z0-9_-]*){0,7}$`)

// splitPath returns the names that lead from the payload on.
func splitPath(path string) ([]string, error) {
	if len(path) > MaxPathBytes || !pathForm.MatchString(path) {
		return nil, refuse("a path in where must be payload. and 1 to %d names of letters, digits, _ and -, at most %d bytes", MaxPathNames, MaxPathBytes)
	}
	return strings.Split(path, ".")[1:], nil
}

// check judges what stands outside of the conditions.
func (q *Query) check() error {
	if n := canonical.Units(q.Type); n > ledger.MaxTypeUnits {
		return errType
	}
	if q.Limit < 0 || q.Limit > MaxLimit {
		return errLimit
	}
	if len(q.Where) > MaxConditions {
		return errWhere
	}
	return nil
}

var (
	errType  = refuse("type must be a string of 1 to %d characters", ledger.MaxTypeUnits)
	errLimit = refuse("limit must be a whole number from 1 to %d", MaxLimit)
	errWhere = refuse("where must be an object of at most %d conditions", MaxConditions)
	errAfter = refuse("after must be a record sha: sha256: and 64 lower-case hexadecimal digits")
	errOneOp = refuse("a condition must be an object with exactly one operator: eq, in, exists, prefix, gt, gte, lt or lte")
)
