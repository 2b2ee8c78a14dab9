package thread

import (
	"fmt"
	"strings"
)

// passage is a run of lines that somebody quotes.
type passage struct {
	lines int
	text  string
}

// isQuoted reports whether a line quotes: behind white space and the marks of list
// items it starts with >, however that is spelled.
func isQuoted(line string) bool {
	rest := strings.TrimLeft(line, " \t\u00a0\u3000\v\f")
	for {
		item := afterBullet(rest)
		if item == rest {
			break
		}
		rest = item
	}
	return strings.HasPrefix(rest, ">") || strings.HasPrefix(rest, "&gt;") || strings.HasPrefix(rest, "\uff1e")
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
	if !strings.ContainsAny(text, ">\uff1e") && !strings.Contains(text, "&gt;") {
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
	for i, line := range lines {
		if i >= first && i <= last || isQuoted(line) {
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
