package canonical

import (
	"strings"
	"unicode/utf8"
)

// CompareNames orders two member names as canonical text does: array indexes
// first, by number, then all others by UTF-16 code unit. It returns -1, 0 or 1.
// Names are in the encoding of [Value]: UTF-8 in which a lone surrogate stands
// as its three-byte form.
func CompareNames(a, b string) int {
	ai, bi := isIndex(a), isIndex(b)
	switch {
	case ai && bi:
		if len(a) != len(b) {
			if len(a) < len(b) {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	case ai:
		return -1
	case bi:
		return 1
	}
	return CompareStrings(a, b)
}

// isIndex reports whether name is a canonical decimal from 0 to 4294967294.
func isIndex(name string) bool {
	if name == "" || len(name) > 10 || name[0] == '0' && len(name) > 1 {
		return false
	}
	for i := 0; i < len(name); i++ {
		if !isDigit(name[i]) {
			return false
		}
	}
	return len(name) < 10 || name <= "4294967294"
}

// CompareStrings orders two strings by UTF-16 code unit, which is how
// ECMAScript compares them. It returns -1, 0 or 1. UTF-8 bytes give the same
// order except between U+E000 to U+FFFF and the characters above U+FFFF.
func CompareStrings(a, b string) int {
	n := min(len(a), len(b))
	i := 0
	for i < n && a[i] == b[i] {
		i++
	}
	if i == n {
		switch {
		case len(a) < len(b):
			return -1
		case len(a) > len(b):
			return 1
		}
		return 0
	}
	// Back to the start of the character, and of one before it: a lone high
	// surrogate there may be the first unit of a pair in the other string.
	for range 2 {
		for i > 0 {
			i--
			if utf8.RuneStart(a[i]) {
				break
			}
		}
	}
	ua, ub := appendUnits(nil, a[i:]), appendUnits(nil, b[i:])
	for j := 0; j < len(ua) && j < len(ub); j++ {
		if ua[j] != ub[j] {
			if ua[j] < ub[j] {
				return -1
			}
			return 1
		}
	}
	switch {
	case len(ua) < len(ub):
		return -1
	case len(ua) > len(ub):
		return 1
	}
	return 0
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

// Units returns the length of s in UTF-16 code units.
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
