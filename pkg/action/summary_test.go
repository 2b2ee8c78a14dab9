package action

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestASummaryPrintsEveryTextArgumentAsCode(t *testing.T) {
	s := NewSummary("persist: %d saved to %s", 3, "ledgers/memory")
	s.Line("Head %s, %v, done %v, %v", "<b>@octo", errors.New("a`b"), true, Markdown("**ours**"))
	s.Table([]string{"item", "count"}, []any{"a|b\nc", 1}, []any{"", 2})
	s.List("Rejected", "%s: %s", []any{"x\n- y", "a link"})
	s.List("Ignored", "%s")
	s.Block("Diff", "+a\n```\n</pre>", 100)
	want := "### persist: 3 saved to `ledgers/memory`\n\n" +
		"Head `<b>@octo`, `a\\u{60}b`, done true, **ours**\n\n" +
		"| item | count |\n| --- | --- |\n| `a\\u{7c}b\\u{a}c` | 1 |\n| (empty) | 2 |\n\n" +
		"**Rejected: 1**\n\n- `x\\u{a}- y`: `a link`\n\n" +
		"**Diff**\n\n```text\n| +a\n| \\u{60}\\u{60}\\u{60}\n| </pre>\n```\n\n"
	if got := s.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestListsShowACountAndTheFirst100(t *testing.T) {
	rows := make([][]any, 1234)
	for i := range rows {
		rows[i] = []any{i}
	}
	s := NewSummary("x")
	s.List("Rejected", "item %d", rows...)
	s.Table([]string{"n"}, rows...)
	got := s.String()
	if !strings.Contains(got, "**Rejected: 1234**") || strings.Count(got, "- item ") != 100 || strings.Count(got, "…and 1134 more.") != 2 {
		t.Errorf("%s", got)
	}
}

func TestUntrustedTextInASummaryIsBounded(t *testing.T) {
	s := NewSummary("x")
	s.Line("%s", strings.Repeat("y", 10_000))
	if got := s.String(); len(got) > 300 || !strings.Contains(got, "…(+9800 bytes)") {
		t.Errorf("%s", got)
	}
}

func summaryAction(t *testing.T, prior int) (*Action, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "summary.md")
	if err := os.WriteFile(path, []byte(strings.Repeat("p", prior)), 0o600); err != nil {
		t.Fatal(err)
	}
	return New(WithEnv(map[string]string{"GITHUB_STEP_SUMMARY": path})), path
}

func TestAStepSummaryNeverPasses1MiBAndSaysWhereItWasCut(t *testing.T) {
	line := strings.Repeat("x", 99) + "\n"
	for _, prior := range []int{0, 1, maxSummaryBytes / 2, maxSummaryBytes - 200, maxSummaryBytes - 1, maxSummaryBytes, maxSummaryBytes + 5} {
		a, path := summaryAction(t, prior)
		for range 12 {
			a.AddStepSummary(strings.Repeat(line, 1000))
		}
		got := readFile(t, path)
		if len(got) > max(maxSummaryBytes, prior) {
			t.Errorf("prior %d: %d bytes", prior, len(got))
		}
		if prior <= maxSummaryBytes-200 && (strings.Count(got, summaryCut) != 1 || !strings.HasSuffix(got, summaryCut)) {
			t.Errorf("prior %d: ends in %q", prior, got[len(got)-100:])
		}
		if !strings.HasPrefix(got, strings.Repeat("p", prior)) {
			t.Errorf("prior %d: what stood there was changed", prior)
		}
	}
}

func TestASummaryOfExactlyTheBoundIsOnlyCutWhenTheMarkWouldNotFit(t *testing.T) {
	a, path := summaryAction(t, 0)
	text := strings.Repeat("x", 1000) + "\n"
	a.AddStepSummary(text)
	a.AddStepSummary("second")
	if got := readFile(t, path); got != text+"second\n" {
		t.Errorf("%q", got)
	}
}

func TestACutSummaryClosesItsCodeBlock(t *testing.T) {
	a, path := summaryAction(t, 0)
	a.AddStepSummary("```text\n" + strings.Repeat("| y\n", maxSummaryBytes/4) + "```\n")
	if got := readFile(t, path); len(got) > maxSummaryBytes || !strings.HasSuffix(got, "| y\n```\n"+summaryCut) {
		t.Errorf("%d bytes, ends in %q", len(got), got[len(got)-100:])
	}
}

func TestWithoutASummaryFileTheSummaryIsPrinted(t *testing.T) {
	got := runRole(sample, validEnv(), nil, func(_ context.Context, a *Action) error {
		a.AddStepSummary("### done\n\n::error::x")
		return nil
	})
	if got.code != 0 || got.stdout != "### done\n\n\\u{3a}:error::x\n" {
		t.Errorf("%+v", got)
	}
}

func TestASummaryThatCannotBeWrittenIsAWarningAndNotAFailure(t *testing.T) {
	got := runRole(sample, validEnv("GITHUB_STEP_SUMMARY", t.TempDir()), nil, func(_ context.Context, a *Action) error {
		a.AddStepSummary("x")
		return nil
	})
	if got.code != 0 || !strings.HasPrefix(got.stdout, "warning: no job summary: ") {
		t.Errorf("%+v", got)
	}
}
