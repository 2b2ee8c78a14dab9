package schema

import (
	"strings"

	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/ledger"
)

// Judge returns why a payload, as JSON text, does not satisfy the schema; nil when
// it does. The refusal names the place, and none of the payload's values.
func (s *Schema) Judge(payload []byte) *ledger.Refusal {
	if s == nil {
		return nil
	}
	v, err := canonical.ParseStrict(payload, ledger.MaxPayloadDepth)
	if err != nil {
		return &ledger.Refusal{Rule: Rule, Path: "payload", Detail: "cannot be read as JSON of bounded depth"}
	}
	path, problem := s.root.judge(v)
	if problem == "" {
		return nil
	}
	return &ledger.Refusal{Rule: Rule, Path: join("payload", path), Detail: problem}
}

const satisfiesNone = "satisfies none of the schema's alternatives"

// judge returns the first problem and the path to it from v, outermost first.
func (n *node) judge(v canonical.Value) (path, problem string) {
	switch {
	case n.oneOf != nil:
		return "", []string{satisfiesNone, "", "satisfies more than one of the schema's alternatives"}[count(n.oneOf, v, 2)]
	case n.anyOf != nil:
		return "", []string{satisfiesNone, ""}[count(n.anyOf, v, 1)]
	case n.types != 0 && n.types&typesOf(v) == 0:
		return "", "must be " + n.types.String()
	case n.enum != nil && !n.lists(v):
		return "", "is none of the values that the schema lists"
	}
	switch v.Kind {
	case canonical.Object:
		return n.judgeObject(v)
	case canonical.Array:
		if n.items == nil {
			return "", ""
		}
		for i, item := range v.Items {
			if path, problem := n.items.judge(item); problem != "" {
				return join(indexStep(i), path), problem
			}
		}
	}
	return "", ""
}

func (n *node) judgeObject(v canonical.Value) (path, problem string) {
	if len(n.required) > 0 {
		there := make(map[string]bool, len(v.Members))
		for _, m := range v.Members {
			there[m.Name] = true
		}
		for _, name := range n.required {
			if !there[name] {
				return nameStep(name), "is missing"
			}
		}
	}
	for _, m := range v.Members {
		declared := n.properties[m.Name]
		if declared == nil {
			if n.closed {
				return nameStep(m.Name), "is no member that the schema declares"
			}
			continue
		}
		if path, problem := declared.judge(m.Value); problem != "" {
			return join(nameStep(m.Name), path), problem
		}
	}
	return "", ""
}

// count is how many of the alternatives v satisfies, at most enough.
func count(alternatives []*node, v canonical.Value, enough int) (n int) {
	for _, a := range alternatives {
		if _, problem := a.judge(v); problem == "" {
			if n++; n == enough {
				break
			}
		}
	}
	return n
}

// lists reports whether v is one of the values of enum. Canonical numbers are equal
// when their texts are.
func (n *node) lists(v canonical.Value) bool {
	for _, one := range n.enum {
		if one.Kind == v.Kind && one.Str == v.Str && v.Kind != canonical.Array && v.Kind != canonical.Object {
			return true
		}
	}
	return false
}

// typesOf are the types that v has.
func typesOf(v canonical.Value) typeSet {
	switch v.Kind {
	case canonical.Object:
		return typeObject
	case canonical.Array:
		return typeArray
	case canonical.String:
		return typeString
	case canonical.True, canonical.False:
		return typeBoolean
	case canonical.Number:
		// Canonical text has a fraction, or an exponent below zero, exactly when the
		// number is no integer: from 1e21 up every double is one.
		if strings.Contains(v.Str, "e+") || !strings.ContainsAny(v.Str, ".e") {
			return typeNumber | typeInteger
		}
		return typeNumber
	}
	return typeNull
}

// String lists the types in words.
func (t typeSet) String() string {
	var list []string
	for _, name := range []string{"object", "array", "string", "number", "integer", "boolean", "null"} {
		if t&typeNames[name] != 0 {
			list = append(list, name)
		}
	}
	return strings.Join(list, " or ")
}
