package canonical

import (
	"unicode/utf16"
	"unicode/utf8"
)

// Parse reads one JSON text as the reference runtime does: of members with one
// name the last counts, and unpaired surrogates, numbers that overflow and
// nesting beyond [MaxDepth] are read (and the latter two refused by
// [Value.Text]). Errors are *[Error] with rule [Syntax], [UTF8] or [Depth] (over
// 10,000 levels).
func Parse(src []byte) (Value, error) {
	return parse(src, &parser{maxDepth: maxSyntaxDepth})
}

// ParseStrict reads one JSON text that a stranger sent and that shall be kept:
// besides what Parse refuses, it refuses names that occur twice, unpaired
// surrogates, numbers that overflow a double, integers that a double changes,
// and values nested deeper than maxDepth (the outermost value has depth 0).
// Errors are *[Error] that name the rule and the path.
func ParseStrict(src []byte, maxDepth int) (Value, error) {
	return parse(src, &parser{maxDepth: maxDepth, strict: true})
}

type parser struct {
	src      []byte
	maxDepth int
	strict   bool
	// anyInteger leaves integers to whoever decodes them: a Go int64 holds what
	// a double does not.
	anyInteger bool
}

func parse(src []byte, p *parser) (Value, error) {
	if !utf8.Valid(src) {
		at := 0
		for {
			r, size := utf8.DecodeRune(src[at:])
			if r == utf8.RuneError && size <= 1 {
				return Value{}, &Error{Rule: UTF8, Offset: at}
			}
			at += size
		}
	}
	p.src = src
	v, i, err := p.value(p.space(0), 0)
	if err == nil {
		if i = p.space(i); i != len(src) {
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
	if p.strict && !p.anyInteger && changesInteger(p.src[i:end], text) {
		return Value{}, i, &Error{Rule: Inexact, Offset: i}
	}
	return Value{Kind: Number, Str: text}, end, nil
}

func (p *parser) array(i, depth int) (Value, int, *Error) {
	v := Value{Kind: Array}
	if i = p.space(i); i < len(p.src) && p.src[i] == ']' {
		return v, i + 1, nil
	}
	for {
		item, end, err := p.value(p.space(i), depth+1)
		if err != nil {
			return v, end, err.in(indexStep(len(v.Items)))
		}
		v.Items = append(v.Items, item)
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

// string reads the rest of a string whose opening quote stands before i.
func (p *parser) string(i int) (string, int, *Error) {
	start := i
	for i < len(p.src) && p.src[i] != '"' && p.src[i] != '\\' && p.src[i] >= 0x20 {
		i++
	}
	if i < len(p.src) && p.src[i] == '"' {
		return string(p.src[start:i]), i + 1, nil
	}
	buf := append([]byte(nil), p.src[start:i]...)
	for i < len(p.src) {
		switch c := p.src[i]; {
		case c == '"':
			return string(buf), i + 1, nil
		case c < 0x20:
			return "", i, p.syntax(i)
		case c != '\\':
			buf = append(buf, c)
			i++
		default:
			var err *Error
			if buf, i, err = p.escape(buf, i); err != nil {
				return "", i, err
			}
		}
	}
	return "", i, p.syntax(i)
}

// escape reads the escape at p.src[i] and appends what it stands for.
func (p *parser) escape(buf []byte, i int) ([]byte, int, *Error) {
	if i+1 >= len(p.src) {
		return buf, i, p.syntax(i)
	}
	switch c := p.src[i+1]; c {
	case '"', '\\', '/':
		return append(buf, c), i + 2, nil
	case 'b':
		return append(buf, '\b'), i + 2, nil
	case 'f':
		return append(buf, '\f'), i + 2, nil
	case 'n':
		return append(buf, '\n'), i + 2, nil
	case 'r':
		return append(buf, '\r'), i + 2, nil
	case 't':
		return append(buf, '\t'), i + 2, nil
	}
	r := unicodeEscape(p.src, i)
	if r < 0 {
		return buf, i, p.syntax(i)
	}
	if !utf16.IsSurrogate(r) {
		return utf8.AppendRune(buf, r), i + 6, nil
	}
	if pair := utf16.DecodeRune(r, unicodeEscape(p.src, i+6)); pair != utf8.RuneError {
		return utf8.AppendRune(buf, pair), i + 12, nil
	}
	if p.strict {
		return buf, i, &Error{Rule: Surrogate, Offset: i}
	}
	return append(buf, 0xe0|byte(r>>12), 0x80|byte(r>>6&0x3f), 0x80|byte(r&0x3f)), i + 6, nil
}

// unicodeEscape returns the code unit of the \uXXXX at src[i], or -1.
func unicodeEscape(src []byte, i int) rune {
	if i+6 > len(src) || src[i] != '\\' || src[i+1] != 'u' {
		return -1
	}
	var r rune
	for _, c := range src[i+2 : i+6] {
		switch {
		case isDigit(c):
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}
