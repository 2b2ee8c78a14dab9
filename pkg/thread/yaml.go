package thread

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/repo-memory/ledger/pkg/canonical"
)

var errYAML = errors.New("step inputs are no YAML: give a mapping from name to value")

// parseInputs reads JSON or YAML as one value.
func parseInputs(text []byte) (canonical.Value, error) {
	trimmed := bytes.TrimSpace(text)
	if len(trimmed) == 0 {
		return canonical.Value{}, nil
	}
	if trimmed[0] == '{' || trimmed[0] == '[' {
		v, err := canonical.ParseStrict(trimmed, maxInputsDepth)
		if err != nil {
			return v, fmt.Errorf("step inputs start like JSON and are none: %w", err)
		}
		return v, nil
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	var document, more yaml.Node
	if err := d.Decode(&document); errors.Is(err, io.EOF) {
		return canonical.Value{}, nil
	} else if err != nil || len(document.Content) != 1 {
		return canonical.Value{}, errYAML
	}
	if err := d.Decode(&more); !errors.Is(err, io.EOF) {
		return canonical.Value{}, errors.New("step inputs hold more than one YAML document")
	}
	return fromYAML(document.Content[0], 0)
}

// fromYAML turns a node into the value that the same text in JSON would be. A
// number that JSON spells differently, such as 1.10, stays the text it is.
func fromYAML(n *yaml.Node, depth int) (canonical.Value, error) {
	var v canonical.Value
	fail := func(problem string) (canonical.Value, error) {
		return v, fmt.Errorf("step inputs, line %d: %s", n.Line, problem)
	}
	if n.Kind == yaml.AliasNode || n.Anchor != "" || n.Style&yaml.TaggedStyle != 0 {
		return fail("anchors, aliases and tags are not taken")
	}
	if depth > maxInputsDepth {
		return fail(fmt.Sprintf("nested more than %d deep", maxInputsDepth))
	}
	switch n.Kind {
	case yaml.ScalarNode:
		return scalar(n), nil
	case yaml.SequenceNode:
		v.Kind = canonical.Array
		for _, item := range n.Content {
			element, err := fromYAML(item, depth+1)
			if err != nil {
				return v, err
			}
			v.Items = append(v.Items, element)
		}
		return v, nil
	case yaml.MappingNode:
	default:
		return fail("neither a mapping, a list nor a value")
	}
	v.Kind = canonical.Object
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode || key.Anchor != "" || key.Tag == "!!merge" || key.Style&yaml.TaggedStyle != 0 {
			return fail("names must be plain text")
		}
		value, err := fromYAML(n.Content[i+1], depth+1)
		if err != nil {
			return v, err
		}
		v.Members = append(v.Members, canonical.Member{Name: key.Value, Value: value})
	}
	slices.SortFunc(v.Members, func(a, b canonical.Member) int { return canonical.CompareNames(a.Name, b.Name) })
	for i := 1; i < len(v.Members); i++ {
		if v.Members[i].Name == v.Members[i-1].Name {
			return fail("a name occurs twice")
		}
	}
	return v, nil
}

func scalar(n *yaml.Node) canonical.Value {
	switch n.Tag {
	case "!!null":
		return canonical.Value{}
	case "!!bool":
		var b bool
		if n.Decode(&b) == nil && b {
			return canonical.Value{Kind: canonical.True}
		}
		return canonical.Value{Kind: canonical.False}
	case "!!int", "!!float":
		if v, err := canonical.ParseStrict([]byte(n.Value), 0); err == nil && v.Kind == canonical.Number && v.Str == n.Value {
			return v
		}
	}
	return canonical.Value{Kind: canonical.String, Str: n.Value}
}
