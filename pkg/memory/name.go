package memory

import (
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// Name names a changeset by id and integrity digest, as text "<id>@sha256:<hex>".
// The zero Name is none.
type Name struct {
	ID     string
	Digest ledger.Hash
}

func (n Name) String() string {
	if n.ID == "" {
		return ""
	}
	return n.ID + "@" + n.Digest.String()
}

// MarshalText makes a Name a JSON string.
func (n Name) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// ParseName reads the text of a Name; only the exact spelling is one.
func ParseName(text string) (Name, bool) {
	id, digest, found := strings.Cut(text, "@")
	h, ok := ledger.ParseHash(digest)
	if !found || !ok || id != RootID && !IsUUIDv7(id) {
		return Name{}, false
	}
	return Name{id, h}, true
}

// RootID is the changeset_id of a project's root.
const RootID = "legacy-root"

func (f *fields) name(member string) Name {
	n, ok := ParseName(f.text(member, MaxFieldBytes))
	if !ok {
		f.failf("needs a changeset, <id>@sha256:<digest>, as %s", member)
	}
	return n
}

func (f *fields) maybeName(member string) Name {
	if _, there := f.get(member); !there {
		return Name{}
	}
	return f.name(member)
}

// names reads a list of changesets.
func (f *fields) names(member string, most int) []Name {
	list := f.texts(member, most, MaxFieldBytes)
	names := make([]Name, len(list))
	for i, s := range list {
		var ok bool
		if names[i], ok = ParseName(s); !ok {
			f.failf("needs changesets, <id>@sha256:<digest>, in %s", member)
			return nil
		}
	}
	return names
}

// IsUUIDv7 reports whether text is a UUID version 7 in lower case.
func IsUUIDv7(text string) bool {
	if len(text) != 36 {
		return false
	}
	for i := range len(text) {
		c := text[i]
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		case 14:
			if c != '7' {
				return false
			}
		case 19:
			if c != '8' && c != '9' && c != 'a' && c != 'b' {
				return false
			}
		default:
			if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
				return false
			}
		}
	}
	return true
}

// NewUUIDv7 returns a UUID version 7 for now, with 10 bytes of random.
func NewUUIDv7(now time.Time, random io.Reader) (string, error) {
	var b [16]byte
	ms := now.UnixMilli()
	if ms < 0 || ms >= 1<<48 {
		return "", fmt.Errorf("the clock is outside the range of a UUID: set it")
	}
	binary.BigEndian.PutUint64(b[:], uint64(ms)<<16)
	if _, err := io.ReadFull(random, b[6:]); err != nil {
		return "", fmt.Errorf("failed to read randomness: %w", err)
	}
	b[6] = b[6]&0x0f | 0x70
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16]), nil
}

func (f *fields) uuid(name string) string {
	s := f.text(name, MaxFieldBytes)
	if !IsUUIDv7(s) {
		f.failf("needs a UUID version 7 as %s", name)
	}
	return s
}
