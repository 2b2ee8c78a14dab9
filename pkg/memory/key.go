package memory

import (
	"crypto/hmac"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
)

// Key is one merge key.
type Key struct {
	ID     string
	secret []byte
}

// KeyRing holds the merge keys: the first signs, all verify.
type KeyRing struct{ keys []Key }

// ParseKeyRing reads "id=hex,id=hex,...": segments, and lower-case hex of
// MinKeyBytes to MaxKeyBytes bytes, without spaces. other are secrets that no key
// may equal, such as the job's token. Errors never hold any of the text.
func ParseKeyRing(text string, other ...string) (*KeyRing, error) {
	if text == "" {
		return nil, errors.New("the merge keys are missing: set MEMORY_MERGE_HMAC_KEYS to id=hex from an environment secret")
	}
	ring := &KeyRing{}
	for i, part := range strings.Split(text, ",") {
		id, digits, found := strings.Cut(part, "=")
		if !found || !IsSegment(id) {
			return nil, fmt.Errorf("merge key %d is not id=hex", i+1)
		}
		secret, err := hex.DecodeString(digits)
		if err != nil || hex.EncodeToString(secret) != digits {
			return nil, fmt.Errorf("merge key %d is not lower-case hexadecimal", i+1)
		}
		if len(secret) < MinKeyBytes || len(secret) > MaxKeyBytes {
			return nil, fmt.Errorf("merge key %d has %d bytes, %d to %d are allowed: make one with openssl rand -hex 32", i+1, len(secret), MinKeyBytes, MaxKeyBytes)
		}
		for _, o := range other {
			if o != "" && (hmac.Equal([]byte(o), []byte(digits)) || hmac.Equal([]byte(o), secret)) {
				return nil, fmt.Errorf("merge key %d equals the token: keys are for this purpose only", i+1)
			}
		}
		for _, k := range ring.keys {
			if k.ID == id || hmac.Equal(k.secret, secret) {
				return nil, fmt.Errorf("merge key %d repeats the id or the bytes of another", i+1)
			}
		}
		ring.keys = append(ring.keys, Key{id, secret})
	}
	if len(ring.keys) > MaxKeys {
		return nil, fmt.Errorf("there are %d merge keys, at most %d are allowed: drop retired ones", len(ring.keys), MaxKeys)
	}
	return ring, nil
}

func (r *KeyRing) find(id string) (Key, bool) {
	if r != nil {
		for _, k := range r.keys {
			if k.ID == id {
				return k, true
			}
		}
	}
	return Key{}, false
}
