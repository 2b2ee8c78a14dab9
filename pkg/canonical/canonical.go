// Package canonical is the JSON text that ledger records are made of: one
// spelling for every value, so that equal values have equal bytes and a digest
// of the text is a digest of the value.
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
// Everything else follows the RFC: no white space; null, true, false; numbers as
// ECMAScript prints a double (so -0 is 0, 1.0 is 1, 1e21 is 1e+21, and a number
// that overflows a double has no canonical text); strings with only the escapes
// \" \\ \b \f \n \r \t and \u00xx in lower case for the other controls below
// U+0020, every other character as its own UTF-8 bytes, never normalized. Of
// members with one name the last counts.
//
// For example {"b":1.50,"a":"\u00e9","10":[ ],"9":-0} is in canonical text
//
//	{"9":0,"10":[],"a":"é","b":1.5}
//
// # Reading
//
// [Valid] and [Scan] decide byte by byte whether a text is canonical without
// building a value. [Parse] reads any JSON into a [Value] as the reference does;
// [ParseStrict] reads what a stranger sent and refuses whatever could be read in
// two ways. [Decode] fills a Go value with the same strictness. Text is always
// UTF-8 without a byte order mark.
package canonical

import (
	"crypto/sha256"
	"encoding/hex"
)

// MaxDepth is the deepest a value may stand in canonical text; the outermost
// value has depth 0. It is the bound of the reference runtime.
const MaxDepth = 32

// maxSyntaxDepth bounds recursion while reading text that may be deeper than
// MaxDepth, so that hostile nesting ends in an error and not in a full stack.
const maxSyntaxDepth = 10_000

// Transform returns the canonical text of the JSON text src, read as [Parse]
// reads it. Errors are *[Error].
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
