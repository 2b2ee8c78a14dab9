package ledger

import (
	"bytes"
	"encoding/hex"
	"fmt"
)

// Hash is a SHA-256 digest. As text it is "sha256:" and 64 lower-case
// hexadecimal digits; the order of the bytes is the order of the texts.
type Hash [32]byte

const (
	hashPrefix = "sha256:"
	hashLen    = len(hashPrefix) + 64
)

func (h Hash) String() string { return hashPrefix + hex.EncodeToString(h[:]) }

// Compare returns -1, 0 or 1 as h sorts before, with or after other.
func (h Hash) Compare(other Hash) int { return bytes.Compare(h[:], other[:]) }

// MarshalText makes a Hash a JSON string.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads what MarshalText wrote; a failure leaves h as it was.
func (h *Hash) UnmarshalText(text []byte) error {
	parsed, ok := ParseHash(string(text))
	if !ok {
		return fmt.Errorf("not a record hash: want sha256: and 64 lower-case hexadecimal digits")
	}
	*h = parsed
	return nil
}

// ParseHash reads the text of a Hash; only the exact spelling is one.
func ParseHash(text string) (h Hash, ok bool) {
	if len(text) != hashLen || text[:len(hashPrefix)] != hashPrefix {
		return Hash{}, false
	}
	return h, unhex(h[:], []byte(text[len(hashPrefix):]))
}

// nibble is the value of a lower-case hexadecimal digit, 0xff for other bytes.
var nibble = func() (table [256]byte) {
	for i := range table {
		table[i] = 0xff
	}
	for i, c := range []byte("0123456789abcdef") {
		table[c] = byte(i)
	}
	return
}()

// unhex decodes the lower-case digits src into dst, half as long.
func unhex(dst, src []byte) bool {
	bad := byte(0)
	for i := range dst {
		hi, lo := nibble[src[2*i]], nibble[src[2*i+1]]
		bad |= hi | lo
		dst[i] = hi<<4 | lo&0xf
	}
	return bad&0xf0 == 0
}
