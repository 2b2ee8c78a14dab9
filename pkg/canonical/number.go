package canonical

import (
	"math"
	"strconv"
)

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

// parseNumber returns the canonical text of a JSON number, "" when it
// overflows a double.
func parseNumber(literal []byte) string {
	f, err := strconv.ParseFloat(string(literal), 64)
	if err != nil && math.IsInf(f, 0) {
		return ""
	}
	var buf [maxNumberBytes]byte
	return string(appendNumber(buf[:0], f))
}

func isDigit(c byte) bool { return c-'0' <= 9 }

// scanDigits returns the end of the digits at src[i].
func scanDigits(src []byte, i int) int {
	for i < len(src) && isDigit(src[i]) {
		i++
	}
	return i
}

// scanNumber returns the end of the JSON number at src[i], or -1.
func scanNumber(src []byte, i int) int {
	if i < len(src) && src[i] == '-' {
		i++
	}
	start := i
	if i = scanDigits(src, i); i == start {
		return -1
	}
	if src[start] == '0' {
		i = start + 1
	}
	if i < len(src) && src[i] == '.' {
		start = i + 1
		if i = scanDigits(src, start); i == start {
			return -1
		}
	}
	if i < len(src) && src[i]|0x20 == 'e' {
		i++
		if i < len(src) && (src[i] == '+' || src[i] == '-') {
			i++
		}
		start = i
		if i = scanDigits(src, start); i == start {
			return -1
		}
	}
	return i
}

// scanCanonicalNumber returns the end of the canonical number at text[i], or
// -1 when the number there is not written canonically. Up to exactDigits
// significant digits the spelling alone decides; more are judged by isShortest,
// and only what it leaves open and numbers with an exponent are converted.
func scanCanonicalNumber(text []byte, i int) int {
	start := i
	if text[i] == '-' {
		i++
	}
	first := i
	i = scanDigits(text, i)
	digits := i - first
	if digits == 0 || digits > 1 && text[first] == '0' {
		return -1
	}
	if i == len(text) || text[i] != '.' && text[i]|0x20 != 'e' {
		if digits <= exactDigits {
			if text[first] == '0' && first > start { // -0
				return -1
			}
			return i
		}
		return endInteger(text, start, first, i)
	}
	if text[i] != '.' {
		return confirmNumber(text, start, scanNumber(text, start))
	}
	point := i
	i = scanDigits(text, point+1)
	if i == point+1 || text[i-1] == '0' {
		return -1
	}
	if i < len(text) && text[i]|0x20 == 'e' {
		return confirmNumber(text, start, scanNumber(text, start))
	}
	fraction := i - point - 1
	significant := digits + fraction
	if text[first] == '0' {
		zeros := 0
		for text[point+1+zeros] == '0' { // ends: the last digit is not 0
			zeros++
		}
		if zeros > 5 { // below 1e-6 a number has an exponent
			return -1
		}
		significant -= 1 + zeros
	}
	if significant <= exactDigits {
		return i
	}
	if significant > maxDigits {
		return -1
	}
	if isShortest(digitsValue(text[first:point], text[point+1:i]), fraction) {
		return i
	}
	return confirmNumber(text, start, i)
}

// endInteger judges the integer text[start:end] of more than exactDigits digits,
// which start at first with one that is not 0. It returns end or -1.
func endInteger(text []byte, start, first, end int) int {
	if end-first > maxIntegerDigits {
		return -1
	}
	last := end
	for text[last-1] == '0' { // ends: the first digit is not 0
		last--
	}
	if last-first <= exactDigits {
		return end
	}
	if last-first > maxDigits {
		return -1
	}
	if last == end && isShortest(digitsValue(text[first:end], nil), 0) {
		return end
	}
	return confirmNumber(text, start, end)
}

// confirmNumber converts the number text[start:end] and compares the spelling.
// It returns end or -1.
func confirmNumber(text []byte, start, end int) int {
	if end < 0 || end-start > maxNumberBytes {
		return -1
	}
	f, err := strconv.ParseFloat(string(text[start:end]), 64)
	if err != nil {
		return -1
	}
	var buf [maxNumberBytes + 1]byte
	if string(appendNumber(buf[:0], f)) != string(text[start:end]) {
		return -1
	}
	return end
}
