package canonical

import (
	"fmt"
	"strings"
	"testing"
)

func TestEveryControlHasOneEscapeAndIsNeverRaw(t *testing.T) {
	short := map[byte]string{'\b': `\b`, '\t': `\t`, '\n': `\n`, '\f': `\f`, '\r': `\r`}
	for c := range byte(0x20) {
		want := short[c]
		if want == "" {
			want = fmt.Sprintf(`\u%04x`, c)
		}
		for _, spelling := range []string{want, fmt.Sprintf(`\u%04x`, c), fmt.Sprintf(`\u%04X`, c)} {
			text := `"` + spelling + `"`
			if got, err := Transform([]byte(text)); err != nil || string(got) != `"`+want+`"` {
				t.Errorf("Transform(%s) = %s, %v", text, got, err)
			}
			if got := Valid([]byte(text)); got != (spelling == want) {
				t.Errorf("Valid(%s) = %v", text, got)
			}
		}
		if got := string(AppendString([]byte("x"), "a"+string(rune(c))+"b")); got != `x"a`+want+`b"` {
			t.Errorf("AppendString of %#x gives %s", c, got)
		}
		// Raw, wherever it stands among the eight bytes that are looked at at once.
		for before := range 17 {
			for _, after := range []string{"", "b", "ééééé"} {
				text := []byte(`"` + strings.Repeat("a", before) + string(rune(c)) + after + `"`)
				if Valid(text) {
					t.Errorf("Valid(%q) = true", text)
				}
				_, err := Parse(text)
				fault(t, err, Syntax, "", 1+before)
			}
		}
	}
}

func TestEveryOtherCharacterIsItsOwnBytes(t *testing.T) {
	for r := rune(0x20); r <= 0x2100; r++ {
		checkRaw(t, r)
	}
	for _, r := range []rune{0x2fff, 0xd7ff, 0xe000, 0xfdd0, 0xfeff, 0xfffd, 0xfffe, 0xffff, 0x10000, 0x1f600, 0x10ffff} {
		checkRaw(t, r)
	}
}

func checkRaw(t *testing.T, r rune) {
	want := `"` + string(r) + `"`
	if r == '"' || r == '\\' {
		want = `"\` + string(r) + `"`
	}
	escaped := fmt.Sprintf(`"\u%04x"`, r)
	if r > 0xffff {
		units := appendUnits(nil, string(r))
		escaped = fmt.Sprintf(`"\u%04X\u%04x"`, units[0], units[1])
	}
	if got, err := Transform([]byte(escaped)); err != nil || string(got) != want {
		t.Errorf("Transform(%s) = %s, %v; want %s", escaped, got, err, want)
	}
	if !Valid([]byte(want)) || Valid([]byte(escaped)) {
		t.Errorf("Valid is wrong about %s or %s", want, escaped)
	}
	if got := string(AppendString(nil, string(r))); got != want {
		t.Errorf("AppendString gives %s, want %s", got, want)
	}
}

func TestALoneSurrogateKeepsItsLowerCaseEscape(t *testing.T) {
	for _, c := range []struct {
		text string
		want bool
	}{
		{`"\ud800"`, true}, {`"\udbff"`, true}, {`"\udc00"`, true}, {`"\udfff"`, true}, {`"\uDBFF"`, false}, {`"\uDC00"`, false}, {`"\ud83D"`, false},
		{`"\ude00\ud83d"`, true}, {`"\ud83d\ud83d"`, true}, {`"\udc00\udc00"`, true}, {`"\ud83d😀"`, true}, {`"\ud83d \ude00"`, true}, {`"\ud83d\n"`, true},
		{`"\ud83d\ude00"`, false}, {`"\ud83d\ud83d\ude00"`, false}, {`"\ud83d\udE00"`, false},
		{`"\ue000"`, false}, {`"\ud7ff"`, false}, {`"\/"`, false}, {`"/"`, true}, {`"\u002f"`, false}, {`"\u0022"`, false}, {`"\u005c"`, false}, {`"\'"`, false},
		{`"\u"`, false}, {`"\ud8"`, false}, {`"\ud80g"`, false}, {`"\U0001"`, false}, {`"\`, false}, {`"\"`, false}, {`"`, false}, {`""`, true}, {`"a`, false},
	} {
		if got := Valid([]byte(c.text)); got != c.want {
			t.Errorf("Valid(%s) = %v", c.text, got)
		}
		if got, err := Transform([]byte(c.text)); err == nil && (string(got) == c.text) != c.want {
			t.Errorf("Transform(%s) = %s", c.text, got)
		}
	}
}

func TestAStringEndsAtItsFirstPlainQuoteWhereverThatStands(t *testing.T) {
	for n := range 40 {
		for _, filler := range []string{"a", "é", "€", "😀", `\"`, `\\`} {
			text := `"` + strings.Repeat(filler, n) + `"`
			for _, tail := range []string{"", `"`, `\`, ":1,\"b\":2}", "\x00"} {
				if got := Scan([]byte(text+tail), 0, 0); got != len(text) {
					t.Fatalf("Scan(%q) = %d, want %d", text+tail, got, len(text))
				}
			}
			if got := Scan([]byte(text[:len(text)-1]), 0, 0); got != -1 {
				t.Fatalf("Scan(%q) = %d", text[:len(text)-1], got)
			}
		}
	}
}

func TestScanFindsNothingOutsideOfTheTextOrBelowTheBound(t *testing.T) {
	text := []byte(`[[1]]`)
	for _, c := range []struct{ i, depth, want int }{
		{0, 0, 5}, {1, 0, 4}, {2, 0, 3}, {3, 0, -1}, {4, 0, -1}, {5, 0, -1}, {6, 0, -1}, {-1, 0, -1}, {1 << 40, 0, -1},
		{0, 30, 5}, {0, 31, -1}, {1, 31, 4}, {2, 32, 3}, {2, 33, -1},
	} {
		if got := Scan(text, c.i, c.depth); got != c.want {
			t.Errorf("Scan at %d, depth %d, gives %d, want %d", c.i, c.depth, got, c.want)
		}
	}
}
