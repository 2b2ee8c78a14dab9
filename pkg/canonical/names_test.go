package canonical

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

// unitsOf returns the UTF-16 code units of a string in the encoding of Value. It
// is the plain way, over runes.
func unitsOf(s string) []uint16 {
	var units []uint16
	for len(s) > 0 {
		if r, size := utf8.DecodeRuneInString(s); r != utf8.RuneError || size > 1 {
			units = utf16.AppendRune(units, r)
			s = s[size:]
			continue
		}
		units = append(units, uint16(s[0]&0xf)<<12|uint16(s[1]&0x3f)<<6|uint16(s[2]&0x3f))
		s = s[3:]
	}
	return units
}

// compareAsSpecified orders names by the sentences of the package comment.
func compareAsSpecified(a, b string) int {
	index := func(name string) (uint64, bool) {
		n, err := strconv.ParseUint(name, 10, 64)
		return n, err == nil && n <= 4294967294 && strconv.FormatUint(n, 10) == name
	}
	an, ai := index(a)
	bn, bi := index(b)
	switch {
	case ai && bi:
		return cmp.Compare(an, bn)
	case ai:
		return -1
	case bi:
		return 1
	}
	return slices.Compare(unitsOf(a), unitsOf(b))
}

// orderedNames stand in the order of canonical text.
var orderedNames = []string{
	"0", "1", "2", "9", "10", "11", "99", "100", "999999999", "1000000000", "4294967293", "4294967294", // indexes
	"", "\x00", "\x00\x00", "\x1f", " ", " 1", "!", "\"", "+1", "-1", "/", "00", "00000000000", "01", "1 ", "1.0", "10000000000", "1a", "1e1",
	"4294967295", "4294967296", "9007199254740993", "99999999999", ":", "A", "\\", "_", "a", "a0", "a1", "aa", "b", "id", "id\x00", "id1", "~",
	"\x7f", "\u0080", "é", "é1", "\u07ff", "\u0800", "€", "\ud7ff",
	"\xed\xa0\x80", "\xed\xa0\x80a", "\xed\xa0\x80\ud7ff", // a lone U+D800, then what is no low surrogate
	"\U00010000", "\U00010000a", "\U000103ff", "\xed\xa0\x80\ue000", // U+10000 starts with unit D800 as well
	"\xed\xa0\xbd", "\xed\xa0\xbd!", "😀", "😀!", "😁", "\U0010ffff",
	"\xed\xaf\xbf\ue000", "\xed\xb0\x80", "\xed\xbf\xbf", // U+DBFF, U+DC00 and U+DFFF alone
	"\ue000", "\ufeff", "\ufffd", "\uffff", "\uffffa",
}

func TestNamesHaveTheOrderOfTheReference(t *testing.T) {
	for i, a := range orderedNames {
		for j, b := range orderedNames {
			want := cmp.Compare(i, j)
			if got := CompareNames(a, b); got != want {
				t.Errorf("CompareNames(%q, %q) = %d, want %d", a, b, got, want)
			}
			if got := compareAsSpecified(a, b); got != want {
				t.Errorf("the list itself is wrong: %q, %q", a, b)
			}
			if got, want := CompareStrings(a, b), slices.Compare(unitsOf(a), unitsOf(b)); got != want {
				t.Errorf("CompareStrings(%q, %q) = %d, want %d", a, b, got, want)
			}
			object := slices.Concat([]byte(`{`), AppendString(nil, a), []byte(`:1,`), AppendString(nil, b), []byte(`:1}`))
			if got := Valid(object); got != (want < 0) {
				t.Errorf("Valid(%s) = %v", object, got)
			}
		}
	}
}

func TestIndexesEndAt4294967294(t *testing.T) {
	for name, want := range map[string]bool{
		"0": true, "7": true, "10": true, "4294967294": true, "4294967295": false, "4294967300": false, "5000000000": false,
		"42949672940": false, "": false, "00": false, "01": false, "-0": false, "-1": false, "+1": false, "1.0": false, "1e1": false,
		" 1": false, "1 ": false, "a": false, "1a": false, "１": false, "١": false,
	} {
		if got := isIndex(name); got != want {
			t.Errorf("isIndex(%q) = %v", name, got)
		}
	}
}

func TestUnitsCountsWhatECMAScriptCallsLength(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "é€": 2, "😀": 2, "a😀b": 4, "\xed\xa0\xbd": 1, "\xed\xa0\xbdx\xed\xb8\x80": 3, "\ufffd": 1, "\x00": 1} {
		if got := Units(s); got != want {
			t.Errorf("Units(%q) = %d, want %d", s, got, want)
		}
	}
}

// randomName draws names that are often equal up to a point that matters.
func randomName(rng *rand.Rand) string {
	pieces := []string{"0", "1", "4294967294", "a", "_", "\"", "\n", "é", "€", "\ud7ff", "\ue000", "\uffff", "😀", "😁", "\U00010000", "\xed\xa0\xbd", "\xed\xb8\x80"}
	var name []byte
	for range rng.IntN(5) {
		piece := pieces[rng.IntN(len(pieces))]
		// A high surrogate before a low one would be a pair, hence a character.
		if n := len(name); n >= 3 && name[n-3] == 0xed && name[n-2] == 0xa0 && piece[0] == 0xed {
			continue
		}
		name = append(name, piece...)
	}
	return string(name)
}

func TestTheOrderOfNamesIsThatOfTheSpecificationForRandomNames(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 11))
	names := make([]string, 400)
	for i := range names {
		names[i] = randomName(rng)
	}
	for _, a := range names {
		for _, b := range names {
			if got, want := CompareNames(a, b), compareAsSpecified(a, b); got != want {
				t.Fatalf("CompareNames(%q, %q) = %d, want %d", a, b, got, want)
			}
			if got, want := CompareStrings(a, b), slices.Compare(unitsOf(a), unitsOf(b)); got != want {
				t.Fatalf("CompareStrings(%q, %q) = %d, want %d", a, b, got, want)
			}
			if (CompareNames(a, b) == 0) != (a == b) {
				t.Fatalf("%q and %q compare as equal", a, b)
			}
		}
	}
}

func TestObjectsOfRandomNamesAreWrittenInOrderWhateverTheirOrderWas(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	for range 2000 {
		values := map[string]int{}
		src := []byte("{")
		for i := range rng.IntN(30) {
			name := randomName(rng)
			values[name] = i // the last counts
			if i > 0 {
				src = append(src, ',')
			}
			src = strconv.AppendInt(append(AppendString(src, name), ':'), int64(i), 10)
		}
		src = append(src, '}')
		names := make([]string, 0, len(values))
		for name := range values {
			names = append(names, name)
		}
		slices.SortFunc(names, compareAsSpecified)
		want := []byte("{")
		for i, name := range names {
			if i > 0 {
				want = append(want, ',')
			}
			want = strconv.AppendInt(append(AppendString(want, name), ':'), int64(values[name]), 10)
		}
		want = append(want, '}')
		got, err := Transform(src)
		if err != nil || string(got) != string(want) {
			t.Fatalf("Transform(%s) = %s, %v; want %s", src, got, err, want)
		}
		if !Valid(want) {
			t.Fatalf("Valid(%s) = false", want)
		}
		if string(src) != string(want) && Valid(src) {
			t.Fatalf("Valid(%s) = true", src)
		}
	}
}
