package canonical

import (
	"errors"
	"strings"
	"testing"
)

// nested returns value inside n arrays, so that it stands at depth n.
func nested(n int, value string) string {
	return strings.Repeat("[", n) + value + strings.Repeat("]", n)
}

// fault asks that err is an *Error with this rule, path and offset; offset -2
// stands for any.
func fault(t *testing.T, err error, rule Rule, path string, offset int) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("error is %v, want rule %q", err, rule)
	}
	if e.Rule != rule || e.Path != path || offset != -2 && e.Offset != offset {
		t.Errorf("error has rule %q, path %q, offset %d; want %q, %q, %d", e.Rule, e.Path, e.Offset, rule, path, offset)
	}
}

func TestParseStrictRefuses(t *testing.T) {
	for _, c := range []struct {
		name, src string
		rule      Rule
		path      string
		offset    int
	}{
		{"a name that occurs twice", `{"a":1,"a":2}`, Duplicate, ".a", 12},
		{"a name that occurs twice with equal values", `{"a":1,"b":2,"a":1}`, Duplicate, ".a", 18},
		{"a name that occurs twice deep inside", `{"x":[0,{"y":{"a":1,"b":{},"a":[]}}]}`, Duplicate, ".x[1].y.a", 33},
		{"a name that occurs twice through an escape", `{"a":1,"\u0061":2}`, Duplicate, ".a", 17},
		{"a name that occurs twice through two escapes", `{"\/":1,"\u002F":2}`, Duplicate, `["/"]`, 18},
		{"a name that occurs twice through an escaped pair", `{"😀":1,"\ud83d\uDE00":2}`, Duplicate, `["\ud83d\ude00"]`, 26},
		{"the empty name twice", `{"":1,"":2}`, Duplicate, `[""]`, 10},
		{"a name that occurs twice in an empty-looking object", `[{"a":{},"a":{}}]`, Duplicate, "[0].a", 15},
		{"the second of two objects with a name twice", `[{"a":1},{"a":1,"a":1}]`, Duplicate, "[1].a", 21},

		{"a byte that is no UTF-8", "[\"ab\xffc\"]", UTF8, "", 4},
		{"a byte that is no UTF-8 behind a replacement character", "\"\ufffd\xff\"", UTF8, "", 4},
		{"an overlong slash", "\"\xc0\xaf\"", UTF8, "", 1},
		{"an overlong three-byte form", "\"é\xe0\x80\xaf\"", UTF8, "", 3},
		{"a truncated character before the quote", "\"€\xe2\x82\"", UTF8, "", 4},
		{"a truncated character at the end", "\"\xf0\x9f\x98", UTF8, "", 1},
		{"a lone continuation byte", "{\"\x80\":1}", UTF8, "", 2},
		{"a surrogate in UTF-8", "\"\xed\xa0\x80\"", UTF8, "", 1},
		{"a character above U+10FFFF", "\"\xf4\x90\x80\x80\"", UTF8, "", 1},
		{"bad UTF-8 outside of a string", "[1,\xff]", UTF8, "", 3},
		{"bad UTF-8 before any other fault", "[01,\"\xff\"]", UTF8, "", 5},

		{"a lone high surrogate", `"\ud800"`, Surrogate, "", 1},
		{"a lone low surrogate", `["\udfff"]`, Surrogate, "[0]", 2},
		{"two high surrogates before a low one", `"\ud83d\ud83d\ude00"`, Surrogate, "", 1},
		{"a reversed pair", `"x\ude00\ud83d"`, Surrogate, "", 2},
		{"a high surrogate before another escape", `"\ud83d\n"`, Surrogate, "", 1},
		{"a lone surrogate in a name", `{"a":{"\udc00":1}}`, Surrogate, ".a", 7},

		{"a number that overflows", `{"n":1e309}`, Overflow, ".n", 5},
		{"a negative number that overflows", `-1e400`, Overflow, "", 0},
		{"a number that overflows by its digits", "1" + strings.Repeat("0", 309), Overflow, "", 0},
		{"an exponent of any length", "1e" + strings.Repeat("9", 400), Overflow, "", 0},

		{"a value deeper than the bound", nested(30, "1"), Depth, strings.Repeat("[0]", 30), 30},
		{"an object deeper than the bound", nested(30, "{}"), Depth, strings.Repeat("[0]", 30), 30},
		{"a member deeper than the bound", nested(29, `{"a":null}`), Depth, strings.Repeat("[0]", 29) + ".a", 34},

		{"nothing", "", Syntax, "", 0},
		{"white space alone", " \n", Syntax, "", 2},
		{"a byte order mark", "\ufeff{}", Syntax, "", 0},
		{"two values", "1 2", Syntax, "", 2},
		{"a value and garbage", `{"a":1}x`, Syntax, "", 7},
		{"a value and NUL", "{}\x00", Syntax, "", 2},
		{"a comma too many in an array", `[1,]`, Syntax, "[1]", 3},
		{"a comma too many in an object", `{"a":1,}`, Syntax, "", 7},
		{"a single quote", `{'a':1}`, Syntax, "", 1},
		{"a raw control in a string", "{\"a\":\"b\nc\"}", Syntax, ".a", 7},
		{"a raw NUL in a name", "{\"a\x00\":1}", Syntax, "", 3},
		{"an unknown escape", `["\x41"]`, Syntax, "[0]", 2},
		{"a short escape", `["\u12"]`, Syntax, "[0]", 2},
		{"a string without an end", `["abc`, Syntax, "[0]", 5},
		{"a backslash at the end", `"\`, Syntax, "", 1},
		{"an array without an end", `[1`, Syntax, "", 2},
		{"a wrong bracket", `[1}`, Syntax, "", 2},
		{"a leading zero", `[01]`, Syntax, "", 2},
		{"a plus sign", `+1`, Syntax, "", 0},
		{"a point without digits", `[1.]`, Syntax, "[0]", 1},
		{"a word in capitals", `True`, Syntax, "", 0},
		{"half a word", `tru`, Syntax, "", 0},
		{"NaN", `NaN`, Syntax, "", 0},
		{"a comment", `[1/*x*/]`, Syntax, "", 2},
		{"a form feed between tokens", "[\f1]", Syntax, "[0]", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := ParseStrict([]byte(c.src), 29)
			fault(t, err, c.rule, c.path, c.offset)
			if v.Kind != Null || v.Items != nil || v.Members != nil {
				t.Errorf("a value came with the error: %v", v)
			}
		})
	}
}

func TestParseStrictAcceptsAndGivesTheCanonicalText(t *testing.T) {
	for _, c := range []struct{ name, src, text string }{
		{"one name at several depths", `{"a":{"a":[{"a":1}]}}`, `{"a":{"a":[{"a":1}]}}`},
		{"names that differ by case", `{"a":1,"A":2}`, `{"A":2,"a":1}`},
		{"names that only normalization makes equal", "{\"\u00e9\":1,\"e\u0301\":2}", "{\"e\u0301\":2,\"\u00e9\":1}"},
		{"a surrogate pair", `"\uD83D\uDE00"`, `"😀"`},
		{"a replacement character", "\"\ufffd\\ufffd\"", "\"\ufffd\ufffd\""},
		{"a byte order mark in a string", "\"\ufeff\"", "\"\ufeff\""},
		{"a value at the bound", nested(29, "1"), nested(29, "1")},
		{"an empty array at the bound", nested(29, "[]"), nested(29, "[]")},
		{"white space anywhere", " [ 1 ,\t{ \"a\" : null\r} ]\n", `[1,{"a":null}]`},
		{"a number that vanishes", `1e-400`, `0`},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, err := ParseStrict([]byte(c.src), 29)
			if err != nil {
				t.Fatal(err)
			}
			if text, err := v.Text(); err != nil || string(text) != c.text {
				t.Errorf("text is %q, %v; want %q", text, err, c.text)
			}
		})
	}
}

func TestParseStrictKnowsTheIntegersThatADoubleChanges(t *testing.T) {
	twice := func(literal string) []string { return []string{literal, "-" + literal} }
	for _, literal := range []string{
		"9007199254740993", "9007199254740993.0", "9007199254740993.000e0", "9.007199254740993e15", "90071992547409930e-1",
		"18446744073709551615", "9223372036854775807", "1.8446744073709552e19", "18446744073709552000", "184467440737095516150e-1",
		// Exact in a double, but ECMAScript writes other digits.
		"144115188075855872", "1.44115188075855872e17", "18446744073709551616", "123456789012345680000",
		"144115188075855872.5", // its text would be an integer that is refused
		"123456789000000000000", "123456789e12", "99999999999999999999", "999999999999999999999", "123456789012345678",
		"100000000000000000000000", "100000000000000000000000.0", "100000000000000000000001", "1000000000000000000000001", "12345678901234567890123",
		"1" + strings.Repeat("0", 40),
	} {
		for _, src := range twice(literal) {
			_, err := ParseStrict([]byte(src), 29)
			fault(t, err, Inexact, "", 0)
		}
		_, err := ParseStrict([]byte(`{"a":[0,{"b":`+literal+`}]}`), 29)
		fault(t, err, Inexact, ".a[1].b", 13)
	}
	for _, literal := range []string{
		"0", "0.0", "0e0", "0e99999999999999999999", "0e-99999999999999999999", "1", "1.0", "10", "1.5", "0.1",
		"9007199254740991", "9007199254740992", "9.007199254740992e15", "90071992547409920e-1", "9007199254740994",
		"100000000000000000000", "1e20", "123400000000000000000", "1000000000000000000000", "1000000000000000000000.0",
		"10000000000000000000000", "1" + strings.Repeat("0", 400) + "e-400",
		"1e21", "1e22", "1e23", "6.02214076e23", "1.7976931348623157e308", "1e+100", "100E98",
		"4503599627370496.5", "3.141592653589793", "0.30000000000000004", "1e-7", "5e-324", "1e-400", "1e-99999999999999999999",
		"0." + strings.Repeat("0", 400) + "1", "3.1415926535897932384626433832795",
	} {
		for _, src := range twice(literal) {
			v, err := ParseStrict([]byte(src), 29)
			if err != nil {
				t.Errorf("%.40s is refused: %v", src, err)
				continue
			}
			if _, err := ParseStrict([]byte(v.Str), 29); err != nil {
				t.Errorf("%.40s is accepted, its canonical text %s is not: %v", src, v.Str, err)
			}
		}
	}
}

func TestHostileNestingIsAnErrorAndNothingElse(t *testing.T) {
	readers := []struct {
		name    string
		deepest int
		read    func([]byte) error
	}{
		{"Parse", 10_000, func(src []byte) error { _, err := Parse(src); return err }},
		{"Transform", 32, func(src []byte) error { _, err := Transform(src); return err }},
		{"ParseStrict", 29, func(src []byte) error { _, err := ParseStrict(src, 29); return err }},
		{"ParseStrict without a sensible bound", 10_000, func(src []byte) error { _, err := ParseStrict(src, 1<<40); return err }},
		{"Decode", 32, func(src []byte) error { var target any; return Decode(src, &target) }},
		{"Valid", 32, func(src []byte) error {
			if !Valid(src) {
				return &Error{Rule: Depth}
			}
			return nil
		}},
	}
	name := strings.Repeat("é", 50)
	for _, depth := range []int{29, 30, 32, 33, 10_000, 10_001, 1_000_000} {
		for _, shape := range []struct {
			name, src string
			open      bool
		}{
			{"arrays", nested(depth, "1"), false},
			{"empty arrays", nested(depth+1, ""), false},
			{"objects", strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat("}", depth), false},
			{"long names", strings.Repeat(`[{"`+name+`":`, depth/2) + nested(depth%2, "1") + strings.Repeat("}]", depth/2), false},
			{"arrays without an end", strings.Repeat("[", depth+1), true},
			{"objects without an end", strings.Repeat(`{"a":`, depth+1), true},
		} {
			if depth > 10_001 && !strings.Contains(shape.name, "arrays") {
				continue // many megabytes that say nothing new
			}
			for _, r := range readers {
				err := r.read([]byte(shape.src))
				if bad := shape.open || depth > r.deepest; (err != nil) != bad {
					t.Errorf("%s of %s, %d deep: %v", r.name, shape.name, depth, err)
				}
				var e *Error
				if errors.As(err, &e) && (len(e.Path) > maxPathBytes+len(cutMark) || !shape.open && e.Rule != Depth) {
					t.Errorf("%s of %s, %d deep: rule %q, path of %d bytes", r.name, shape.name, depth, e.Rule, len(e.Path))
				}
			}
		}
	}
}
