package canonical

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// seedTexts adds the inputs and texts of the reference, and what no vector has.
func seedTexts(f *testing.F, add func(text string)) {
	var v canonicalVectors
	vectors(f, "canonical.json", &v)
	if len(v.Cases) == 0 || len(v.Numbers) == 0 || len(v.Keysets) == 0 {
		f.Fatal("no seeds")
	}
	for _, c := range v.Cases {
		if len(c.Input) < 1000 {
			add(c.Input)
			add(c.Canonical)
		}
	}
	for _, c := range v.Numbers[:50] {
		add(c.Input)
		add(c.Canonical)
	}
	for _, c := range v.Keysets {
		add(c.Input)
		add(c.Canonical)
	}
	for _, text := range []string{
		`{"":1,"0":[true,false,null],"a":{"\n":"\u0000\ud800"}}`, `{"a":1,"a":{"a":1,"\u0061":2}}`, "\ufeff{}", "\"\xed\xa0\x80\"", "[\"\xff\"]",
		nested(32, `"x"`), nested(33, ""), `[9007199254740993,1.8446744073709552e19,1e21,-0]`, `["\ud83d\ude00😀"]`, `{"é":1,"😀":2,"\ue000":3}`,
		`{"id":"a","n":1,"list":["b"],"sub":{"id":"c"},"raw":[1.0],"any":{"x":1}}`, `{"ID":null,"n":1.0}`, `[0.30000000000000004,1e-7,123456789012345680000]`,
	} {
		add(text)
	}
}

// checkError asks that an error can be shown anywhere.
func checkError(t *testing.T, err error) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("error of type %T", err)
	}
	if len(e.Path) > maxPathBytes+len(cutMark) {
		t.Fatalf("path of %d bytes", len(e.Path))
	}
	if i := strings.IndexFunc(e.Error(), func(r rune) bool { return r < 0x20 || r > 0x7e }); i >= 0 {
		t.Fatalf("message has an unprintable character: %q", e)
	}
}

func FuzzValidMeansTransformChangesNothing(f *testing.F) {
	seedTexts(f, func(text string) { f.Add([]byte(text)) })
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := Transform(text)
		if err != nil {
			checkError(t, err)
			if Valid(text) {
				t.Fatalf("Valid accepts what Transform refuses: %v", err)
			}
			return
		}
		if Valid(text) != bytes.Equal(got, text) {
			t.Fatalf("Valid is %v, but Transform gives %q", Valid(text), got)
		}
		if !Valid(got) {
			t.Fatalf("Valid refuses what Transform gives: %q", got)
		}
		if again, err := Transform(got); err != nil || !bytes.Equal(again, got) {
			t.Fatalf("Transform gives %q, and of that %q, %v", got, again, err)
		}
		if !json.Valid(text) {
			t.Fatal("accepted what is not JSON")
		}
	})
}

func FuzzScanAgreesWithValid(f *testing.F) {
	seedTexts(f, func(text string) { f.Add([]byte("[1,"+text+"]"), 3, 1) })
	f.Fuzz(func(t *testing.T, text []byte, i, depth int) {
		end := Scan(text, i, depth)
		if end > len(text) || end >= 0 && end <= i {
			t.Fatalf("end is %d", end)
		}
		if !utf8.Valid(text) || depth < 0 {
			return
		}
		if end >= 0 {
			if !Valid(text[i:end]) || Scan(text, i, 0) != end {
				t.Fatalf("Scan accepts %q, Valid does not", text[i:end])
			}
			if depth > MaxDepth || !Valid([]byte(nested(depth, string(text[i:end])))) {
				t.Fatalf("%q is not canonical at depth %d", text[i:end], depth)
			}
		}
		// The same value elsewhere, before whatever may follow a value.
		if depth > MaxDepth {
			return
		}
		valid := Valid(text) && Valid([]byte(nested(depth, string(text))))
		for _, tail := range []string{"", ",", "]", "}", "\n", " 1"} {
			if got := Scan([]byte("é"+string(text)+tail), 2, depth) == 2+len(text); valid && !got {
				t.Fatalf("Scan does not find the end of %q before %q", text, tail)
			}
		}
	})
}

func FuzzParseStrictAcceptsOnlyWhatTransformAccepts(f *testing.F) {
	seedTexts(f, func(text string) { f.Add([]byte(text), 29) })
	f.Fuzz(func(t *testing.T, src []byte, maxDepth int) {
		if maxDepth > MaxDepth {
			maxDepth = MaxDepth
		}
		v, err := ParseStrict(src, maxDepth)
		if err != nil {
			checkError(t, err)
			return
		}
		text, err := v.Text()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Transform(src); err != nil || !bytes.Equal(got, text) {
			t.Fatalf("text is %q, Transform gives %q, %v", text, got, err)
		}
		if !utf8.ValidString(stringsIn(v)) {
			t.Fatalf("a lone surrogate came through: %q", text)
		}
		if again, err := ParseStrict(text, maxDepth); err != nil || !reflect.DeepEqual(again, v) {
			t.Fatalf("the canonical text %q is read as another value: %v", text, err)
		}
	})
}

// stringsIn joins all strings and names of v.
func stringsIn(v Value) string {
	all := v.Str
	for _, item := range v.Items {
		all += stringsIn(item)
	}
	for _, m := range v.Members {
		all += m.Name + stringsIn(m.Value)
	}
	return all
}

func FuzzDecodeAcceptsWhatParseStrictAccepts(f *testing.F) {
	seedTexts(f, func(text string) { f.Add([]byte(text)) })
	f.Fuzz(func(t *testing.T, src []byte) {
		var a any
		v, strictErr := ParseStrict(src, MaxDepth)
		err := Decode(src, &a)
		if (err == nil) != (strictErr == nil) {
			t.Fatalf("Decode: %v, ParseStrict: %v", err, strictErr)
		}
		if err != nil {
			checkError(t, err)
		} else if text, err := json.Marshal(a); err != nil {
			t.Fatal(err)
		} else if got, err := Transform(text); err != nil || !bytes.Equal(got, mustText(t, v)) {
			t.Fatalf("Decode read %q, ParseStrict %q (%v)", got, mustText(t, v), err)
		}
		var exact, loose note
		if err := Decode(src, &exact); err != nil {
			checkError(t, err)
			if err := Decode(src, &loose, AllowUnknown); err != nil {
				checkError(t, err)
			}
		} else if err := Decode(src, &loose, AllowUnknown); err != nil || !reflect.DeepEqual(exact, loose) {
			t.Fatalf("AllowUnknown changes the value: %v, %+v, %+v", err, exact, loose)
		}
	})
}

func mustText(t *testing.T, v Value) []byte {
	text, err := v.Text()
	if err != nil {
		t.Fatal(err)
	}
	return text
}
