package action

import (
	"strings"
	"testing"
)

func TestLinesKeepWhiteSpaceAndLineEndsAndRefuseOtherControlCharacters(t *testing.T) {
	in := Input{Name: "inputs", Kind: Lines}
	for _, value := range []string{"a", " {\r\n\t\"a\": 1\n}\n", "\u202e"} {
		if err := in.check(value); err != nil {
			t.Errorf("%q: %v", value, err)
		}
	}
	for _, value := range []string{"a\x00", "a\x1b[31m", "\xff", "\u0085", strings.Repeat("x", maxInputBytes+1)} {
		if err := in.check(value); err == nil || strings.Contains(err.Error(), value) {
			t.Errorf("%q: %v", value, err)
		}
	}
}
