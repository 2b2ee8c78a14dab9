package canonical

import "slices"

// Kind is what a [Value] is.
type Kind uint8

const (
	Null Kind = iota
	False
	True
	Number
	String
	Array
	Object
)

// Value is one JSON value.
type Value struct {
	Kind Kind
	// Str is a string's text, or a number's canonical text ("" for a number
	// that overflows a double). Strings are UTF-8; a lone surrogate, which UTF-8
	// cannot hold, stands as the three bytes that the same scheme would give it.
	Str string
	// Items are an array's elements in order.
	Items []Value
	// Members are an object's members in canonical order, one for each name.
	Members []Member
}

// Member is one name and value of an object.
type Member struct {
	Name  string
	Value Value
}

// Get returns the member called name of an object; ok is false when v is no
// object or has none.
func (v Value) Get(name string) (m Value, ok bool) {
	for i := range v.Members {
		if v.Members[i].Name == name {
			return v.Members[i].Value, true
		}
	}
	return Value{}, false
}

// Text returns the canonical text of v. The error is an *[Error] with rule
// [Depth] or [Overflow].
func (v Value) Text() ([]byte, error) {
	dst, err := v.append(nil, 0)
	if err != nil {
		return nil, err
	}
	return dst, nil
}

func (v Value) append(dst []byte, depth int) ([]byte, *Error) {
	if depth > MaxDepth {
		return nil, &Error{Rule: Depth, Offset: -1}
	}
	var err *Error
	switch v.Kind {
	case Null:
		return append(dst, "null"...), nil
	case False:
		return append(dst, "false"...), nil
	case True:
		return append(dst, "true"...), nil
	case Number:
		if v.Str == "" {
			return nil, &Error{Rule: Overflow, Offset: -1}
		}
		return append(dst, v.Str...), nil
	case String:
		return AppendString(dst, v.Str), nil
	case Array:
		dst = append(dst, '[')
		for i := range v.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			if dst, err = v.Items[i].append(dst, depth+1); err != nil {
				return nil, err.in(indexStep(i))
			}
		}
		return append(dst, ']'), nil
	default:
		dst = append(dst, '{')
		for i := range v.Members {
			if i > 0 {
				dst = append(dst, ',')
			}
			m := &v.Members[i]
			dst = append(AppendString(dst, m.Name), ':')
			if dst, err = m.Value.append(dst, depth+1); err != nil {
				return nil, err.in(nameStep(m.Name))
			}
		}
		return append(dst, '}'), nil
	}
}

// AppendString appends the canonical text of the string s, in the encoding of
// [Value].
func AppendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < 0x20:
			if e := shortEscape(c); e != 0 {
				dst = append(dst, '\\', e)
			} else {
				dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
			}
		case c == 0xed && isSurrogate(s[i:]):
			r, _ := decodeRune(s[i:])
			dst = append(dst, '\\', 'u', 'd', hex[r>>8&0xf], hex[r>>4&0xf], hex[r&0xf])
			i += 2
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

// shortEscape returns the letter that escapes control character c, or 0.
func shortEscape(c byte) byte {
	switch c {
	case '\b':
		return 'b'
	case '\t':
		return 't'
	case '\n':
		return 'n'
	case '\f':
		return 'f'
	case '\r':
		return 'r'
	}
	return 0
}

// sortMembers puts members in canonical order; of equal names the last stays.
// It reports a name that occurred twice.
func sortMembers(members []Member) (sorted []Member, twice string, dup bool) {
	slices.SortStableFunc(members, func(a, b Member) int { return CompareNames(a.Name, b.Name) })
	out := members[:0]
	for i := range members {
		if n := len(out); n > 0 && out[n-1].Name == members[i].Name {
			out[n-1] = members[i]
			twice, dup = members[i].Name, true
			continue
		}
		out = append(out, members[i])
	}
	return out, twice, dup
}
