package thread

import (
	"fmt"
	"html"
	"strings"
	"unicode"

	"github.com/repo-memory/ledger/pkg/glyph"
)

// passage is a run of lines that somebody quotes.
type passage struct {
	lines int
	text  string
}

// quoting follows a text line by line and tells what is quoted in it.
type quoting struct {
	open  bool   // the line before was quoted and may go on
	fence string // the mark of the code block that the lines are in
}

// next reports whether line is quoted. As in Markdown a quoted paragraph goes on
// without marks, such as where a mail program wrapped it, up to a blank line; a
// line after a mark alone is the author's again. A code block that is not quoted
// itself holds only lines that are quoted each for themselves.
func (q *quoting) next(line string) bool {
	switch {
	case strings.Trim(line, " \t\r") == "": // other white space is text to Markdown
		q.open = false
		return false
	case isQuoted(line):
		q.open = q.fence == "" && strings.Trim(line, "> \t\r") != ""
		return true
	case q.fence != "":
		if mark := fenceMark(line); strings.HasPrefix(mark, q.fence) && strings.TrimSpace(line) == mark {
			q.fence = ""
		}
		return false
	case q.open:
		return true
	}
	q.fence = fenceMark(line)
	return false
}

// fenceMark returns the mark of a line that can open a code block.
func fenceMark(line string) string {
	rest := strings.TrimLeft(line, " ")
	if rest == "" || len(line)-len(rest) > 3 || rest[0] != '`' && rest[0] != '~' {
		return ""
	}
	info := strings.TrimLeft(rest, rest[:1])
	if n := len(rest) - len(info); n >= 3 && !(rest[0] == '`' && strings.Contains(info, "`")) {
		return rest[:n]
	}
	return ""
}

// isQuoted reports whether a line quotes: behind what is blank or does not show,
// and the marks of list items, it starts with >, however that is spelled.
func isQuoted(line string) bool {
	rest := trimBlank(line)
	for {
		item := afterBullet(rest)
		if item == rest {
			break
		}
		rest = trimBlank(item)
	}
	if strings.HasPrefix(rest, "&") {
		rest = html.UnescapeString(rest[:min(len(rest), maxEntityBytes)])
	}
	return strings.HasPrefix(rest, ">") || strings.HasPrefix(rest, "\uff1e")
}

// maxEntityBytes is the length of &#x0000003e; with some zeros to spare.
const maxEntityBytes = 16

func trimBlank(s string) string {
	return strings.TrimLeftFunc(s, func(r rune) bool { return unicode.IsSpace(r) || !glyph.Visible(r) })
}

// afterBullet drops the mark of a list item.
func afterBullet(s string) string {
	rest := strings.TrimLeft(s, "0123456789")
	if len(rest) == len(s) {
		rest = strings.TrimLeft(s, "*+-")
		if len(s)-len(rest) != 1 {
			return s
		}
	} else if rest == "" || rest[0] != '.' && rest[0] != ')' {
		return s
	} else {
		rest = rest[1:]
	}
	item := strings.TrimLeft(rest, " \t")
	if item == rest {
		return s
	}
	return item
}

// collapse replaces every run of quoted lines of text by one line that says so,
// and returns what was quoted. Whoever wrote the text vouches for none of it: a
// quote can be of anybody, and a reply copies it whole.
func collapse(text string) (string, []passage) {
	text = lineFeeds(text)
	if !strings.ContainsAny(text, ">\uff1e") && !strings.Contains(text, "&gt") && !strings.Contains(text, "&#") {
		return text, nil
	}
	var (
		kept     []string
		passages []passage
		run      []string
	)
	flush := func() {
		if len(run) == 0 {
			return
		}
		lines := "1 line"
		if len(run) > 1 {
			lines = fmt.Sprintf("%d lines", len(run))
		}
		kept = append(kept, "> [quoted, unverified: "+lines+", left out here]")
		passages = append(passages, passage{len(run), strings.Join(run, "\n")})
		run = nil
	}
	lines := strings.Split(text, "\n")
	first, last := element(lines)
	var quotes quoting
	for i, line := range lines {
		if i >= first && i <= last || quotes.next(line) {
			run = append(run, line)
			continue
		}
		flush()
		kept = append(kept, line)
	}
	flush()
	return strings.Join(kept, "\n"), passages
}

// element returns the first and last line of HTML's blockquote elements: from the
// first opening tag that is not quoted itself to the last closing one, since what
// stands inside can hold closing tags of its own, or to the end without any. There
// is no such line when first is beyond the end.
func element(lines []string) (first, last int) {
	first, last = len(lines), -1
	for i, line := range lines {
		if !strings.Contains(line, "<") {
			continue
		}
		lower := strings.ToLower(line)
		if first == len(lines) && strings.Contains(lower, "<blockquote") && !isQuoted(line) {
			first = i
		}
		if strings.Contains(lower, "</blockquote") {
			last = i
		}
	}
	if last < first {
		last = len(lines) - 1
	}
	return first, last
}
