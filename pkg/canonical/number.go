package canonical

import (
	"math"
	"strconv"
)

// exactDigits is how many significant decimal digits survive a double whatever
// they are: such a decimal is the shortest one for its double.
const exactDigits = 15

// appendNumber appends f as ECMAScript prints it. f is finite.
func appendNumber(dst []byte, f float64) []byte {
	if f == 0 {
		return append(dst, '0')
	}
	if abs := math.Abs(f); abs >= 1e-6 && abs < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	start := len(dst)
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	// Go pads the exponent to two digits: e-07 is e-7 here.
	if n := len(dst); n-start >= 4 && dst[n-2] == '0' && (dst[n-3] == '-' || dst[n-3] == '+') {
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}

// scanNumber returns the end of the JSON number at src[i], or -1.
func scanNumber(src []byte, i int) int {
	digits := func() bool {
		start := i
		for i < len(src) && isDigit(src[i]) {
			i++
		}
		return i > start
	}
	if i < len(src) && src[i] == '-' {
		i++
	}
	switch {
	case i < len(src) && src[i] == '0':
		i++
	case !digits():
		return -1
	}
	if i < len(src) && src[i] == '.' {
		i++
		if !digits() {
			return -1
		}
	}
	if i < len(src) && src[i]|0x20 == 'e' {
		i++
		if i < len(src) && (src[i] == '+' || src[i] == '-') {
			i++
		}
		if !digits() {
			return -1
		}
	}
	return i
}

// parseNumber returns the canonical text of a JSON number, "" when it
// overflows a double.
func parseNumber(literal []byte) string {
	f, err := strconv.ParseFloat(string(literal), 64)
	if err != nil && math.IsInf(f, 0) {
		return ""
	}
	return string(appendNumber(nil, f))
}

// changesInteger reports whether the literal, or its canonical text, is an
// integer whose digits are not those of the double that stands for it. Both are
// looked at, so that what is refused in one spelling is refused in all.
func changesInteger(literal []byte, text string) bool {
	if isInteger(literal) && string(literal) != text && string(literal) != "-0" {
		return true
	}
	if len(text) <= exactDigits || !isInteger([]byte(text)) {
		return false
	}
	f, _ := strconv.ParseFloat(text, 64)
	return strconv.FormatFloat(f, 'f', 0, 64) != text
}

func isInteger(literal []byte) bool {
	for _, c := range literal {
		if c != '-' && !isDigit(c) {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return c-'0' <= 9 }

// scanCanonicalNumber returns the end of the canonical number at text[i], or
// -1 when the number there is not written canonically. Up to exactDigits
// significant digits the spelling alone decides; only longer numbers and those
// with an exponent are converted.
func scanCanonicalNumber(text []byte, i int) int {
	start := i
	if text[i] == '-' {
		i++
	}
	intStart := i
	for i < len(text) && isDigit(text[i]) {
		i++
	}
	intDigits := i - intStart
	if intDigits == 0 || intDigits > 1 && text[intStart] == '0' {
		return -1
	}
	if i == len(text) || text[i] != '.' && text[i]|0x20 != 'e' {
		if intDigits <= exactDigits {
			if text[intStart] == '0' && intStart > start { // -0
				return -1
			}
			return i
		}
		return confirmNumber(text, start, i)
	}
	if text[i] != '.' {
		return confirmNumber(text, start, scanNumber(text, start))
	}
	i++
	fracStart := i
	for i < len(text) && isDigit(text[i]) {
		i++
	}
	if i == fracStart || text[i-1] == '0' {
		return -1
	}
	if i < len(text) && text[i]|0x20 == 'e' {
		return confirmNumber(text, start, scanNumber(text, start))
	}
	significant := intDigits + i - fracStart
	if text[intStart] == '0' {
		zeros := 0
		for text[fracStart+zeros] == '0' { // ends: the last digit is not 0
			zeros++
		}
		if zeros > 5 { // below 1e-6 ECMAScript uses an exponent
			return -1
		}
		significant -= 1 + zeros
	}
	if significant <= exactDigits {
		return i
	}
	return confirmNumber(text, start, i)
}

// confirmNumber converts the number and compares the spelling.
func confirmNumber(text []byte, start, end int) int {
	if end < 0 {
		return -1
	}
	f, err := strconv.ParseFloat(string(text[start:end]), 64)
	if err != nil {
		return -1
	}
	var buf [32]byte
	if string(appendNumber(buf[:0], f)) != string(text[start:end]) {
		return -1
	}
	return end
}
