package branch

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/go-git/go-git/v5/plumbing"
)

// Entry is one entry of a directory object, as it stands there.
type Entry struct {
	Mode string // octal, in the spelling of the object, such as "100644"
	Name string
	Hash plumbing.Hash
}

// Kind is what an entry is.
type Kind int

const (
	File Kind = iota
	Directory
	Link
	Submodule
)

// Modes as git writes them.
const (
	ModeFile      = "100644"
	ModeDirectory = "40000"
)

// Kind reads the mode as git does: by its file-type bits, permission bits aside.
// A type that git does not know reads as a submodule, as it does in git.
func (e Entry) Kind() Kind {
	mode, _ := strconv.ParseUint(e.Mode, 8, 32)
	switch mode & 0o170000 {
	case 0o100000:
		return File
	case 0o040000:
		return Directory
	case 0o120000:
		return Link
	}
	return Submodule
}

// SortKey orders entries: by bytes, a directory as if it ended in a slash.
func (e Entry) SortKey() string {
	if e.Kind() == Directory {
		return e.Name + "/"
	}
	return e.Name
}

// parseTree reads a directory object. Entries out of order, two entries of one
// name, empty names and names with a slash are malformed.
func parseTree(data []byte) ([]Entry, error) {
	entries := make([]Entry, 0, len(data)/48+1)
	names := make(map[string]struct{}, len(data)/48+1)
	bad := func(why string) ([]Entry, error) {
		return nil, fmt.Errorf("%w: a directory object %s", ErrMalformed, why)
	}
	for len(data) > 0 {
		space := bytes.IndexByte(data, ' ')
		if space < 1 || space > 8 {
			return bad("has no mode")
		}
		mode := string(data[:space])
		if _, err := strconv.ParseUint(mode, 8, 32); err != nil {
			return bad("has a mode that is not octal")
		}
		data = data[space+1:]
		zero := bytes.IndexByte(data, 0)
		if zero < 1 || len(data) < zero+1+len(plumbing.ZeroHash) {
			return bad("is cut off")
		}
		e := Entry{Mode: mode, Name: string(data[:zero])}
		copy(e.Hash[:], data[zero+1:])
		data = data[zero+1+len(e.Hash):]
		if bytes.IndexByte([]byte(e.Name), '/') >= 0 {
			return bad("has a name with a slash")
		}
		if _, twice := names[e.Name]; twice {
			return bad("has two entries of one name")
		}
		names[e.Name] = struct{}{}
		if n := len(entries); n > 0 && entries[n-1].SortKey() >= e.SortKey() {
			return bad("is not sorted")
		}
		entries = append(entries, e)
	}
	return entries, nil
}
