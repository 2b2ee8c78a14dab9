package safeoutput

import (
	"errors"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/repo-memory/ledger/pkg/canonical"
)

// Rule says which rule of the strict decoder an entry broke, in words that the entry
// did not choose.
func Rule(err error) string {
	var fault *canonical.Error
	if errors.As(err, &fault) {
		return string(fault.Rule)
	}
	return "not readable"
}

// LookAlike reports whether one of the members that an entry has beside the known
// ones would be a known name if case, folding and the characters that names do not
// have were left out of account.
func LookAlike(others map[string]jsontext.Value, known ...string) bool {
	for name := range others {
		name = strings.Map(func(r rune) rune {
			if r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) {
				return r
			}
			return -1
		}, name)
		for _, k := range known {
			if strings.EqualFold(name, k) {
				return true
			}
		}
	}
	return false
}
