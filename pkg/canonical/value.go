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

// Value is one JSON value. The zero Value is null. Whoever builds one by hand
// keeps the promises that its fields make.
type Value struct {
	Kind Kind
	// Str is a string's text, or a number's canonical text ("" for a number
	// that overflows a double). Strings are UTF-8; a lone surrogate, which UTF-8
	// cannot hold, stands as the three bytes that the same scheme would give it,
	// two that make a pair never do.
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
// [Depth] or [Overflow] and the path, without an offset.
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

// sortMembers puts members in canonical order; of equal names the last stays.
// It reports a name that occurred twice.
func sortMembers(members []Member) (sorted []Member, twice string, dup bool) {
	ordered := true
	for i := 1; ordered && i < len(members); i++ {
		ordered = CompareNames(members[i-1].Name, members[i].Name) < 0
	}
	if ordered {
		return members, "", false
	}
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
