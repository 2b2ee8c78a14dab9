package branch

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// CheckPath reports an error ([ErrPath]) unless path may be written to a branch
// or below a directory: UTF-8, slash-separated, relative, at most 4,096 bytes,
// no component empty, "." or "..", longer than 255 bytes, or a spelling of
// ".git" on any file system; no backslash and no control character.
func CheckPath(path string) error {
	bad := func(why string) error {
		return fmt.Errorf("%w %s: %s", ErrPath, Printable(path, 200), why)
	}
	switch {
	case path == "":
		return bad("it is empty")
	case len(path) > maxPathBytes:
		return bad(fmt.Sprintf("longer than %d bytes", maxPathBytes))
	}
	for name := range strings.SplitSeq(path, "/") {
		if why := nameFault(name); why != "" {
			return bad(why)
		}
	}
	return nil
}

// nameFault says why one component must not be written, or "".
func nameFault(name string) string {
	switch {
	case name == "":
		return "a component is empty"
	case name == "." || name == "..":
		return "a component is a dot name"
	case len(name) > maxNameBytes:
		return fmt.Sprintf("a component is longer than %d bytes", maxNameBytes)
	case !utf8.ValidString(name):
		return "it is not UTF-8"
	case strings.ContainsRune(name, '\\'):
		return "it holds a backslash"
	case strings.ContainsFunc(name, unicode.IsControl):
		return "it holds a control character"
	case isDotGit(name):
		return "a component is git's own directory"
	}
	return ""
}

// isDotGit tells whether some file system takes name for ".git": without
// regard to case, as HFS+ does after dropping ignorable code points, and as
// NTFS does with trailing dots and spaces, a stream name, or the short name.
func isDotGit(name string) bool {
	name = strings.Map(func(c rune) rune {
		switch {
		case c >= 0x200c && c <= 0x200f, c >= 0x202a && c <= 0x202e, c >= 0x206a && c <= 0x206f, c == 0xfeff:
			return -1
		}
		return c
	}, name)
	name, _, _ = strings.Cut(name, ":")
	name = strings.TrimRight(name, ". ")
	return strings.EqualFold(name, ".git") || strings.EqualFold(name, "git~1")
}
