package projection

import (
	"bytes"
	"slices"

	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/ledger"
)

// filter is a condition as keys: a few points, or the interval from lo up to and
// without hi.
type filter struct {
	path   string // names joined by dots; "" for the one of all records
	names  []string
	points [][]byte // nil for an interval
	lo, hi []byte
	// beyond is set when stored keys are too short to decide.
	beyond bool
}

// everything is the filter of a query without conditions.
var everything = filter{points: [][]byte{{}}}

// holds judges a record by itself.
func (f *filter) holds(r ledger.Record) bool {
	key := appendKey(nil, find(r.Payload(), f.names))
	if f.points == nil {
		return bytes.Compare(f.lo, key) <= 0 && bytes.Compare(key, f.hi) < 0
	}
	return slices.ContainsFunc(f.points, func(p []byte) bool { return bytes.Equal(p, key) })
}

// stored returns f in terms of stored keys, which holds for every record for
// which f does, and for others only if f is beyond.
func (f *filter) stored() filter {
	if !f.beyond {
		return *f
	}
	s := *f
	if f.points == nil {
		s.lo = cut(f.lo)
		if len(f.hi) >= maxKeyBytes {
			s.hi = after(cut(f.hi))
		}
		return s
	}
	s.points = nil
	for _, p := range f.points {
		s.points = append(s.points, cut(p))
	}
	s.points = distinct(s.points)
	return s
}

func distinct(keys [][]byte) [][]byte {
	slices.SortFunc(keys, bytes.Compare)
	return slices.CompactFunc(keys, bytes.Equal)
}

// compile checks q and returns its conditions as filters.
func (q *Query) compile() ([]filter, error) {
	if err := q.check(); err != nil {
		return nil, err
	}
	filters := make([]filter, len(q.Where))
	for i := range q.Where {
		var err error
		if filters[i], err = q.Where[i].compile(); err != nil {
			return nil, err
		}
		for j := range i {
			if filters[j].path == filters[i].path {
				return nil, refuse("where names a path twice")
			}
		}
	}
	return filters, nil
}

func (c *Condition) compile() (filter, error) {
	names, err := splitPath(c.Path)
	if err != nil {
		return filter{}, err
	}
	whole := canonical.Value{Kind: canonical.Object, Members: []canonical.Member{{Name: string(c.Op), Value: c.Operand}}}
	text, err := whole.Text()
	if err != nil {
		return filter{}, refuse("an operand is nested too deep or has a number that overflows a double")
	}
	if len(text) > MaxConditionBytes {
		return filter{}, refuse("the canonical text of a condition is over %d bytes", MaxConditionBytes)
	}
	f := filter{path: c.Path, names: names}
	if err := f.operate(c.Op, c.Operand); err != nil {
		return filter{}, err
	}
	for _, key := range append([][]byte{f.lo, f.hi}, f.points...) {
		f.beyond = f.beyond || len(key) >= maxKeyBytes
	}
	return f, nil
}

// operate turns operator and operand into keys.
func (f *filter) operate(op Op, operand canonical.Value) error {
	key := func(v canonical.Value) []byte {
		text, _ := v.Text() // the whole condition has one
		return appendKey(nil, text)
	}
	switch op {
	case Eq:
		f.points = [][]byte{key(operand)}
	case In:
		if operand.Kind != canonical.Array || len(operand.Items) > MaxInValues {
			return refuse("in takes an array of at most %d values", MaxInValues)
		}
		f.points = [][]byte{}
		for _, item := range operand.Items {
			f.points = append(f.points, key(item))
		}
		f.points = distinct(f.points)
	case Exists:
		switch operand.Kind {
		case canonical.True:
			f.lo, f.hi = []byte{keyNull}, []byte{keyEnd}
		case canonical.False:
			f.points = [][]byte{{}}
		default:
			return refuse("exists takes true or false")
		}
	case Prefix:
		if operand.Kind != canonical.String {
			return refuse("prefix takes a string")
		}
		f.lo = key(operand)
		// No unit starts with a byte above 0xef.
		f.hi = append(key(operand), 0xf0)
	case Gt, Gte, Lt, Lte:
		return f.order(op, operand, key(operand))
	default:
		return errOneOp
	}
	return nil
}

// order makes the interval of an ordered operator: one kind of value only.
func (f *filter) order(op Op, operand canonical.Value, key []byte) error {
	switch operand.Kind {
	case canonical.Number:
		f.lo, f.hi = []byte{keyNumber}, []byte{keyNumber + 1}
	case canonical.String:
		f.lo, f.hi = []byte{keyString}, []byte{keyString + 1}
	default:
		return refuse("%s takes a number or a string", op)
	}
	switch op {
	case Gt:
		f.lo = after(key)
	case Gte:
		f.lo = key
	case Lt:
		f.hi = key
	case Lte:
		f.hi = after(key)
	}
	return nil
}
