package mcptools

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// readLine reads one line. Of one that is too long it returns only the two ends.
func readLine(in *bufio.Reader) (line []byte, tooLong bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxLineBytes {
			tooLong = true
		}
		if tooLong && len(line) > 2*keptOfLongLine {
			line = append(line[:keptOfLongLine], line[len(line)-keptOfLongLine:]...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, tooLong, err
		}
	}
}

var (
	idForm   = fmt.Sprintf(`"[^"\\]{0,%d}"|-?[0-9]{1,15}`, maxIDBytes)
	wholeID  = regexp.MustCompile(`^(` + idForm + `)$`)
	idMember = regexp.MustCompile(`"id"\s*:\s*(` + idForm + `)\s*[,}]`)
	// lastID is an id with which a message ends, or that only the method and the
	// version follow. No brace closes in between, so that it is the message's own.
	lastID = regexp.MustCompile(`"id"\s*:\s*(` + idForm + `)\s*(?:,\s*"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*)*}\s*$`)
)

// idOf finds the id of a message that cannot be read, and of which the middle may
// be missing: before its parameters, or behind them.
func idOf(line []byte) json.RawMessage {
	head, _, _ := bytes.Cut(line[:min(len(line), keptOfLongLine)], []byte(`"params"`))
	if m := idMember.FindSubmatch(head); m != nil {
		return m[1]
	}
	if m := lastID.FindSubmatch(line[max(0, len(line)-keptOfLongLine):]); m != nil {
		return m[1]
	}
	return nil
}

// badLine is why a line is no message; its answer needs all three.
type badLine struct {
	id   json.RawMessage // nil when there is none
	code int
	text string
}

// checkEnvelope judges what decoders are lax about, and returns the message's id.
// Names are compared as they are, and none may be repeated: not in the message and
// not in its parameters. What the parameters hold is judged by the tools.
func checkEnvelope(line []byte) (id json.RawMessage, bad *badLine) {
	if nesting(line) > maxMessageDepth {
		return nil, &badLine{idOf(line), -32600, "message is nested too deep"}
	}
	in := jsontext.NewDecoder(bytes.NewBuffer(line), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	isObject, ids, repeated, inside := in.PeekKind() == '{', 0, false, false
	var err error
	if isObject {
		repeated, err = eachMember(in, func(name string) error {
			var err error
			switch value := jsontext.Value(nil); {
			case name == "id":
				value, err = in.ReadValue()
				id, ids = bytes.Clone(value), ids+1
			case name == "params" && in.PeekKind() == '{':
				inside, err = eachMember(in, func(string) error { return in.SkipValue() })
			default:
				err = in.SkipValue()
			}
			return err
		})
	} else {
		err = in.SkipValue()
	}
	if err == nil {
		_, err = in.ReadToken()
	}
	switch {
	case err != io.EOF:
		return nil, &badLine{nil, -32700, "message is no JSON"}
	case !isObject:
		return nil, &badLine{nil, -32600, notMessage}
	case ids > 1:
		return nil, &badLine{nil, -32600, "message repeats its id"}
	case ids == 1 && (!wholeID.Match(id) || !utf8.Valid(id)):
		return nil, &badLine{nil, -32600, fmt.Sprintf("id must be a string of at most %d bytes without escapes, or a whole number of at most 15 digits", maxIDBytes)}
	case repeated || inside:
		return nil, &badLine{id, -32600, "message repeats a member"}
	}
	return id, nil
}

const notMessage = "message is no JSON-RPC request, notification or response"

// eachMember reads an object, whose values read has to take, and reports whether
// it repeats a name.
func eachMember(in *jsontext.Decoder, read func(name string) error) (repeated bool, err error) {
	if _, err := in.ReadToken(); err != nil {
		return false, err
	}
	seen := map[string]bool{}
	again := false
	for in.PeekKind() != '}' {
		token, err := in.ReadToken()
		if err != nil {
			return false, err
		}
		name := token.String()
		again, seen[name] = again || seen[name], true
		if err := read(name); err != nil {
			return false, err
		}
	}
	_, err = in.ReadToken()
	return again, err
}

// nesting is how deep the brackets of a JSON text nest.
func nesting(text []byte) int {
	depth, deepest, inside := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			inside = !inside
		case c == '\\':
			i++
		case inside:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}
