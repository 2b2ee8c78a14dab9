package schema

import (
	"bytes"
	"fmt"

	"github.com/repo-memory/ledger/pkg/canonical"
)

// Parse compiles a schema. Errors are one line that names the place, in ASCII and
// bounded, and what to write instead.
func Parse(text []byte) (*Schema, error) {
	if len(text) > MaxBytes {
		return nil, fmt.Errorf("schema is over %d bytes: describe less in it", MaxBytes)
	}
	value, err := canonical.ParseStrict(text, maxTextDepth)
	if err != nil {
		return nil, fmt.Errorf("schema cannot be read: %w", err)
	}
	s := &Schema{text: bytes.Clone(text)}
	c := compiler{}
	if err := c.compile(value, &s.root, "", 0); err != nil {
		return nil, err
	}
	return s, nil
}

// compiler counts the schemas.
type compiler struct{ schemas int }

func fault(path, problem string) error {
	if path == "" {
		return fmt.Errorf("schema: %s", problem)
	}
	return fmt.Errorf("schema: %s: %s", path, problem)
}

func (c *compiler) compile(v canonical.Value, n *node, path string, depth int) error {
	if c.schemas++; c.schemas > maxSchemas {
		return fault(path, fmt.Sprintf("there are more than %d schemas", maxSchemas))
	}
	if v.Kind != canonical.Object {
		return fault(path, "must be an object")
	}
	if depth > maxDepth {
		return fault(path, fmt.Sprintf("is nested more than %d deep", maxDepth))
	}
	for _, m := range v.Members {
		at := join(path, nameStep(m.Name))
		if (m.Name == "oneOf" || m.Name == "anyOf") && len(v.Members) > 1 {
			return fault(at, "stands beside other members, which would not count: put them into its schemas")
		}
		if err := c.member(m.Name, m.Value, n, at, depth); err != nil {
			return err
		}
	}
	return nil
}

// member compiles one member of a schema.
func (c *compiler) member(name string, v canonical.Value, n *node, path string, depth int) (err error) {
	switch name {
	case "type":
		n.types, err = types(v, path)
	case "enum":
		n.enum, err = enum(v, path)
	case "required":
		n.required, err = names(v, path)
	case "properties":
		if v.Kind != canonical.Object {
			return fault(path, "must be an object of schemas")
		}
		n.properties = make(map[string]*node, len(v.Members))
		for _, m := range v.Members {
			child := &node{}
			if err := c.compile(m.Value, child, join(path, nameStep(m.Name)), depth+1); err != nil {
				return err
			}
			n.properties[m.Name] = child
		}
	case "additionalProperties":
		if v.Kind != canonical.False {
			return fault(path, "must be false, or be left out")
		}
		n.closed = true
	case "items":
		n.items = &node{}
		err = c.compile(v, n.items, path, depth+1)
	case "oneOf":
		n.oneOf, err = c.alternatives(v, path, depth)
	case "anyOf":
		n.anyOf, err = c.alternatives(v, path, depth)
	default:
		return fault(path, "is not supported: use type, enum, required, properties, additionalProperties, items, oneOf, anyOf")
	}
	return err
}

func (c *compiler) alternatives(v canonical.Value, path string, depth int) ([]*node, error) {
	if v.Kind != canonical.Array || len(v.Items) == 0 {
		return nil, fault(path, "must be a list of at least one schema")
	}
	list := make([]*node, len(v.Items))
	for i, item := range v.Items {
		list[i] = &node{}
		if err := c.compile(item, list[i], join(path, indexStep(i)), depth+1); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func types(v canonical.Value, path string) (set typeSet, err error) {
	items := []canonical.Value{v}
	if v.Kind == canonical.Array {
		items = v.Items
	}
	for _, item := range items {
		one := typeNames[item.Str]
		if item.Kind != canonical.String || one == 0 {
			set = 0
			break
		}
		set |= one
	}
	if set == 0 {
		return 0, fault(path, "must be object, array, string, number, integer, boolean or null, or a list of them")
	}
	return set, nil
}

func enum(v canonical.Value, path string) ([]canonical.Value, error) {
	ok := v.Kind == canonical.Array && len(v.Items) > 0
	for _, item := range v.Items {
		ok = ok && item.Kind != canonical.Array && item.Kind != canonical.Object
	}
	if !ok {
		return nil, fault(path, "must be a list of strings, numbers, booleans and nulls, at least one")
	}
	return v.Items, nil
}

func names(v canonical.Value, path string) ([]string, error) {
	ok := v.Kind == canonical.Array
	list := make([]string, 0, len(v.Items))
	for _, item := range v.Items {
		ok = ok && item.Kind == canonical.String
		list = append(list, item.Str)
	}
	if !ok {
		return nil, fault(path, "must be a list of names")
	}
	return list, nil
}
