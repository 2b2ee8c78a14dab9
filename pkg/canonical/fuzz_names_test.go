package canonical

import (
	"slices"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

// stringOfUnits makes a string in the encoding of Value of any code units.
func stringOfUnits(data []byte) (string, []uint16) {
	var units []uint16
	for i := 0; i+1 < len(data); i += 2 {
		units = append(units, uint16(data[i])<<8|uint16(data[i+1]))
	}
	var s []byte
	for i := 0; i < len(units); i++ {
		r := rune(units[i])
		if i+1 < len(units) {
			if pair := utf16.DecodeRune(r, rune(units[i+1])); pair != utf8.RuneError {
				s = utf8.AppendRune(s, pair)
				i++
				continue
			}
		}
		if utf16.IsSurrogate(r) {
			s = append(s, 0xe0|byte(r>>12), 0x80|byte(r>>6&0x3f), 0x80|byte(r&0x3f))
		} else {
			s = utf8.AppendRune(s, r)
		}
	}
	return string(s), units
}

func FuzzNamesHaveOneTotalOrder(f *testing.F) {
	bytesOf := func(name string) (data []byte) {
		for _, unit := range unitsOf(name) {
			data = append(data, byte(unit>>8), byte(unit))
		}
		return data
	}
	for i := range orderedNames {
		at := func(j int) []byte { return bytesOf(orderedNames[(i+j)%len(orderedNames)]) }
		f.Add(at(0), at(1), at(7))
	}
	f.Fuzz(func(t *testing.T, x, y, z []byte) {
		names, units := make([]string, 3), make([][]uint16, 3)
		for i, data := range [][]byte{x, y, z} {
			names[i], units[i] = stringOfUnits(data)
			if Units(names[i]) != len(units[i]) {
				t.Fatalf("Units(%q) = %d, want %d", names[i], Units(names[i]), len(units[i]))
			}
			quoted := AppendString(nil, names[i])
			if v, err := Parse(quoted); err != nil || v.Str != names[i] || !Valid(quoted) {
				t.Fatalf("%q is written as %s and read as %q, %v", names[i], quoted, v.Str, err)
			}
		}
		for i, a := range names {
			for j, b := range names {
				if got, want := CompareStrings(a, b), slices.Compare(units[i], units[j]); got != want {
					t.Fatalf("CompareStrings(%q, %q) = %d, want %d", a, b, got, want)
				}
				ab := CompareNames(a, b)
				if ab != -CompareNames(b, a) || (ab == 0) != (a == b) {
					t.Fatalf("CompareNames(%q, %q) = %d, the reverse %d", a, b, ab, CompareNames(b, a))
				}
				for _, c := range names {
					if ab < 0 && CompareNames(b, c) < 0 && CompareNames(a, c) >= 0 {
						t.Fatalf("%q < %q < %q, but not the ends", a, b, c)
					}
				}
				object := slices.Concat([]byte("{"), AppendString(nil, a), []byte(":0,"), AppendString(nil, b), []byte(":0}"))
				if Valid(object) != (ab < 0) {
					t.Fatalf("Valid(%s) = %v", object, Valid(object))
				}
			}
		}
	})
}
