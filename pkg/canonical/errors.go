package canonical

import (
	"strconv"
	"strings"
)

// Rule names what a text broke.
type Rule string

const (
	// Syntax: not JSON, or more than one JSON text.
	Syntax Rule = "not valid JSON"
	// UTF8: a byte sequence that is not UTF-8.
	UTF8 Rule = "invalid UTF-8"
	// Depth: a value nested deeper than allowed.
	Depth Rule = "nested too deep"
	// Overflow: a number too large for a double.
	Overflow Rule = "number overflows a double"
	// Inexact: an integer that a double cannot hold, digit for digit.
	Inexact Rule = "integer that a double changes"
	// Duplicate: a member name that occurs twice in one object.
	Duplicate Rule = "duplicate member name"
	// Surrogate: an unpaired surrogate escape.
	Surrogate Rule = "unpaired surrogate"
	// Unknown: a member name that the target of Decode does not have.
	Unknown Rule = "unknown member name"
	// Mismatch: a value of another type than the target of Decode has there, or
	// out of its range.
	Mismatch Rule = "value that does not fit its field"
)

// Error says which rule a text broke and where. It holds names of the text, as
// ASCII and bounded, and none of its values.
type Error struct {
	Rule Rule
	// Path leads to the value at fault from the outermost one, such as
	// ".detail.items[3]", and to the name itself for Duplicate and Unknown; ""
	// is the outermost value. Names are as they are when they consist of ASCII
	// letters, digits, _ and -; others are JSON strings in ASCII, as in
	// ["a \u00e9"], of which at most 64 bytes are shown and then "...". A path
	// is at most 163 bytes long; of a longer one the end is kept after "...".
	Path string
	// Offset is the byte offset in the source, or -1 when there is none. For
	// Duplicate it is that of the brace that ends the object; for Unknown and
	// Mismatch it is at or shortly before the fault.
	Offset int
}

// Error gives the rule and the path, or the offset where the path is empty.
func (e *Error) Error() string {
	s := string(e.Rule)
	if e.Path != "" {
		s += " at " + e.Path
	} else if e.Offset >= 0 {
		s += " at byte " + strconv.Itoa(e.Offset)
	}
	return s
}

// cutMark stands for what was left out of a path. No step starts with it.
const cutMark = "..."

// in returns e seen from one container further out.
func (e *Error) in(step string) *Error {
	switch {
	case strings.HasPrefix(e.Path, cutMark):
	case len(step)+len(e.Path) > maxPathBytes:
		e.Path = cutMark + e.Path
	default:
		e.Path = step + e.Path
	}
	return e
}

func indexStep(i int) string { return "[" + strconv.Itoa(i) + "]" }

// nameStep spells a member name as a path step.
func nameStep(name string) string {
	plain := name != "" && len(name) <= maxNameBytes
	for i := 0; plain && i < len(name); i++ {
		c := name[i]
		plain = c == '_' || c == '-' || isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'z'
	}
	if plain {
		return "." + name
	}
	quoted := []byte(`["`)
	for i := 0; i < len(name); {
		r, size := decodeRune(name[i:])
		start := len(quoted)
		switch {
		case r == '"' || r == '\\':
			quoted = append(quoted, '\\', byte(r))
		case r >= 0x20 && r < 0x7f:
			quoted = append(quoted, byte(r))
		default:
			for _, unit := range appendUnits(nil, name[i:i+size]) {
				quoted = append(quoted, '\\', 'u', hexDigits[unit>>12], hexDigits[unit>>8&0xf], hexDigits[unit>>4&0xf], hexDigits[unit&0xf])
			}
		}
		if len(quoted) > maxNameBytes+len(`["`) {
			return string(quoted[:start]) + `"` + cutMark + "]"
		}
		i += size
	}
	return string(quoted) + `"]`
}

const hexDigits = "0123456789abcdef"
