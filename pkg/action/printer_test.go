package action

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/repo-memory/ledger/pkg/glyph"
)

func TestQuoteSpellsWhatCannotBeSeen(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"plain text", `"plain text"`}, {"", `""`}, {"é漢😀", `"é漢😀"`},
		{"a\u202eb", `"a\u{202e}b"`}, {"\u2066x\u2069", `"\u{2066}x\u{2069}"`}, {"a\u200bb\ufeff", `"a\u{200b}b\u{feff}"`},
		{"a\x1b[31m", `"a\u{1b}[31m"`}, {"a\r\nb", `"a\u{d}\u{a}b"`}, {"\x00\x7f\u0085", `"\u{0}\u{7f}\u{85}"`},
		{"\u2028\u2029\u00a0\u3000", `"\u{2028}\u{2029}\u{a0}\u{3000}"`}, {"\xff\xc0\xaf", `"\x{ff}\x{c0}\x{af}"`},
		{`\u{202e}`, `"\\u{202e}"`}, {`say "x"`, `"say \u{22}x\u{22}"`},
		{"\u3164\u115f\u034f\ufe0f\u2800\U000e0041", `"\u{3164}\u{115f}\u{34f}\u{fe0f}\u{2800}\u{e0041}"`},
		{"\u0338x\u0301", `"\u{338}x` + "\u0301" + `"`}, {"a##[error]b", `"a\u{23}#[error]b"`}, {"###[x", `"#\u{23}#[x"`},
	} {
		if got := Quote(test.in, 1000); got != test.want {
			t.Errorf("%q: %s, want %s", test.in, got, test.want)
		}
	}
}

func TestTextOverTheBoundIsCutWithAMarkAndNeverInsideAnEscape(t *testing.T) {
	for _, test := range []struct {
		in   string
		max  int
		want string
	}{
		{"abcdef", 6, `"abcdef"`}, {"abcdefg", 6, `"abcdef"…(+1 bytes)`}, {"abc\u202edef", 6, `"abc"…(+6 bytes)`},
		{"ab漢字", 6, `"ab漢"…(+3 bytes)`}, {`ab\\`, 5, `"ab\\"…(+1 bytes)`}, {"x", 0, `""…(+1 bytes)`},
	} {
		if got := Quote(test.in, test.max); got != test.want {
			t.Errorf("%q in %d: %s, want %s", test.in, test.max, got, test.want)
		}
	}
}

func TestCodeCannotEndItsSpanOrItsCell(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{"note", "`note`"}, {"", "(empty)"}, {"a`b", "`a\\u{60}b`"}, {"a|b", "`a\\u{7c}b`"}, {" x ", "`\\u{20}x\\u{20}`"},
		{"@octo <img src=x>", "`@octo <img src=x>`"}, {"a\n\n# b", "`a\\u{a}\\u{a}# b`"}, {" ", "`\\u{20}`"},
	} {
		if got := Code(test.in, 100); got != test.want {
			t.Errorf("%q: %s, want %s", test.in, got, test.want)
		}
	}
	if got := Code("abc", 0); got != "(…(+3 bytes))" {
		t.Errorf("%s", got)
	}
}

func TestBlockKeepsLinesAndCannotBeLeft(t *testing.T) {
	got := Block("a\n```\n::error::x\n##[error]y\n\ttab \r\u202e\n", 1000)
	want := "```text\n| a\n| \\u{60}\\u{60}\\u{60}\n| ::error::x\n| \\u{23}#[error]y\n| \ttab \\u{d}\\u{202e}\n```\n"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := Block(strings.Repeat("x\n", 10), 5); got != "```text\n| x\n| x\n| x\n…(+15 bytes)\n```\n" {
		t.Errorf("%q", got)
	}
}

// checkLine fails unless line is safe to print to a log of the runner.
func checkLine(t *testing.T, line string) {
	t.Helper()
	if !utf8.ValidString(line) || strings.Contains(line, "##[") || strings.HasPrefix(strings.TrimSpace(line), "::") {
		t.Errorf("unsafe line %q", line)
	}
	for _, r := range line {
		if r != '\t' && !glyph.Visible(r) {
			t.Errorf("%U shows raw in %q", r, line)
		}
	}
}

func FuzzPrinter(f *testing.F) {
	for _, seed := range []string{
		"", "plain", "::error::x", "##[error]x", "a\n::set-output name=x::y", "`` ` ```", "|\\|", "\u202e\u2066\ufeff", "\xff\xfe",
		"#\u200d#[x]", "\u200d::x", "  ::x", "@a <b> [c](d) https://e", "\\u{60}", strings.Repeat("`", 300),
	} {
		f.Add(seed, 40)
		f.Add(seed, 0)
	}
	f.Fuzz(func(t *testing.T, s string, max int) {
		max = min(max&0x1ff, 400)
		quoted, code, block := Quote(s, max), Code(s, max), Block(s, max)
		for _, line := range append(strings.Split(block, "\n"), quoted, code) {
			checkLine(t, line)
		}
		if len(quoted) > max+40 || len(code) > max+60 || len(block) > 4*max+80 {
			t.Errorf("over the bound: %d %d %d for %d", len(quoted), len(code), len(block), max)
		}
		if strings.Count(quoted, `"`) != 2 || strings.Contains(code, "|") || strings.Count(code, "`")%2 != 0 || strings.Count(code, "`") > 2 {
			t.Errorf("the fence is open: %s %s", quoted, code)
		}
		if lines := strings.Split(block, "\n"); strings.Count(block, "```") != 2 || lines[0] != "```text" || lines[len(lines)-2] != "```" {
			t.Errorf("the block is open: %q", block)
		}
		var out strings.Builder
		a := New(WithEnv(map[string]string{"GITHUB_ACTIONS": "true"}), WithWriter(&out))
		a.Infof("%s", s)
		for _, line := range strings.Split(out.String(), "\n") {
			checkLine(t, line)
		}
		out.Reset()
		a.Errorf("%s", s)
		if text := out.String(); !strings.HasPrefix(text, "::error::") || strings.Count(text, "\n") != 1 || strings.ContainsAny(text, "\r") {
			t.Errorf("annotation %q", text)
		}
	})
}

func TestDistinctTextsStayDistinctWhenSpelled(t *testing.T) {
	seen := map[string]string{}
	for _, s := range []string{"\u202e", `\u{202e}`, `\\u{202e}`, "\xff", `\x{ff}`, "ÿ", "\\", `\\`, "`", `\u{60}`, " ", `\u{20}`, "(empty)", ""} {
		got := Code(s, 1000)
		if other, ok := seen[got]; ok {
			t.Errorf("%q and %q are both %s", s, other, got)
		}
		seen[got] = s
	}
}
