package canonical

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// skipPlain returns the index of the first quote, backslash or control from
// src[i] on, or len(src). It looks at eight bytes at a time.
func skipPlain(src []byte, i int) int {
	for ; i+8 <= len(src); i += 8 {
		w := binary.LittleEndian.Uint64(src[i:])
		quote, slash := w^ones*'"', w^ones*'\\'
		stop := (quote - ones) &^ quote
		stop |= (slash - ones) &^ slash
		stop |= (w - ones*0x20) &^ w
		// A borrow can only mark bytes above one that is rightly marked.
		if stop &= highs; stop != 0 {
			return i + bits.TrailingZeros64(stop)/8
		}
	}
	for i < len(src) && src[i] != '"' && src[i] != '\\' && src[i] >= 0x20 {
		i++
	}
	return i
}

// scanString returns the end of the canonical string whose opening quote stands
// before text[i], or -1, and whether it has escapes.
func scanString(text []byte, i int) (end int, escapes bool) {
	for {
		if i = skipPlain(text, i); i == len(text) {
			return -1, false
		}
		switch text[i] {
		case '"':
			return i + 1, escapes
		case '\\':
			escapes = true
			if i = scanEscape(text, i); i < 0 {
				return -1, false
			}
		default:
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

// string reads the rest of a string whose opening quote stands before i.
func (p *parser) string(i int) (string, int, *Error) {
	var buf []byte // nil up to the first escape
	for {
		start := i
		if i = skipPlain(p.src, i); i == len(p.src) || p.src[i] < 0x20 {
			return "", i, p.syntax(i)
		}
		run := p.src[start:i]
		if p.src[i] == '"' {
			if buf != nil {
				run = append(buf, run...)
			}
			return string(run), i + 1, nil
		}
		var err *Error
		if buf, i, err = p.escape(append(buf, run...), i); err != nil {
			return "", i, err
		}
	}
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

// AppendString appends the canonical text of the string s, quotes included. s is
// in the encoding of [Value]: any valid UTF-8 is.
func AppendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	done := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && (c != 0xed || !isSurrogate(s[i:])) {
			i++
			continue
		}
		dst = append(dst, s[done:i]...)
		if c == 0xed {
			r, size := decodeRune(s[i:])
			dst = append(dst, '\\', 'u', 'd', hexDigits[r>>8&0xf], hexDigits[r>>4&0xf], hexDigits[r&0xf])
			i += size
		} else {
			if e := shortEscape(c); e != 0 {
				dst = append(dst, '\\', e)
			} else {
				dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xf])
			}
			i++
		}
		done = i
	}
	return append(append(dst, s[done:]...), '"')
}

// shortEscape returns what follows the backslash in the two-byte escape of c, or
// 0 when it has none.
func shortEscape(c byte) byte {
	switch c {
	case '"', '\\':
		return c
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
