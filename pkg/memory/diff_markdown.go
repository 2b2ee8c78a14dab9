package memory

import (
	"fmt"
	"strings"
	"unicode"
)

// Markdown is the diff for people: headings, and everything that an agent wrote
// as escaped code on one line each, so that none of it can pass for ours.
func (d *Diff) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d changesets from `%s` to `%s`", d.Sets, d.Base, d.Target)
	if d.Ahead > 0 {
		fmt.Fprintf(&b, "; the base is ahead by %d", d.Ahead)
	}
	b.WriteString("\n")
	sections := []struct {
		title string
		list  []DiffEntry
	}{
		{"Memories added", d.Added}, {"Corrections proposed", d.Corrections}, {"Records superseded", d.Superseded},
		{"Relationships added", d.Relationships}, {"Decisions changed", d.Decisions}, {"Tasks or flags changed", d.Tasks},
		{"Duplicates detected", d.Duplicates}, {"Permissions or visibility affected", d.Permissions},
		{"Evidence added or removed", d.Evidence},
	}
	for _, s := range sections {
		if len(s.list) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n#### %s (%d)\n\n", s.title, len(s.list))
		for _, e := range s.list {
			e.markdown(&b)
		}
	}
	if len(d.Conflicts) > 0 {
		fmt.Fprintf(&b, "\n#### Unresolved conflicts (%d)\n\n", len(d.Conflicts))
		for _, c := range d.Conflicts {
			fmt.Fprintf(&b, "- %s, %s: %s", c.Type, c.Severity, code(c.Identity))
			if c.Label != "" {
				fmt.Fprintf(&b, " (%s)", c.Label)
			}
			fmt.Fprintf(&b, " `%s`\n", c.ID)
		}
	}
	return b.String()
}

func (e DiffEntry) markdown(b *strings.Builder) {
	b.WriteString("- ")
	if e.ID == "" {
		b.WriteString("attestation")
	} else {
		b.WriteString(code(e.ID))
	}
	for _, part := range []struct{ name, text string }{{"kind", e.Kind}, {"change", e.Change}, {"label", string(e.Label)},
		{"before", e.Before}, {"after", e.After}, {"related", e.Related}, {"note", e.Note}, {"author", e.Author}} {
		if part.text != "" {
			fmt.Fprintf(b, "\n  - %s %s", part.name, code(part.text))
		}
	}
	for _, f := range e.Fields {
		b.WriteString("\n  - " + f.markdown())
	}
	b.WriteString("\n")
}

// code shows text that a stranger wrote as inline code: one line, control,
// bidirectional and invisible characters as escapes, and a fence longer than any
// run of backticks within.
func code(s string) string {
	var b strings.Builder
	run, longest := 0, 0
	for _, r := range s {
		if r == '`' {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
		switch {
		case r == ' ' || r != '\\' && unicode.IsGraphic(r) && !unicode.Is(unicode.Z, r) && !hidden(r):
			b.WriteRune(r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	fence := strings.Repeat("`", longest+1)
	return fence + " " + b.String() + " " + fence
}

// hidden reports characters that are graphic by category and show nothing.
func hidden(r rune) bool {
	return unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || unicode.Is(unicode.Variation_Selector, r) || r == 0x2800
}
