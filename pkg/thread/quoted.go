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
		inside   int // blockquote elements that are open
	)
	flush := func() {
		if len(run) == 0 {
			return
		}
		kept = append(kept, fmt.Sprintf("> [quoted, unverified: %d lines, left out here]", len(run)))
		passages = append(passages, passage{len(run), strings.Join(run, "\n")})
		run = nil
	}
	for _, line := range strings.Split(text, "\n") {
		opened, closed := countTags(line)
		if inside > 0 || opened > 0 || isQuoted(line) {
			run = append(run, line)
		} else {
			flush()
			kept = append(kept, line)
		}
		inside = max(0, inside+opened-closed)
	}
	flush()
	return strings.Join(kept, "\n"), passages
}

// countTags counts the tags of HTML's blockquote in a line. What stands in an
// element that is never closed is quoted to the end.
func countTags(line string) (opened, closed int) {
	if !strings.Contains(line, "<") {
		return 0, 0
	}
	lower := strings.ToLower(line)
	return strings.Count(lower, "<blockquote"), strings.Count(lower, "</blockquote")
}
