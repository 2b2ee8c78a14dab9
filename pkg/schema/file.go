package schema

import (
	"fmt"

	"github.com/repo-memory/ledger/pkg/regular"
)

// ReadFile compiles the schema in a file: a regular file, no link, of at most
// [MaxBytes]. Errors are one line and name no path.
func ReadFile(path string) (*Schema, error) {
	text, err := regular.ReadFile(path, MaxBytes)
	if err != nil {
		return nil, fmt.Errorf("cannot be read: want a regular file of at most %d bytes, no link", MaxBytes)
	}
	return Parse(text)
}
