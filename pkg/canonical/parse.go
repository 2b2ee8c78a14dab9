package canonical

import "unicode/utf8"

// Parse reads one JSON text as the reference runtime does: of members with one
// name the last counts, and unpaired surrogates, numbers that overflow and
// nesting beyond [MaxDepth] are read (and the latter two refused by
// [Value.Text]). Errors are *[Error] with rule [Syntax], [UTF8] or [Depth] (over
// 10,000 levels).
func Parse(src []byte) (Value, error) {
	return parse(&parser{src: src, maxDepth: maxSyntaxDepth})
}

// ParseStrict reads one JSON text that a stranger sent and that shall be kept:
// besides what Parse refuses, it refuses names that occur twice, unpaired
// surrogates, numbers that overflow a double, integers that a double changes,
// and values nested deeper than maxDepth (the outermost value has depth 0; more
// than 10,000 is taken as that). Errors are *[Error] with rule [Syntax], [UTF8],
// [Depth], [Duplicate], [Surrogate], [Overflow] or [Inexact]; of several faults
// it names the first that it meets.
func ParseStrict(src []byte, maxDepth int) (Value, error) {
	return parse(&parser{src: src, maxDepth: min(maxDepth, maxSyntaxDepth), strict: true})
}

type parser struct {
	src      []byte
	maxDepth int
	strict   bool
	// check reads without keeping what it reads, and leaves integers to whoever
	// decodes them: a Go int64 holds what a double does not.
	check bool
}

func parse(p *parser) (Value, error) {
	if !utf8.Valid(p.src) {
		at := 0
		for {
			r, size := utf8.DecodeRune(p.src[at:])
			if r == utf8.RuneError && size <= 1 {
				return Value{}, &Error{Rule: UTF8, Offset: at}
			}
			at += size
		}
	}
	v, i, err := p.value(p.space(0), 0)
	if err == nil {
		if i = p.space(i); i != len(p.src) {
			err = p.syntax(i)
		}
	}
	if err != nil {
		return Value{}, err
	}
	return v, nil
}

func (p *parser) syntax(i int) *Error { return &Error{Rule: Syntax, Offset: i} }

func (p *parser) space(i int) int {
	for i < len(p.src) {
		switch p.src[i] {
		case ' ', '\t', '\n', '\r':
			i++
		default:
			return i
		}
	}
	return i
}

func (p *parser) value(i, depth int) (Value, int, *Error) {
	if depth > p.maxDepth {
		return Value{}, i, &Error{Rule: Depth, Offset: i}
	}
	if i >= len(p.src) {
		return Value{}, i, p.syntax(i)
	}
	switch c := p.src[i]; c {
	case '{':
		return p.object(i+1, depth)
	case '[':
		return p.array(i+1, depth)
	case '"':
		s, end, err := p.string(i + 1)
		return Value{Kind: String, Str: s}, end, err
	case 'n':
		return p.literal(i, "null", Null)
	case 't':
		return p.literal(i, "true", True)
	case 'f':
		return p.literal(i, "false", False)
	default:
		return p.number(i)
	}
}

func (p *parser) literal(i int, word string, kind Kind) (Value, int, *Error) {
	if end := i + len(word); end <= len(p.src) && string(p.src[i:end]) == word {
		return Value{Kind: kind}, end, nil
	}
	return Value{}, i, p.syntax(i)
}

func (p *parser) number(i int) (Value, int, *Error) {
	end := scanNumber(p.src, i)
	if end < 0 {
		return Value{}, i, p.syntax(i)
	}
	text := parseNumber(p.src[i:end])
	if p.strict && text == "" {
		return Value{}, i, &Error{Rule: Overflow, Offset: i}
	}
	if p.strict && !p.check && changesInteger(p.src[i:end], text) {
		return Value{}, i, &Error{Rule: Inexact, Offset: i}
	}
	return Value{Kind: Number, Str: text}, end, nil
}

func (p *parser) array(i, depth int) (Value, int, *Error) {
	v := Value{Kind: Array}
	if i = p.space(i); i < len(p.src) && p.src[i] == ']' {
		return v, i + 1, nil
	}
	for n := 0; ; n++ {
		item, end, err := p.value(p.space(i), depth+1)
		if err != nil {
			return v, end, err.in(indexStep(n))
		}
		if !p.check {
			v.Items = append(v.Items, item)
		}
		i = p.space(end)
		switch {
		case i < len(p.src) && p.src[i] == ',':
			i++
		case i < len(p.src) && p.src[i] == ']':
			return v, i + 1, nil
		default:
			return v, i, p.syntax(i)
		}
	}
}

func (p *parser) object(i, depth int) (Value, int, *Error) {
	v := Value{Kind: Object}
	if i = p.space(i); i < len(p.src) && p.src[i] == '}' {
		return v, i + 1, nil
	}
	for {
		if i = p.space(i); i >= len(p.src) || p.src[i] != '"' {
			return v, i, p.syntax(i)
		}
		name, end, err := p.string(i + 1)
		if err != nil {
			return v, end, err
		}
		if i = p.space(end); i >= len(p.src) || p.src[i] != ':' {
			return v, i, p.syntax(i)
		}
		member, end, err := p.value(p.space(i+1), depth+1)
		if err != nil {
			return v, end, err.in(nameStep(name))
		}
		v.Members = append(v.Members, Member{name, member})
		i = p.space(end)
		switch {
		case i < len(p.src) && p.src[i] == ',':
			i++
		case i < len(p.src) && p.src[i] == '}':
			sorted, twice, dup := sortMembers(v.Members)
			if dup && p.strict {
				return v, i, (&Error{Rule: Duplicate, Offset: i}).in(nameStep(twice))
			}
			v.Members = sorted
			return v, i + 1, nil
		default:
			return v, i, p.syntax(i)
		}
	}
}
