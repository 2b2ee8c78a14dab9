package script

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"unicode/utf8"

	"github.com/repo-memory/ledger/pkg/canonical"
)

// undefined stands for a result that JSON has no text for.
const undefined = "undefined"

// parseFrame reads the harness's one line and returns the JSON of the result, or
// undefined. The line must be all that was written: a second writer on the
// descriptor is the script, and then neither counts.
func parseFrame(frame []byte, nonce string) ([]byte, error) {
	line, rest, ended := bytes.Cut(frame, []byte("\n"))
	if len(frame) == 0 {
		return nil, fmt.Errorf("%w: it ended without a result; return it, and await what it needs", ErrFailed)
	}
	text, ok := bytes.CutPrefix(line, []byte(nonce+" "))
	if !ok || !ended || len(rest) > 0 {
		return nil, fmt.Errorf("%w: its result was tampered with; it must not use descriptor 3", ErrFailed)
	}
	word, value, found := bytes.Cut(text, []byte(" "))
	switch string(word) {
	case "value":
		if found {
			return value, nil
		}
	case "nothing":
		return []byte(undefined), nil
	case "threw":
		if n, err := strconv.ParseUint(string(value), 10, 24); err == nil {
			return nil, fmt.Errorf("%w: it threw at line %d; the message is withheld, since it may quote data", ErrFailed, n)
		}
		return nil, fmt.Errorf("%w: it threw; the message is withheld, since it may quote data", ErrFailed)
	case "syntax":
		return nil, fmt.Errorf("%w: it is neither a function body nor an ES module; try node --check", ErrFailed)
	case "shape":
		return nil, fmt.Errorf("%w: it exports no function, or its result cannot be written as JSON", ErrFailed)
	case "oversize":
		return nil, fmt.Errorf("%w: its result is over %d bytes", ErrFailed, maxResultBytes)
	}
	return nil, fmt.Errorf("%w: its result is in no known form", ErrFailed)
}

// decodeVerdict reads the result of a validation script.
func decodeVerdict(result []byte) (ok bool, reason string, err error) {
	switch string(result) {
	case undefined, "null", "true":
		return true, "", nil
	case "false":
		return false, "", nil
	}
	var verdict struct {
		OK     *bool   `json:"ok"`
		Reason *string `json:"reason"`
	}
	if !bytes.HasPrefix(result, []byte("{")) || canonical.Decode(result, &verdict) != nil || verdict.OK == nil {
		return false, "", fmt.Errorf("%w: its result is neither a boolean nor {ok, reason}", ErrFailed)
	}
	if verdict.Reason != nil {
		reason = *verdict.Reason
	}
	if len(reason) > MaxReasonBytes || !utf8.ValidString(reason) {
		return false, "", fmt.Errorf("%w: its reason has %d bytes, allowed are %d", ErrFailed, len(reason), MaxReasonBytes)
	}
	return *verdict.OK, reason, nil
}

// uuidv4 is the syntax of a segment id (specification, section 2).
var uuidv4 = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

// decodeSources reads the result of a selection script.
func decodeSources(result []byte) ([]string, error) {
	var selection struct {
		Sources *[]*string `json:"sources"`
	}
	if !bytes.HasPrefix(result, []byte("{")) || canonical.Decode(result, &selection) != nil || selection.Sources == nil {
		return nil, fmt.Errorf("%w: its result is not exactly {sources: [id, …]}", ErrFailed)
	}
	if n := len(*selection.Sources); n > MaxSources {
		return nil, fmt.Errorf("%w: it names %d sources, allowed are %d", ErrFailed, n, MaxSources)
	}
	sources := make([]string, 0, len(*selection.Sources))
	seen := make(map[string]bool)
	for i, id := range *selection.Sources {
		switch {
		case id == nil || !uuidv4.MatchString(*id):
			return nil, fmt.Errorf("%w: source %d is not a segment id", ErrFailed, i+1)
		case seen[*id]:
			return nil, fmt.Errorf("%w: source %d was named before", ErrFailed, i+1)
		}
		seen[*id] = true
		sources = append(sources, *id)
	}
	return sources, nil
}
