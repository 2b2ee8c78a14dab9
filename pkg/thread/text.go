package thread

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/repo-memory/ledger/pkg/glyph"
)

// appendVisible adds r so that a reader sees it: another space than U+0020 as
// that, and what does not show as \u{…}.
func appendVisible(b *strings.Builder, r rune) {
	switch {
	case glyph.Visible(r):
		b.WriteRune(r)
	case unicode.Is(unicode.Zs, r):
		b.WriteByte(' ')
	default:
		b.WriteString(glyph.Spell(r))
	}
}

// lineFeeds turns every line end of Markdown into a line feed.
func lineFeeds(s string) string {
	if !strings.Contains(s, "\r") {
		return s
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

// appendBlock adds text with "| " before each line, so that no line of it can
// start like one of ours, and returns how many code points over most it left
// out. It marks the cut.
func appendBlock(b *strings.Builder, text string, most int) (left int) {
	text = strings.Trim(lineFeeds(text), "\n")
	b.WriteString("| ")
	seen, at := 0, 0
	for i, r := range text {
		if seen == most {
			break
		}
		at, seen = i+utf8.RuneLen(r), seen+1
		switch {
		case r == '\n':
			b.WriteString("\n| ")
		case r == '\t':
			b.WriteByte('\t')
		default:
			appendVisible(b, r)
		}
	}
	if left = utf8.RuneCountInString(text[min(at, len(text)):]); left > 0 {
		fmt.Fprintf(b, "\n| …(+%d characters)", left)
	}
	b.WriteByte('\n')
	return left
}

// quote spells text on one line between double quotes: white space becomes one
// space, what does not show is spelled, and of more than most code points the
// rest is counted.
func quote(text string, most int) string {
	var b strings.Builder
	b.WriteByte('"')
	seen, space, cut := 0, false, -1
	for i, r := range text {
		if unicode.IsSpace(r) {
			space = seen > 0
			continue
		}
		if seen >= most {
			cut = i
			break
		}
		if space {
			b.WriteByte(' ')
			space, seen = false, seen+1
		}
		if r == '"' || r == '\\' {
			b.WriteByte('\\')
		}
		appendVisible(&b, r)
		seen++
	}
	b.WriteByte('"')
	if cut >= 0 {
		fmt.Fprintf(&b, "…(+%d characters)", utf8.RuneCountInString(text[cut:]))
	}
	return b.String()
}

// cut returns the first most code points of s and whether there were more.
func cut(s string, most int) (string, bool) {
	if len(s) <= most {
		return s, false
	}
	n := 0
	for i := range s {
		if n == most {
			return s[:i], true
		}
		n++
	}
	return s, false
}

func tooLong(s string, most int) bool {
	_, over := cut(s, most)
	return over
}
