package glyph

import (
	"testing"
	"unicode"
)

func TestWhatIsVisible(t *testing.T) {
	for _, r := range " a~é漢😀́¿€" {
		if !Visible(r) {
			t.Errorf("%U is not visible", r)
		}
	}
	for name, r := range map[string]rune{
		"a control": 0x1b, "a line feed": '\n', "a tab": '\t', "delete": 0x7f, "a C1 control": 0x85, "no-break space": 0xa0, "soft hyphen": 0xad,
		"a Hangul filler": 0x3164, "a half-width filler": 0xffa0, "zero width space": 0x200b, "a joiner": 0x200d, "an override": 0x202e, "an isolate": 0x2066,
		"a line separator": 0x2028, "the byte order mark": 0xfeff, "a variation selector": 0xfe0f, "a supplementary one": 0xe0100, "a tag": 0xe0041,
		"blank Braille": 0x2800, "the blank of Khitan": 0x16fe4, "the null notehead": 0x1d159, "private use": 0xe000, "not assigned": 0x378, "a surrogate": 0xd800,
		"the combining joiner": 0x34f,
	} {
		if Visible(r) {
			t.Errorf("%s is visible", name)
		}
	}
}

func TestNoFormatCharacterAndNoWhiteSpaceButOneIsVisible(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if Visible(r) && r != ' ' && (unicode.IsSpace(r) || unicode.In(r, unicode.C, unicode.Z, unicode.Bidi_Control)) {
			t.Errorf("%U is visible", r)
		}
	}
}

func TestTheSpellingIsTheCodePoint(t *testing.T) {
	for r, want := range map[rune]string{0: `\u{0}`, 0x202e: `\u{202e}`, 0xe0041: `\u{e0041}`} {
		if got := Spell(r); got != want {
			t.Errorf("%U is %s", r, got)
		}
	}
}
