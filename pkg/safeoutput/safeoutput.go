// Package safeoutput reads the entries of a run's safe output: what an agent asks
// trusted jobs to do. Whoever writes the file is a stranger to whoever reads it.
//
// Two forms are read, told apart by the text alone:
//
//	safe-output file   one JSON value a line; lines of white space (ECMAScript's,
//	                   so U+FEFF too) are skipped, but counted
//	agent output       one JSON document {"items": [value, …], …}
//
// A document is the second form only when nothing follows it, it has one member
// named items, which is a list, and none named type in any case: an entry that has
// items of its own stays an entry. The values are handed on as text and judged by
// whoever reads them, one by one, so that a bad one does not hide the others.
package safeoutput

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/repo-memory/ledger/pkg/regular"
)

// MaxBytes bounds the file: the larger agent outputs that are known have a few MB.
const MaxBytes = 64 << 20

// Read returns the file's text. It has to be a regular file with one name and at
// most [MaxBytes]; links are not followed. One that does not exist is an error that
// wraps fs.ErrNotExist; errors name no path.
func Read(path string) ([]byte, error) { return regular.ReadFile(path, MaxBytes) }

// Entries yields the text of each entry with its number: of its line, or of its
// place among the items, counted from 1.
func Entries(data []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		if items, ok := splitItems(data); ok {
			for i, item := range items {
				if !yield(i+1, item) {
					return
				}
			}
			return
		}
		number := 0
		for line := range bytes.Lines(data) {
			number++
			if line = bytes.TrimFunc(line, IsBlank); len(line) > 0 && !yield(number, line) {
				return
			}
		}
	}
}

// IsBlank reports whether r is white space to ECMAScript.
func IsBlank(r rune) bool {
	return r == '\ufeff' || r != '\u0085' && unicode.IsSpace(r)
}

// splitItems returns the texts of the items of a document {"items": [...]}; ok is
// false for anything else.
func splitItems(data []byte) (items [][]byte, ok bool) {
	in := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if open, err := in.ReadToken(); err != nil || open.Kind() != '{' {
		return nil, false
	}
	for in.PeekKind() == '"' {
		name, err := in.ReadToken()
		if err != nil {
			return nil, false
		}
		switch key := name.String(); {
		case strings.EqualFold(key, "type"):
			return nil, false
		case key != "items":
			if in.SkipValue() != nil {
				return nil, false
			}
		case ok:
			return nil, false
		default:
			if items, err = readItems(in); err != nil {
				return nil, false
			}
			ok = true
		}
	}
	if _, err := in.ReadToken(); err != nil {
		return nil, false
	}
	_, err := in.ReadToken()
	return items, ok && err == io.EOF
}

func readItems(in *jsontext.Decoder) ([][]byte, error) {
	if open, err := in.ReadToken(); err != nil || open.Kind() != '[' {
		return nil, errors.New("no list")
	}
	var items [][]byte
	for in.PeekKind() != ']' {
		value, err := in.ReadValue()
		if err != nil {
			return nil, err
		}
		items = append(items, bytes.Clone(value))
	}
	_, err := in.ReadToken()
	return items, err
}
