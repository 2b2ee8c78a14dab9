// Package regular opens and reads files that a stranger may have put in place.
//
// A file is accepted only when the last element of its path is a regular file
// with one link: symbolic links are not followed, hard links to files elsewhere,
// pipes, sockets, devices and directories are refused, and opening never blocks.
// [OpenShared] alone lets a file have more links.
// What was looked at is what is read: the check is made on the open descriptor.
// Reading is bounded; a file over the bound is an error, never a shorter file.
// Errors name no path, so that they can be shown to anyone.
package regular

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
)

var (
	// ErrKind: not a regular file.
	ErrKind = errors.New("not a regular file")
	// ErrLinked: more than one name leads to the file.
	ErrLinked = errors.New("file has more than one link")
	// ErrChanged: the file was replaced while it was opened.
	ErrChanged = errors.New("file was replaced while it was opened")
	// ErrTooLarge: the file is over the bound of the caller.
	ErrTooLarge = errors.New("file is too large")
)

// Open opens the file at path for reading.
func Open(path string) (*os.File, error) {
	return open(path, os.Lstat, openPath, 1)
}

func openPath(name string) (*os.File, error) { return os.OpenFile(name, os.O_RDONLY|openFlags, 0) }

// OpenIn opens the file called name below root for reading; neither it nor a
// folder on the way may lead out of root.
func OpenIn(root *os.Root, name string) (*os.File, error) { return openIn(root, name, 1) }

// OpenShared is OpenIn for a file that other names may lead to as well, such as
// one in a hard-linked backup.
func OpenShared(root *os.Root, name string) (*os.File, error) {
	return openIn(root, name, math.MaxUint64)
}

func openIn(root *os.Root, name string, maxLinks uint64) (*os.File, error) {
	return open(name, root.Lstat, openBelow(root), maxLinks)
}

func openBelow(root *os.Root) func(string) (*os.File, error) {
	return func(name string) (*os.File, error) { return root.OpenFile(name, os.O_RDONLY|openFlags, 0) }
}

func open(name string, lstat func(string) (os.FileInfo, error), open func(string) (*os.File, error), maxLinks uint64) (*os.File, error) {
	before, err := lstat(name)
	if err != nil {
		return nil, plain(err)
	}
	if !before.Mode().IsRegular() {
		return nil, ErrKind
	}
	f, err := open(name)
	if err != nil {
		return nil, plain(err)
	}
	if err := check(f, before, maxLinks); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Check refuses an open file that is not regular, has more than one link, or is
// not the file that before describes (nil: any).
func Check(f *os.File, before os.FileInfo) error { return check(f, before, 1) }

func check(f *os.File, before os.FileInfo, maxLinks uint64) error {
	info, err := f.Stat()
	if err != nil {
		return plain(err)
	}
	if !info.Mode().IsRegular() {
		return ErrKind
	}
	if before != nil && !os.SameFile(before, info) {
		return ErrChanged
	}
	if links(info) > maxLinks {
		return ErrLinked
	}
	return nil
}

// Read reads f to its end, at most limit bytes; longer is [ErrTooLarge].
func Read(f *os.File, limit int64) ([]byte, error) {
	size := int64(0)
	if info, err := f.Stat(); err == nil {
		size = info.Size()
	}
	if size > limit {
		return nil, ErrTooLarge
	}
	// One byte more than the file should have finds out whether it has grown.
	buf := make([]byte, 0, size+1)
	for {
		n, err := f.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if int64(len(buf)) > limit {
			return nil, ErrTooLarge
		}
		if err == io.EOF {
			return buf, nil
		}
		if err != nil {
			return nil, plain(err)
		}
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
	}
}

// ReadFile opens and reads the file at path, at most limit bytes.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(f, limit)
}

// plain drops the path from a file error and keeps its cause.
func plain(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		if isLoop(pathErr.Err) {
			return ErrKind
		}
		return fmt.Errorf("%s failed: %w", pathErr.Op, pathErr.Err)
	}
	return err
}

// Cause drops the paths from an error of a file operation and keeps its cause,
// for errors that anyone may see.
func Cause(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	var linkErr *os.LinkError
	if errors.As(err, &linkErr) {
		return linkErr.Err
	}
	return err
}
