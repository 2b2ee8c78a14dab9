package canonical

import (
	"encoding/json"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"
)

func FuzzNumbersAreReadAsStrconvReadsThem(f *testing.F) {
	seedTexts(f, func(text string) {
		if scanNumber([]byte(text), 0) == len(text) {
			f.Add(text)
		}
	})
	for _, text := range []string{"9007199254740993", "9007199254740993.0", "1.8446744073709552e19", "12345678901234567", "0.12345678901234567", "4503599627370497.5", "0.000001", "1e22", "-", "1.", "01", "1e", "0.5e-1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		end := scanNumber([]byte(text), 0)
		if canonical := scanCanonicalNumber([]byte(text+" "), 0); canonical >= 0 && canonical != end {
			t.Fatalf("the number ends at %d or %d", end, canonical)
		}
		if isNumber := json.Valid([]byte(text)) && text != "" && (text[0] == '-' || isDigit(text[0])); isNumber != (end == len(text)) && strings.Trim(text, " \t\r\n") == text {
			t.Fatalf("%q ends at %d", text, end)
		}
		if end != len(text) {
			return
		}
		if Valid([]byte(text)) != isCanonicalNumber(text) {
			t.Fatalf("Valid(%s) = %v", text, Valid([]byte(text)))
		}
		want, err := strconv.ParseFloat(text, 64)
		got := parseNumber([]byte(text))
		if err != nil && math.IsInf(want, 0) {
			if got != "" {
				t.Fatalf("%s overflows, but is %s", text, got)
			}
			return
		}
		if back, err := strconv.ParseFloat(got, 64); err != nil || back != want || len(got) > maxNumberBytes {
			t.Fatalf("%s is %v, but its text %s is %v, %v", text, want, got, back, err)
		}
		if changed, known := changesExactly(text, got, want); known && changesInteger([]byte(text), got) != changed {
			t.Fatalf("%s is the double %v and the text %s: changed is %v", text, want, got, !changed)
		}
	})
}

// changesExactly is changesInteger by exact fractions; it does not know numbers
// whose fractions would be huge.
func changesExactly(literal, text string, double float64) (changed, known bool) {
	_, exponent, hasExponent := strings.Cut(strings.ToLower(literal), "e")
	if e, err := strconv.Atoi(exponent); hasExponent && (err != nil || e > 400 || e < -400) || len(literal) > 400 {
		return false, false
	}
	read, ok := new(big.Rat).SetString(literal)
	written, ok2 := new(big.Rat).SetString(text)
	if !ok || !ok2 {
		return false, false
	}
	exact := new(big.Rat).SetFloat64(double)
	limit, _ := new(big.Rat).SetString("1e21")
	isInteger := func(r *big.Rat, exponent bool) bool {
		return r.IsInt() && (!exponent || new(big.Rat).Abs(r).Cmp(limit) < 0)
	}
	return isInteger(read, hasExponent) && read.Cmp(exact) != 0 ||
		isInteger(written, strings.Contains(text, "e")) && written.Cmp(exact) != 0, true
}
