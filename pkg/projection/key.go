package projection

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"strconv"

	"github.com/repo-memory/ledger/pkg/canonical"
)

// The first byte of a key: the kind of value.
const (
	keyNull   = 0x01
	keyFalse  = 0x02
	keyTrue   = 0x03
	keyNumber = 0x10
	keyString = 0x20
	keyArray  = 0x30
	keyObject = 0x31
	keyEnd    = 0xff // above every key
)

// appendKey appends the key of a value, given as canonical text; nil is absent
// and has no key.
func appendKey(dst, text []byte) []byte {
	if len(text) == 0 {
		return dst
	}
	switch text[0] {
	case 'n':
		return append(dst, keyNull)
	case 'f':
		return append(dst, keyFalse)
	case 't':
		return append(dst, keyTrue)
	case '"':
		if bytes.IndexByte(text, '\\') < 0 {
			return appendUnits(append(dst, keyString), text[1:len(text)-1])
		}
		v, err := canonical.Parse(text)
		if err != nil {
			panic("projection: a payload is not canonical text")
		}
		return appendUnits(append(dst, keyString), []byte(v.Str))
	case '[', '{':
		kind := byte(keyArray)
		if text[0] == '{' {
			kind = keyObject
		}
		sum := sha256.Sum256(text)
		return append(append(dst, kind), sum[:]...)
	default:
		f, _ := strconv.ParseFloat(string(text), 64)
		bits := math.Float64bits(f)
		if bits>>63 == 0 {
			bits |= 1 << 63
		} else {
			bits = ^bits
		}
		return binary.BigEndian.AppendUint64(append(dst, keyNumber), bits)
	}
}

// appendUnits appends the UTF-16 code units of s, each as the one to three bytes
// that UTF-8 would give it. The order of such bytes is that of the units, and a
// prefix of the one is a prefix of the other. s is UTF-8 with lone surrogates in
// the same scheme, so only characters above U+FFFF change.
func appendUnits(dst, s []byte) []byte {
	for i := 0; i < len(s); {
		plain := i
		for i < len(s) && s[i] < 0xf0 {
			i++
		}
		dst = append(dst, s[plain:i]...)
		if i == len(s) {
			break
		}
		r := rune(s[i]&7)<<18 | rune(s[i+1]&0x3f)<<12 | rune(s[i+2]&0x3f)<<6 | rune(s[i+3]&0x3f)
		i += 4
		r -= 0x10000
		for _, unit := range [2]rune{0xd800 + r>>10, 0xdc00 + r&0x3ff} {
			dst = append(dst, 0xe0|byte(unit>>12), 0x80|byte(unit>>6&0x3f), 0x80|byte(unit&0x3f))
		}
	}
	return dst
}

// cut shortens a key to what is stored.
func cut(key []byte) []byte { return key[:min(len(key), maxKeyBytes)] }

// after is the least key above key.
func after(key []byte) []byte { return append(key[:len(key):len(key)], 0) }
