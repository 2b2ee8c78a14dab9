package schema

import (
	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/ledger"
)

// Rule is the rule of the refusals of this package.
const Rule ledger.Rule = "payload-schema"

// Schema is a compiled schema. It is never changed and may be used by several
// goroutines. A nil *Schema takes everything.
type Schema struct {
	text []byte
	root node
}

// node is one schema. Of oneOf and anyOf at most one is not nil, and then it is all.
type node struct {
	types      typeSet // 0 is any
	enum       []canonical.Value
	required   []string
	properties map[string]*node
	closed     bool // no other members than properties
	items      *node
	oneOf      []*node
	anyOf      []*node
}

// typeSet is a set of types, one bit for each.
type typeSet uint8

const (
	typeObject typeSet = 1 << iota
	typeArray
	typeString
	typeNumber
	typeInteger
	typeBoolean
	typeNull
)

var typeNames = map[string]typeSet{"object": typeObject, "array": typeArray, "string": typeString, "number": typeNumber,
	"integer": typeInteger, "boolean": typeBoolean, "null": typeNull}

// JSON is the schema's own text.
func (s *Schema) JSON() []byte { return s.text }
