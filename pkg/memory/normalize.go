package memory

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// normalize is how texts are compared: compatibility form (NFKC), characters
// that only format left out, runs of white space as one space, none at the ends.
func normalize(s string) string {
	if isPlain(s) {
		return s
	}
	s = norm.NFKC.String(s)
	s = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, s)
	// Leaving characters out can bring together what composes.
	return strings.Join(strings.Fields(norm.NFKC.String(s)), " ")
}

// isPlain reports whether s is printable ASCII with single spaces inside: then it
// is its own normal form.
func isPlain(s string) bool {
	space := true
	for i := range len(s) {
		c := s[i]
		if c == ' ' && space || c < ' ' || c > '~' {
			return false
		}
		space = c == ' '
	}
	return len(s) == 0 || !space
}
