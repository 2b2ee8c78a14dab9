package ledger

import (
	"fmt"
	"io"
)

// idPrefix starts every record id that is written; ids without it are read.
const idPrefix = "ldg-"

const uuidLen = 36

// recordID is a record id in a form that can be compared: its UUID, with the
// version raised to 5, which no id has, where it stood without prefix.
type recordID [16]byte

// parseUUID reads a UUIDv4 in lower case.
func parseUUID(text []byte) (uuid [16]byte, ok bool) {
	if len(text) != uuidLen || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
		return uuid, false
	}
	ok = unhex(uuid[0:4], text[0:8]) && unhex(uuid[4:6], text[9:13]) && unhex(uuid[6:8], text[14:18]) &&
		unhex(uuid[8:10], text[19:23]) && unhex(uuid[10:16], text[24:36])
	return uuid, ok && uuid[6]>>4 == 4 && uuid[8]>>6 == 2
}

// IsUUID reports whether text is a UUID version 4 in lower case, which is the
// name of every shard and segment.
func IsUUID(text string) bool {
	_, ok := parseUUID([]byte(text))
	return ok
}

// NewUUID returns a UUID version 4 from 16 bytes of random.
func NewUUID(random io.Reader) (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("failed to read randomness: %w", err)
	}
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return formatUUID(b), nil
}

func formatUUID(b [16]byte) string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:16])
}

// parseID reads a record id, with or without prefix.
func parseID(text []byte) (id recordID, ok bool) {
	if len(text) == len(idPrefix)+uuidLen && string(text[:len(idPrefix)]) == idPrefix {
		id, ok = parseUUID(text[len(idPrefix):])
		return id, ok
	}
	id, ok = parseUUID(text)
	id[6] |= 0x10
	return id, ok
}

// IsID reports whether text is a record id.
func IsID(text string) bool {
	_, ok := parseID([]byte(text))
	return ok
}
