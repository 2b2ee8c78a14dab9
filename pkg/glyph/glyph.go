// Package glyph tells which characters a reader of a terminal, a rendered page or a
// prompt sees as what they are, and spells the others.
//
// A character is visible when it prints by Unicode's own categories (letters, marks,
// numbers, punctuation, symbols, and of all white space U+0020 alone) and is none of
// what fonts show as nothing or as a change of its neighbours: default ignorable code
// points such as fillers, variation selectors, the blank Braille pattern, the blank
// of Khitan and the null notehead. Controls, line ends, bidirectional and other
// format characters, surrogates, private use and what is not assigned do not print.
//
// The spelling of any other character is \u{X}, with X its code point in lower-case
// hexadecimal digits without leading zeros: U+202E is \u{202e}.
package glyph

import (
	"fmt"
	"unicode"
	"unicode/utf8"
)

// blank are characters that Unicode calls graphic and fonts show as nothing.
var blank = &unicode.RangeTable{
	R16: []unicode.Range16{{Lo: 0x2800, Hi: 0x2800, Stride: 1}},
	R32: []unicode.Range32{{Lo: 0x16fe4, Hi: 0x16fe4, Stride: 1}, {Lo: 0x1d159, Hi: 0x1d159, Stride: 1}},
}

// Visible reports whether a reader sees r as it is.
func Visible(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= ' ' && r != 0x7f
	}
	return unicode.IsPrint(r) &&
		!unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, blank)
}

// Spell returns the spelling of r, as the package comment states it.
func Spell(r rune) string { return fmt.Sprintf(`\u{%x}`, r) }
