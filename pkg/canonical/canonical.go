// Package canonical is the JSON text that ledger records are made of: one
// spelling for every value, so that equal values have equal bytes and a digest
// of the text is a digest of the value (specification, section 2).
//
// # Canonical text
//
// Canonical text is RFC 8785 (JSON Canonicalization Scheme) with three
// differences, which are those of the ledger's reference runtime:
//
//   - Member names. Names that are array indexes, the canonical decimals 0 to
//     4294967294, come first in numeric order; all others follow in the order of
//     their UTF-16 code units. RFC 8785 sorts every name by code unit.
//   - Depth. The outermost value has depth 0 and a member or element one more
//     than its container; a value deeper than [MaxDepth] has no canonical text.
//   - Lone surrogates. RFC 8785 refuses them; here an unpaired surrogate keeps
//     its escape in lower case, \ud800 to \udfff.
//
// Everything else follows the RFC:
//
//   - No white space; null, true, false; the members of an object each once.
//   - A number is an IEEE 754 double, the nearest to what was read (of two the
//     even one). Zero, of either sign, is 0. Otherwise its digits are the fewest
//     that still name this double, 17 at most, of several such the closest to
//     it, and of two equally close the even one. From 1e-6 up to below 1e21 they
//     stand without an exponent, as an integer (with zeros up to the units) or
//     with at least one digit on each side of the point; else as one digit, a
//     point and the others if there are any, e, the sign (+ as well), and the
//     exponent without leading zeros: 1e+21, 1.5e-7. A number that overflows a
//     double has no canonical text; one too small for a double is 0.
//   - A string has only the escapes \" \\ \b \f \n \r \t, \u00xx in lower case
//     for the other controls below U+0020, and the lone surrogates above. Every
//     other character, U+007F and U+2028 included, is its own UTF-8 bytes and is
//     never normalized.
//
// For example {"b":1.50,"a":"\u00e9","10":[ ],"9":-0} is in canonical text
//
//	{"9":0,"10":[],"a":"é","b":1.5}
//
// Text is always valid UTF-8 without a byte order mark. The digest of a text is
// written "sha256:" and 64 lower-case hexadecimal digits ([Sum]).
//
// # Reading
//
// [Valid] and [Scan] decide byte by byte whether a text is canonical, without
// building a value.
//
// [Parse] reads any JSON (RFC 8259) as the reference runtime does: of members
// with one name the last counts, escapes and numbers may be spelled in any way,
// and nesting goes down to 10,000. [Transform] is Parse and then the text.
//
// [ParseStrict] reads what a stranger sent and shall be kept. It refuses
// whatever two readers could understand in two ways, at any depth: a name that
// occurs twice in one object, however it is escaped; an unpaired surrogate; a
// number that overflows a double; nesting beyond the caller's bound; and an
// integer that a double changes. The last means: where the number read, or its
// canonical text, is an integer that is below 1e21 or has no exponent, this
// integer must be the exact value of the double. 9007199254740993 is refused in
// every spelling (its double is 9007199254740992), and so is 144115188075855872
// (a double holds it, but its canonical text is 144115188075855870); 1e21, 1e23
// and 1.5 are accepted.
//
// [Decode] fills a Go value with the same strictness; its comment has the rules
// for names, numbers and null.
//
// A string in a [Value] is UTF-8; a lone surrogate, which UTF-8 cannot hold,
// stands in it as the three bytes that the same scheme would give it. No
// function here gives such bytes for text that came through ParseStrict or
// Decode. [CompareNames], [CompareStrings], [Units] and [AppendString] take
// strings in this form.
//
// Every error is an *[Error]: the rule that was broken and where, never a value.
package canonical

import (
	"crypto/sha256"
	"encoding/hex"
)

// Transform returns the canonical text of the JSON text src, read as [Parse]
// reads it. The error is an *[Error] with rule [Syntax], [UTF8], [Depth] or
// [Overflow].
func Transform(src []byte) ([]byte, error) {
	v, err := Parse(src)
	if err != nil {
		return nil, err
	}
	return v.Text()
}

// Sum returns the SHA-256 digest of text as "sha256:" and 64 lower-case
// hexadecimal digits.
func Sum(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}
