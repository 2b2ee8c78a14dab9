package action

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/repo-memory/ledger/pkg/glyph"
)

// Quote spells untrusted text on one line between double quotes, for logs,
// annotations and errors. The escaped text between the quotes has at most max
// bytes; what is over is replaced by …(+N bytes), where N counts bytes of s.
func Quote(s string, max int) string {
	text, rest := escape(s, max, `"`, false)
	return `"` + text + `"` + mark(rest)
}

// Code spells untrusted text as a Markdown code span on one line, bounded and
// marked like [Quote]. Backticks and vertical bars are escaped too, so that it
// stands in a table cell and cannot end its span.
func Code(s string, max int) string {
	if s == "" {
		return "(empty)"
	}
	text, rest := escape(s, max, "`|", false)
	// A span that starts and ends with a space loses both.
	if strings.HasPrefix(text, " ") {
		text = `\u{20}` + text[1:]
	}
	if strings.HasSuffix(text, " ") {
		text = text[:len(text)-1] + `\u{20}`
	}
	if text == "" {
		return "(" + mark(rest) + ")"
	}
	return "`" + text + "`" + mark(rest)
}

// Block spells untrusted text of several lines as a Markdown code block with a
// line feed at its end, bounded by max bytes of escaped text and marked like
// [Quote]. Line feeds and tabs stay; backticks are escaped, so that no line can
// end the block. Every line starts with "| ", so that the block can be printed
// to a log as well.
func Block(s string, max int) string {
	text, rest := escape(s, max, "`", true)
	text = strings.TrimSuffix(text, "\n")
	var b strings.Builder
	b.WriteString("```text\n")
	for _, line := range strings.Split(text, "\n") {
		b.WriteString("| " + line + "\n")
	}
	if rest > 0 {
		b.WriteString(mark(rest) + "\n")
	}
	b.WriteString("```\n")
	return b.String()
}

func mark(rest int) string {
	if rest == 0 {
		return ""
	}
	return fmt.Sprintf("…(+%d bytes)", rest)
}

// escape spells s visibly in at most max bytes and returns how many bytes of s
// were left out. The characters in fence are escaped as well. A backslash is
// doubled, so that distinct texts stay distinct.
func escape(s string, max int, fence string, lines bool) (text string, rest int) {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		spelled := s[i : i+size]
		switch {
		case r == utf8.RuneError && size == 1:
			spelled = fmt.Sprintf(`\x{%02x}`, s[i])
		case r == '\\':
			spelled = `\\`
		case lines && (r == '\n' || r == '\t'):
		case strings.ContainsRune(fence, r), !glyph.Visible(r), b.Len() == 0 && unicode.Is(unicode.M, r),
			r == '#' && strings.HasPrefix(s[i:], "##["):
			spelled = glyph.Spell(r)
		}
		if b.Len()+len(spelled) > max {
			return b.String(), len(s) - i
		}
		b.WriteString(spelled)
		i += size
	}
	return b.String(), 0
}

// clean is the last look at a line of our own before it is shown: secrets
// become ***, what does not show is spelled, and no workflow command is left.
// Unlike [Quote] it keeps backslashes, because parts of the line were quoted.
func (a *Action) clean(line string) string {
	line = a.scrub(line)
	var b strings.Builder
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRuneInString(line[i:])
		spelled := line[i : i+size]
		switch {
		case r == utf8.RuneError && size == 1:
			spelled = fmt.Sprintf(`\x{%02x}`, line[i])
		case r == '\t':
		case !glyph.Visible(r), r == '#' && strings.HasPrefix(line[i:], "##["),
			r == ':' && strings.HasPrefix(line[i:], "::") && strings.TrimLeft(b.String(), " \t") == "":
			spelled = glyph.Spell(r)
		}
		if b.Len()+len(spelled) > maxMessageBytes {
			b.WriteString(mark(len(line) - i))
			break
		}
		b.WriteString(spelled)
		i += size
	}
	return b.String()
}

// scrub replaces the value of every secret that the Action knows.
func (a *Action) scrub(text string) string {
	a.mu.Lock()
	secrets := a.secrets
	a.mu.Unlock()
	for _, secret := range secrets {
		if len(secret) >= minSecretBytes {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return text
}
