package canonical

import (
	"encoding/binary"
	"unicode/utf8"
)

// Valid reports whether text is exactly the canonical text of some value.
func Valid(text []byte) bool {
	return utf8.Valid(text) && Scan(text, 0, 0) == len(text)
}

// Scan returns the end of the canonical value that starts at text[i] and stands
// at the given depth, or -1 when there is none. The caller has checked that text
// is valid UTF-8. Scan looks at each byte once and, unless a name has escapes or
// non-ASCII characters or a number is long, allocates nothing.
func Scan(text []byte, i, depth int) int {
	if i >= len(text) || depth > MaxDepth {
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
	lastPlain := true
	for first := true; ; first = false {
		if i >= len(text) || text[i] != '"' {
			return -1
		}
		end, plain := scanString(text, i+1)
		if end < 0 || end >= len(text) || text[end] != ':' {
			return -1
		}
		name := text[i+1 : end-1]
		if !first && !ordered(last, name, lastPlain && plain) {
			return -1
		}
		last, lastPlain = name, plain
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

// ordered reports whether raw name a stands strictly before b. Plain names
// (ASCII, no escapes) that do not start with a digit compare as bytes.
func ordered(a, b []byte, plain bool) bool {
	if plain && len(a) > 0 && len(b) > 0 && !isDigit(a[0]) && !isDigit(b[0]) {
		return string(a) < string(b)
	}
	return CompareNames(unquote(a), unquote(b)) < 0
}

// unquote decodes the inside of a canonical string.
func unquote(raw []byte) string {
	p := parser{src: append(raw[:len(raw):len(raw)], '"')}
	s, _, _ := p.string(0)
	return s
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// scanString returns the end of the canonical string whose opening quote stands
// before text[i], or -1, and whether it is plain: ASCII without escapes.
func scanString(text []byte, i int) (end int, plain bool) {
	plain = true
	for {
		// Eight bytes at a time, up to the first quote, backslash or control.
		for i+8 <= len(text) {
			w := binary.LittleEndian.Uint64(text[i:])
			quote, slash := w^(ones*'"'), w^(ones*'\\')
			stop := ((quote - ones) &^ quote) | ((slash - ones) &^ slash) | ((w - ones*0x20) &^ w)
			if stop&highs != 0 {
				break
			}
			if w&highs != 0 {
				plain = false
			}
			i += 8
		}
		for ; ; i++ {
			if i >= len(text) {
				return -1, false
			}
			c := text[i]
			if c == '"' {
				return i + 1, plain
			}
			if c < 0x20 {
				return -1, false
			}
			if c == '\\' {
				break
			}
			if c >= 0x80 {
				plain = false
			}
		}
		plain = false
		if i = scanEscape(text, i); i < 0 {
			return -1, false
		}
	}
}

// scanEscape returns the end of the canonical escape at text[i], or -1: the
// short ones, \u00xx for the controls that have none, and unpaired surrogates.
func scanEscape(text []byte, i int) int {
	if i+1 >= len(text) {
		return -1
	}
	switch text[i+1] {
	case '"', '\\', 'b', 'f', 'n', 'r', 't':
		return i + 2
	}
	r := unicodeEscape(text, i)
	if r < 0 {
		return -1
	}
	for _, c := range text[i+2 : i+6] {
		if c >= 'A' && c <= 'F' {
			return -1
		}
	}
	switch {
	case r < 0x20 && shortEscape(byte(r)) == 0:
		return i + 6
	case r >= 0xd800 && r <= 0xdbff:
		if low := unicodeEscape(text, i+6); low >= 0xdc00 && low <= 0xdfff {
			return -1 // a pair is written as its character
		}
		return i + 6
	case r >= 0xdc00 && r <= 0xdfff:
		return i + 6
	}
	return -1
}
