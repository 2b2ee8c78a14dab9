package githubtest

import (
	"fmt"
	"regexp"
	"strconv"
)

// operation is a GraphQL document with one operation.
type operation struct {
	kind      string            // query or mutation
	variables map[string]string // declared: name to type
	fields    []field
}

// field is one selection: what is asked for, under what name, with what arguments.
type field struct {
	alias, name string
	args        map[string]any // variables are replaced by their values
	fields      []field
}

// tokens of GraphQL: names, numbers, strings without escapes, punctuation.
var tokenForm = regexp.MustCompile(`[\s,]+|#[^\n]*|[A-Za-z_][A-Za-z0-9_]*|-?[0-9]+|"[^"\\\n]*"|[{}()\[\]:=!$]`)

// schemaError is what GitHub says of a document that its schema does not take.
func schemaError(format string, args ...any) error {
	return &graphError{"", fmt.Sprintf(format, args...)}
}

type queryParser struct {
	tokens []string
	values map[string]any
}

// parseQuery reads a document without fragments, directives and default values.
func parseQuery(text string, values map[string]any) (op operation, err error) {
	p := &queryParser{values: values}
	for at := 0; at < len(text); {
		loc := tokenForm.FindStringIndex(text[at:])
		if loc == nil || loc[0] != 0 {
			return op, schemaError("Parse error on %q at position %d", text[at:min(len(text), at+10)], at)
		}
		t := text[at : at+loc[1]]
		at += loc[1]
		if t[0] > ' ' && t[0] != ',' && t[0] != '#' {
			p.tokens = append(p.tokens, t)
		}
	}
	defer func() {
		if bad := recover(); bad != nil {
			e, ok := bad.(*graphError)
			if !ok {
				panic(bad)
			}
			err = e
		}
	}()
	op.kind, op.variables = "query", map[string]string{}
	if p.peek() != "{" {
		if op.kind = p.take(); op.kind != "query" && op.kind != "mutation" {
			p.fail(op.kind)
		}
		if t := p.peek(); t != "{" && t != "(" {
			p.take() // the operation's name
		}
		if p.peek() == "(" {
			p.take()
			for p.peek() != ")" {
				p.want("$")
				name := p.take()
				p.want(":")
				typ := ""
				for t := p.peek(); t != "$" && t != ")"; t = p.peek() {
					typ += p.take()
				}
				if typ == "" {
					p.fail(p.peek())
				}
				op.variables[name] = typ
			}
			p.want(")")
		}
	}
	p.declared(op.variables)
	op.fields = p.selection()
	if len(p.tokens) > 0 {
		p.fail(p.tokens[0])
	}
	return op, nil
}

// declared holds the values against the declarations.
func (p *queryParser) declared(types map[string]string) {
	for name, typ := range types {
		if v, ok := p.values[name]; typ[len(typ)-1] == '!' && (!ok || v == nil) {
			panic(schemaError("Variable $%s of type %s was provided invalid value", name, typ))
		}
		if _, ok := p.values[name]; !ok {
			if p.values == nil {
				p.values = map[string]any{}
			}
			p.values[name] = nil
		}
	}
	for name := range p.values {
		if types[name] == "" {
			panic(schemaError("Variable $%s is used by the request but not declared", name))
		}
	}
}

func (p *queryParser) peek() string {
	if len(p.tokens) == 0 {
		panic(schemaError("Parse error: unexpected end of document"))
	}
	return p.tokens[0]
}

func (p *queryParser) take() string {
	t := p.peek()
	p.tokens = p.tokens[1:]
	return t
}

func (p *queryParser) want(t string) {
	if got := p.take(); got != t {
		p.fail(got)
	}
}

func (p *queryParser) fail(t string) { panic(schemaError("Parse error on %q", t)) }

func (p *queryParser) selection() (fields []field) {
	p.want("{")
	for p.peek() != "}" {
		f := field{name: p.take(), args: map[string]any{}}
		f.alias = f.name
		if p.peek() == ":" {
			p.take()
			f.name = p.take()
		}
		if p.peek() == "(" {
			p.take()
			for p.peek() != ")" {
				name := p.take()
				p.want(":")
				f.args[name] = p.value()
			}
			p.take()
		}
		if p.peek() == "{" {
			f.fields = p.selection()
		}
		fields = append(fields, f)
	}
	p.take()
	if len(fields) == 0 {
		p.fail("}")
	}
	return fields
}

func (p *queryParser) value() any {
	switch t := p.take(); {
	case t == "$":
		name := p.take()
		v, ok := p.values[name]
		if !ok {
			panic(schemaError("Variable $%s is used but not declared", name))
		}
		return v
	case t[0] == '"':
		return t[1 : len(t)-1]
	case t == "null":
		return nil
	case t == "true" || t == "false":
		return t == "true"
	default:
		if n, err := strconv.ParseInt(t, 10, 64); err == nil {
			return float64(n)
		}
		p.fail(t)
		return nil
	}
}

// shape cuts an answer down to the fields that were asked for; one that the answer
// does not have is an error, as for a schema.
func shape(value any, fields []field, typ string) (any, error) {
	switch v := value.(type) {
	case []any:
		list := make([]any, len(v))
		for i := range v {
			one, err := shape(v[i], fields, typ)
			if err != nil {
				return nil, err
			}
			list[i] = one
		}
		return list, nil
	case map[string]any:
		if len(fields) == 0 {
			return nil, schemaError("Field must have selections (field '%s' returns an object)", typ)
		}
		out := map[string]any{}
		for _, f := range fields {
			inner, ok := v[f.name]
			if !ok {
				return nil, schemaError("Field '%s' doesn't exist on '%s'", f.name, typ)
			}
			if resolve, ok := inner.(resolver); ok {
				var err error
				if inner, err = resolve(f); err != nil {
					return nil, err
				}
			}
			one, err := shape(inner, f.fields, f.name)
			if err != nil {
				return nil, err
			}
			out[f.alias] = one
		}
		return out, nil
	default:
		if len(fields) > 0 && v != nil {
			return nil, schemaError("Selections can't be made on scalars (field '%s')", typ)
		}
		return v, nil
	}
}
