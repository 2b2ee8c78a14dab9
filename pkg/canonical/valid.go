package canonical

import "unicode/utf8"

// Valid reports whether text is exactly the canonical text of some value. It is
// true for what [Transform] returns unchanged and for nothing else.
func Valid(text []byte) bool {
	return utf8.Valid(text) && Scan(text, 0, 0) == len(text)
}

// Scan returns the end of the canonical value that starts at text[i] and stands
// at the given depth, or -1 when there is none. A number ends where its digits
// do; what follows the value is the caller's to judge. The caller has checked
// that text is valid UTF-8. Scan looks at each byte about once and allocates
// nothing unless names have escapes.
func Scan(text []byte, i, depth int) int {
	if i < 0 || i >= len(text) || depth > MaxDepth {
		return -1
	}
	switch c := text[i]; c {
	case '"':
		end, _ := scanString(text, i+1)
		return end
	case '{':
		return scanObject(text, i+1, depth+1)
	case '[':
		if i++; i < len(text) && text[i] == ']' {
			return i + 1
		}
		for {
			if i = Scan(text, i, depth+1); i < 0 || i >= len(text) {
				return -1
			}
			if text[i] == ']' {
				return i + 1
			}
			if text[i] != ',' {
				return -1
			}
			i++
		}
	case 't':
		return scanWord(text, i, "true")
	case 'f':
		return scanWord(text, i, "false")
	case 'n':
		return scanWord(text, i, "null")
	default:
		return scanCanonicalNumber(text, i)
	}
}

func scanWord(text []byte, i int, word string) int {
	if end := i + len(word); end <= len(text) && string(text[i:end]) == word {
		return end
	}
	return -1
}

// scanObject scans members from text[i], the byte after the brace; depth is that
// of the members.
func scanObject(text []byte, i, depth int) int {
	if i < len(text) && text[i] == '}' {
		return i + 1
	}
	var last []byte
	var lastEscapes bool
	for first := true; ; first = false {
		if i >= len(text) || text[i] != '"' {
			return -1
		}
		end, escapes := scanString(text, i+1)
		if end < 0 || end >= len(text) || text[end] != ':' {
			return -1
		}
		name := text[i+1 : end-1]
		if !first && !ordered(last, name, lastEscapes || escapes) {
			return -1
		}
		last, lastEscapes = name, escapes
		if i = Scan(text, end+1, depth); i < 0 || i >= len(text) {
			return -1
		}
		if text[i] == '}' {
			return i + 1
		}
		if text[i] != ',' {
			return -1
		}
		i++
	}
}

// ordered reports whether the name between the quotes a stands strictly before
// that in b. Without escapes the bytes there are the name.
func ordered(a, b []byte, escapes bool) bool {
	if escapes {
		return CompareNames(unquote(a), unquote(b)) < 0
	}
	return compareNames(a, b) < 0
}

// unquote decodes the inside of a canonical string. It is a part of the text, so
// that the closing quote stands behind it.
func unquote(raw []byte) string {
	p := parser{src: raw[:len(raw)+1]}
	s, _, _ := p.string(0)
	return s
}
