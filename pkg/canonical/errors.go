package canonical

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Rule names what a text broke.
type Rule string

const (
	// Syntax: not JSON, or not valid UTF-8.
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
	// Mismatch: a value of another type than the target of Decode has.
	Mismatch Rule = "value of the wrong type"
)

// maxPathBytes bounds the path in an error, which holds names that a stranger
// chose; a longer one keeps its end, where the fault is.
const maxPathBytes = 160

// Error says which rule a text broke and where.
type Error struct {
	Rule Rule
	// Path leads to the value at fault from the outermost one, such as
	// ".detail.items[3]"; "" is the outermost value itself. Names are quoted
	// unless they are plain ASCII words; it never holds a value.
	Path string
	// Offset is the byte offset in the source, or -1 when there is none.
	Offset int
}

func (e *Error) Error() string {
	s := string(e.Rule)
	if e.Path != "" {
		s += " at " + e.Path
	} else if e.Offset >= 0 {
		s += " at byte " + strconv.Itoa(e.Offset)
	}
	return s
}

// in returns e seen from one container further out.
func (e *Error) in(step string) *Error {
	e.Path = step + e.Path
	if len(e.Path) > maxPathBytes {
		cut := len(e.Path) - maxPathBytes
		for cut < len(e.Path) && !utf8.RuneStart(e.Path[cut]) {
			cut++
		}
		e.Path = "…" + e.Path[cut:]
	}
	return e
}

func indexStep(i int) string { return "[" + strconv.Itoa(i) + "]" }

// nameStep spells a member name as a path step: plain words as they are, all
// others quoted in ASCII so that they can be printed anywhere.
func nameStep(name string) string {
	plain := name != "" && len(name) <= 64
	for i := 0; plain && i < len(name); i++ {
		c := name[i]
		plain = c == '_' || c == '-' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
	}
	if plain {
		return "." + name
	}
	if len(name) > 64 {
		name = strings.ToValidUTF8(name[:64], "") + "…"
	}
	return "[" + strconv.QuoteToASCII(name) + "]"
}
