package canonical

import (
	"errors"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// DecodeOption changes what [Decode] accepts.
type DecodeOption func(*decodeOptions)

type decodeOptions struct{ unknown bool }

// AllowUnknown makes Decode ignore names that the target does not have. They
// still have to be well-formed, and differ from those that it has by more than
// nothing: a name that differs only by case is unknown, never a second spelling.
func AllowUnknown(o *decodeOptions) { o.unknown = true }

// Decode fills target from one JSON text that a stranger can influence. Names
// match byte for byte, a repeated name at any depth is an error and so is one
// that the target does not have, unless [AllowUnknown] is given; text must be
// valid UTF-8 and nest at most [MaxDepth] deep; numbers must fit their field.
// target must be fresh: members that the text lacks keep what target held. The
// error is an *[Error] and carries nothing of the text but a path.
func Decode(data []byte, target any, options ...DecodeOption) error {
	var o decodeOptions
	for _, option := range options {
		option(&o)
	}
	// Depth, duplicates, surrogates and UTF-8 are judged by the reader that
	// admission uses, so that the two can never disagree.
	if _, err := parse(data, &parser{maxDepth: MaxDepth, strict: true, anyInteger: true}); err != nil {
		return err
	}
	err := json.Unmarshal(data, target, json.RejectUnknownMembers(!o.unknown))
	if err == nil {
		return nil
	}
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		rule := Mismatch
		if errors.Is(err, json.ErrUnknownName) {
			rule = Unknown
		}
		return &Error{Rule: rule, Path: pointerPath(semantic.JSONPointer), Offset: int(semantic.ByteOffset)}
	}
	return &Error{Rule: Syntax, Offset: -1}
}

// pointerPath spells a JSON pointer as the path of an [Error].
func pointerPath(pointer jsontext.Pointer) string {
	e := &Error{}
	tokens := strings.Split(string(pointer), "/")
	for i := len(tokens) - 1; i > 0; i-- {
		token := strings.NewReplacer("~1", "/", "~0", "~").Replace(tokens[i])
		e = e.in(nameStep(token))
	}
	return e.Path
}
