package script

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/repo-memory/ledger/pkg/canonical"
)

// builder writes the JSON that the harness reads, and stops at the bound.
type builder struct {
	text []byte
	err  error
}

func (b *builder) raw(text string) {
	if b.err == nil && len(b.text)+len(text) > MaxInputBytes {
		b.err = fmt.Errorf("%w: over %d bytes", ErrInputTooLarge, MaxInputBytes)
		b.text = nil
	}
	if b.err == nil {
		b.text = append(b.text, text...)
	}
}

// value adds text that is canonical JSON already.
func (b *builder) value(text []byte) { b.raw(string(text)) }

func (b *builder) string(text string) {
	if b.err != nil {
		return
	}
	if !utf8.ValidString(text) {
		b.err = fmt.Errorf("%w: text that is not UTF-8", ErrInput)
		return
	}
	if len(text) > MaxInputBytes {
		b.raw(text)
		return
	}
	b.raw(string(canonical.AppendString(nil, text)))
}

func (b *builder) int(n int64) { b.raw(strconv.FormatInt(n, 10)) }

// field starts the named member; sep is what stands before its name.
func (b *builder) field(sep, name string) { b.raw(sep + `"` + name + `":`) }

func separator(i int) string {
	if i == 0 {
		return ""
	}
	return ","
}

// envelope wraps the arguments of a script for the harness. parameters are the
// names under which the body form sees the arguments.
func envelope(nonce string, source []byte, parameters []string, args []byte) []byte {
	text := make([]byte, 0, len(args)+len(source)+len(source)/8+256)
	text = append(text, `{"nonce":"`...)
	text = append(text, nonce...)
	text = append(text, `","limit":`...)
	text = strconv.AppendInt(text, maxResultBytes, 10)
	text = append(text, `,"parameters":[`...)
	for i, name := range parameters {
		text = append(text, separator(i)...)
		text = canonical.AppendString(text, name)
	}
	text = append(text, `],"script":`...)
	text = canonical.AppendString(text, string(source))
	text = append(text, `,"args":`...)
	text = append(text, args...)
	return append(text, '}')
}
