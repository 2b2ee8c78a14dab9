package canonical

import (
	"bytes"
	"strconv"
	"strings"
)

// changesInteger reports whether the JSON number literal or its canonical text
// is an integer that differs from the double which stands for it. Both are
// looked at: the literal may name another integer than the double does, and the
// shortest text another than either. A number from 1e21 on that is written with
// an exponent is a magnitude and no integer here.
func changesInteger(literal []byte, text string) bool {
	if len(literal) <= exactDigits && len(text) <= exactDigits {
		return false // all of them are the double
	}
	exact := func() string {
		f, _ := strconv.ParseFloat(text, 64)
		return strconv.FormatFloat(f, 'f', 0, 64)
	}
	if len(text) > exactDigits && strings.Trim(text, "-0123456789") == "" && text != exact() {
		return true
	}
	digits, zeros, exponent := wholeNumber(literal)
	if len(digits) == 0 || exponent && len(digits)+zeros > maxIntegerDigits {
		return false
	}
	want := strings.TrimPrefix(exact(), "-")
	return len(want) != len(digits)+zeros || want[:len(digits)] != string(digits) ||
		strings.Trim(want[len(digits):], "0") != ""
}

// wholeNumber returns the digits and the number of zeros behind them that write
// the value of a JSON number, no digits when it is zero or not an integer, and
// whether the literal has an exponent. The sign is left out. Digits neither
// start nor end with 0.
func wholeNumber(literal []byte) (digits []byte, zeros int, exponent bool) {
	literal = bytes.TrimPrefix(literal, []byte("-"))
	scale := 0
	if i := bytes.IndexAny(literal, "eE"); i >= 0 {
		exponent = true
		var err error
		if scale, err = strconv.Atoi(string(literal[i+1:])); err != nil {
			return nil, 0, true // out of range: neither below 1e21 nor an integer, or zero
		}
		literal = literal[:i]
	}
	whole, fraction, _ := bytes.Cut(literal, []byte("."))
	all := append(bytes.Clone(whole), fraction...)
	digits = bytes.TrimRight(all, "0")
	zeros = len(all) - len(digits) + scale - len(fraction)
	digits = bytes.TrimLeft(digits, "0")
	if zeros < 0 {
		return nil, 0, exponent
	}
	return digits, zeros, exponent
}
