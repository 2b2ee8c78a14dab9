package txlog

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/repo-memory/ledger/pkg/regular"
)

// openAppend opens the file at path for reading and appending and creates it
// with mode 0600 when it is missing. Like regular.Open it takes only a regular
// file with one name, follows no link and never blocks.
func openAppend(path string) (*os.File, error) {
	before, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		before = nil
	case err != nil:
		return nil, regular.Cause(err)
	case !before.Mode().IsRegular():
		return nil, regular.ErrKind
	}
	return openSeen(path, before)
}

// openSeen opens what Lstat has described, nil for nothing, and refuses what
// came in its place since.
func openSeen(path string, before os.FileInfo) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE|noFollow, 0o600)
	if err != nil {
		return nil, regular.Cause(err)
	}
	if err := regular.Check(f, before); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// endsTorn reports whether a file of the given size has an unfinished last line.
func endsTorn(f io.ReaderAt, size int64) (bool, error) {
	if size == 0 {
		return false, nil
	}
	var last [1]byte
	if _, err := f.ReadAt(last[:], size-1); err != nil {
		return false, regular.Cause(err)
	}
	return last[0] != '\n', nil
}
