package canonical

import (
	"cmp"
	"unicode/utf8"
)

// CompareNames orders two member names as canonical text does: array indexes
// first, by number, then all others by UTF-16 code unit. It returns -1, 0 or 1,
// and 0 only for equal names. Names are in the encoding of [Value].
func CompareNames(a, b string) int { return compareNames(a, b) }

// compareNames also takes the bytes between the quotes of a canonical name that
// has no escapes, which are the name.
func compareNames[T string | []byte](a, b T) int {
	if (len(a) == 0 || !isDigit(a[0])) && (len(b) == 0 || !isDigit(b[0])) {
		return compareUnits(a, b)
	}
	ai, bi := isIndex(a), isIndex(b)
	switch {
	case ai && bi && len(a) != len(b):
		return cmp.Compare(len(a), len(b))
	case ai == bi:
		return compareUnits(a, b)
	case ai:
		return -1
	}
	return 1
}

// isIndex reports whether name is a canonical decimal from 0 to 4294967294.
func isIndex[T string | []byte](name T) bool {
	const last = "4294967294"
	if len(name) == 0 || len(name) > len(last) || name[0] == '0' && len(name) > 1 {
		return false
	}
	for i := range len(name) {
		if !isDigit(name[i]) {
			return false
		}
	}
	return len(name) < len(last) || string(name) <= last
}

// CompareStrings orders two strings by UTF-16 code unit, which is how
// ECMAScript compares them. It returns -1, 0 or 1, and 0 only for equal strings.
// Strings are in the encoding of [Value].
func CompareStrings(a, b string) int { return compareUnits(a, b) }

// compareUnits relies on UTF-8 bytes giving the order of code units except
// between a character above U+FFFF, whose units are surrogates, and one from
// U+D800 on.
func compareUnits[T string | []byte](a, b T) int {
	n := min(len(a), len(b))
	i := 0
	for i < n && a[i] == b[i] {
		i++
	}
	if i == n {
		return cmp.Compare(len(a), len(b))
	}
	x, y := a[i], b[i]
	if (x < 0xf0) == (y < 0xf0) || x < 0xed || y < 0xed {
		return cmp.Compare(x, y)
	}
	// Both bytes start a character, and two units decide: a lone high surrogate
	// may equal the first unit of a pair, but then no low one follows it.
	var ua, ub [8]uint16
	wa := appendUnits(ua[:0], string(a[i:min(len(a), i+8)]))
	wb := appendUnits(ub[:0], string(b[i:min(len(b), i+8)]))
	for j := range min(2, len(wa), len(wb)) {
		if wa[j] != wb[j] {
			return cmp.Compare(wa[j], wb[j])
		}
	}
	return cmp.Compare(min(2, len(wa)), min(2, len(wb)))
}

// appendUnits appends the UTF-16 code units of s.
func appendUnits(dst []uint16, s string) []uint16 {
	for i := 0; i < len(s); {
		r, size := decodeRune(s[i:])
		if r >= 0x10000 {
			r -= 0x10000
			dst = append(dst, uint16(0xd800+r>>10), uint16(0xdc00+r&0x3ff))
		} else {
			dst = append(dst, uint16(r))
		}
		i += size
	}
	return dst
}

// Units returns the length of s in UTF-16 code units, which is what ECMAScript
// calls the length of a string. s is in the encoding of [Value].
func Units(s string) int {
	n := 0
	for i := 0; i < len(s); {
		r, size := decodeRune(s[i:])
		if r >= 0x10000 {
			n++
		}
		n++
		i += size
	}
	return n
}

// decodeRune decodes one character of s, lone surrogates included.
func decodeRune(s string) (rune, int) {
	if isSurrogate(s) {
		return rune(s[0]&0xf)<<12 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f), 3
	}
	return utf8.DecodeRuneInString(s)
}

// isSurrogate reports whether s starts with the three-byte form of a lone
// surrogate.
func isSurrogate(s string) bool {
	return len(s) >= 3 && s[0] == 0xed && s[1] >= 0xa0
}
