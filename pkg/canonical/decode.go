package canonical

import (
	"errors"
	"reflect"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// DecodeOption changes what [Decode] accepts.
type DecodeOption func(*decodeOptions)

type decodeOptions struct{ unknown bool }

// AllowUnknown makes Decode ignore members whose names the target does not have.
// They still have to obey every other rule. A name that differs from one of the
// target's only by case or folding is such a member and is ignored; it never
// sets the field.
func AllowUnknown(o *decodeOptions) { o.unknown = true }

// Decode fills target, a pointer, from one JSON text that a stranger can
// influence. It refuses
//
//   - what is not one JSON text in valid UTF-8, a repeated name at any depth, an
//     unpaired surrogate, a number that overflows a double, and nesting beyond
//     [MaxDepth], wherever they stand, as [ParseStrict] does;
//   - a name that the target does not have, byte for byte, unless
//     [AllowUnknown] is given;
//   - a number that does not fit its field: a fraction or an exponent, even 1.0
//     or 1e2, and a number out of range in an integer field; an integer that a
//     double changes in a float or interface field. An int64 or uint64 field
//     and raw JSON take such integers as they are;
//   - null, unless the field is a pointer or interface, raw JSON, or has its own
//     UnmarshalJSON. A null in a list or map is judged by the element type. So
//     null never passes for "", 0, an empty list or an empty object;
//   - every other value of another type than its field.
//
// Members that the text lacks keep what target held, so target must be fresh,
// and whoever needs a member tests for it. After an error target may be half
// filled. The error is an *[Error]; it carries nothing of the text but a path.
func Decode(data []byte, target any, options ...DecodeOption) error {
	var o decodeOptions
	for _, option := range options {
		option(&o)
	}
	// Depth, duplicates, surrogates and UTF-8 are judged by the reader that
	// admission uses, so that the two can never disagree.
	if _, err := parse(&parser{src: data, maxDepth: MaxDepth, strict: true, check: true}); err != nil {
		return err
	}
	err := json.Unmarshal(data, target, json.RejectUnknownMembers(!o.unknown), guarded)
	if err == nil {
		return nil
	}
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		rule := Mismatch
		switch {
		case errors.Is(err, json.ErrUnknownName):
			rule = Unknown
		case errors.Is(err, errInexact):
			rule = Inexact
		}
		return &Error{Rule: rule, Path: pointerPath(data, semantic.JSONPointer), Offset: int(semantic.ByteOffset)}
	}
	// Two names can still be one key of a map whose keys are not strings.
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) && errors.Is(err, jsontext.ErrDuplicateName) {
		return &Error{Rule: Duplicate, Path: pointerPath(data, syntactic.JSONPointer), Offset: int(syntactic.ByteOffset)}
	}
	return &Error{Rule: Syntax, Offset: -1}
}

// guarded makes json call guard before it fills any Go value.
var guarded = json.WithUnmarshalers(json.UnmarshalFromFunc(guard))

var (
	errNull    = errors.New("null where the field cannot hold it")
	errInexact = errors.New("integer that a double changes")
)

// guard refuses what json would turn into another value without a word, and
// leaves everything else to it. target is a pointer to the Go value to fill.
func guard(dec *jsontext.Decoder, target any) error {
	switch dec.PeekKind() {
	case 'n':
		if !takesNull(target) {
			return errNull
		}
	case '0':
		if kind := reflect.TypeOf(target).Elem().Kind(); kind != reflect.Float64 && kind != reflect.Float32 {
			break
		}
		// The unread text starts behind the last token; a sign changes nothing.
		src := dec.UnreadBuffer()
		i := 0
		for !isDigit(src[i]) {
			i++
		}
		if literal := src[i:scanNumber(src, i)]; changesInteger(literal, parseNumber(literal)) {
			return errInexact
		}
	}
	return errors.ErrUnsupported
}

func takesNull(target any) bool {
	switch target.(type) {
	case *time.Time: // has UnmarshalJSON, and leaves a zero time for null
		return false
	case json.Unmarshaler, json.UnmarshalerFrom:
		return true
	}
	kind := reflect.TypeOf(target).Elem().Kind()
	return kind == reflect.Pointer || kind == reflect.Interface
}

// pointerPath spells a JSON pointer into data as the path of an [Error].
func pointerPath(data []byte, pointer jsontext.Pointer) string {
	v, _ := Parse(data) // data is valid here; v tells arrays from objects
	var steps []string
	for token := range pointer.Tokens() {
		if v.Kind == Array {
			i, _ := strconv.Atoi(token)
			steps = append(steps, indexStep(i))
			v = v.Items[min(i, len(v.Items)-1)]
			continue
		}
		steps = append(steps, nameStep(token))
		v, _ = v.Get(token)
	}
	e := &Error{}
	for i := len(steps) - 1; i >= 0; i-- {
		e = e.in(steps[i])
	}
	return e.Path
}
