package action

import (
	"fmt"
	"os"
	"strings"
)

// Markdown is text that the program wrote itself: [Summary] takes it as it is.
type Markdown string

// Summary builds the Markdown of a job summary: the outcome first, then counts,
// then lists. Every argument that is text is printed as a [Code] span, so that
// what a stranger chose is safe wherever it is put; numbers, booleans and
// [Markdown] are printed as they are. Formats and titles are the program's own.
type Summary struct{ b strings.Builder }

// NewSummary starts with the outcome as a heading, such as
// NewSummary("persist: %d records saved", n).
func NewSummary(format string, args ...any) *Summary {
	s := &Summary{}
	s.b.WriteString("### " + s.sprintf(format, args) + "\n\n")
	return s
}

// Line adds one paragraph.
func (s *Summary) Line(format string, args ...any) {
	s.b.WriteString(s.sprintf(format, args) + "\n\n")
}

// Table adds a table; rows longer than [MaxListed] are counted, not shown.
func (s *Summary) Table(header []string, rows ...[]any) {
	if len(rows) == 0 {
		return
	}
	s.b.WriteString("| " + strings.Join(header, " | ") + " |\n|" + strings.Repeat(" --- |", len(header)) + "\n")
	for _, row := range rows[:min(len(rows), MaxListed)] {
		for _, cell := range row {
			s.b.WriteString("| " + s.sprintf("%v", []any{cell}) + " ")
		}
		s.b.WriteString("|\n")
	}
	s.b.WriteString("\n")
	s.more(len(rows))
}

// List adds a title with the count and the first [MaxListed] items; nothing when
// there are none. Each item is the arguments of format.
func (s *Summary) List(title, format string, items ...[]any) {
	if len(items) == 0 {
		return
	}
	fmt.Fprintf(&s.b, "**%s: %d**\n\n", title, len(items))
	for _, item := range items[:min(len(items), MaxListed)] {
		s.b.WriteString("- " + s.sprintf(format, item) + "\n")
	}
	s.b.WriteString("\n")
	s.more(len(items))
}

func (s *Summary) more(n int) {
	if n > MaxListed {
		fmt.Fprintf(&s.b, "…and %d more.\n\n", n-MaxListed)
	}
}

// Block adds untrusted text of several lines, at most max bytes of it.
func (s *Summary) Block(title, text string, max int) {
	fmt.Fprintf(&s.b, "**%s**\n\n%s\n", title, Block(text, max))
}

// String returns the Markdown; [Action.AddStepSummary] bounds it.
func (s *Summary) String() string { return s.b.String() }

// sprintf formats with every text argument as a code span.
func (s *Summary) sprintf(format string, args []any) string {
	safe := make([]any, len(args))
	for i, arg := range args {
		switch v := arg.(type) {
		case Markdown, bool, int, int64, uint64, float64:
			safe[i] = v
		case string:
			safe[i] = Markdown(Code(v, maxSpanBytes))
		default:
			safe[i] = Markdown(Code(fmt.Sprint(v), maxSpanBytes))
		}
	}
	return fmt.Sprintf(format, safe...)
}

const summaryCut = "\n…the summary is cut here: the runner takes 1 MiB at most.\n"

// AddStepSummary appends Markdown to the step's summary, on a line of its own.
// What would pass 1 MiB in total is cut at a line end, an open code block
// closed, and a visible mark put there; later calls then add nothing. Outside
// Actions it goes to standard output. A summary that cannot be written is a
// warning: the work it tells of is done.
func (a *Action) AddStepSummary(markdown string) {
	if !strings.HasSuffix(markdown, "\n") {
		markdown += "\n"
	}
	path := a.getenv("GITHUB_STEP_SUMMARY")
	if path == "" {
		a.Infof("%s", strings.TrimSuffix(markdown, "\n"))
		return
	}
	if text := a.fitSummary(path, a.scrub(markdown)); text != "" {
		if err := a.appendLine(path, "GITHUB_STEP_SUMMARY", text); err != nil {
			a.Warningf("no job summary: %v", err)
		}
	}
}

// fitSummary cuts text to what the summary file still takes. The room of the
// mark, and of the line feed that appendLine may add, is kept free.
func (a *Action) fitSummary(path, text string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.summaryFull {
		return ""
	}
	if a.summaryBytes == 0 {
		if f, err := a.openFile(path, os.O_RDWR, 0); err == nil {
			if info, err := f.Stat(); err == nil {
				a.summaryBytes = int(info.Size())
			}
			f.Close()
		}
	}
	room := maxSummaryBytes - a.summaryBytes - len(summaryCut) - len("\n```\n")
	if len(text) > room {
		a.summaryFull = true
		if a.summaryBytes+len(summaryCut)+1 > maxSummaryBytes {
			return ""
		}
		cut := strings.LastIndexByte(text[:max(room, 0)], '\n') + 1
		text = text[:cut]
		if openBlock(text) {
			text += "```\n"
		}
		text += summaryCut
	}
	a.summaryBytes += len(text) + 1
	return text
}

// openBlock reports whether text ends inside a code block.
func openBlock(text string) bool {
	open := false
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "```") {
			open = !open
		}
	}
	return open
}
