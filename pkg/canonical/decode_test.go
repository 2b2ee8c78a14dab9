package canonical

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// note is shaped like what strangers send: every kind of field once.
type note struct {
	ID    string                    `json:"id"`
	Type  string                    `json:"type"`
	Kind  string                    `json:"kind"`
	Sha   string                    `json:"sha"`
	N     int                       `json:"n"`
	Small int8                      `json:"small"`
	Big   uint64                    `json:"big"`
	Long  int64                     `json:"long"`
	F     float64                   `json:"f"`
	Short float32                   `json:"short"`
	Yes   bool                      `json:"yes"`
	List  []string                  `json:"list"`
	Pair  [2]int                    `json:"pair"`
	Data  map[string]string         `json:"data"`
	Deep  map[string]map[string]int `json:"deep"`
	ByKey map[int]string            `json:"by_key"`
	Sub   struct {
		ID string `json:"id"`
	} `json:"sub"`
	Ptr  *int            `json:"ptr"`
	Any  any             `json:"any"`
	Raw  jsontext.Value  `json:"raw"`
	Old  json.RawMessage `json:"old"`
	When time.Time       `json:"when"`
	Text onlyText        `json:"text"`
}

// onlyText reads itself from a JSON string.
type onlyText struct{ s string }

func (o *onlyText) UnmarshalText(b []byte) error { o.s = string(b); return nil }

func TestDecodeRefuses(t *testing.T) {
	const kelvin, longS = "\u212a", "\u017f"
	for _, c := range []struct {
		name, src string
		rule      Rule
		path      string
	}{
		{"a name twice", `{"id":"r1","type":"note","type":"tombstone"}`, Duplicate, ".type"},
		{"a name twice through an escape", `{"id":"r1","type":"note","\u0074ype":"tombstone"}`, Duplicate, ".type"},
		{"a second spelling by case", `{"id":"r1","type":"note","Type":"tombstone"}`, Unknown, ".Type"},
		{"a first spelling by case", `{"ID":"r1"}`, Unknown, ".ID"},
		{"a Kelvin sign for a k", `{"id":"r1","kind":"note","` + kelvin + `ind":"tombstone"}`, Unknown, `["\u212aind"]`},
		{"a Kelvin sign for a k, escaped", `{"\u212aind":"tombstone"}`, Unknown, `["\u212aind"]`},
		{"a long s for an s", `{"sha":"a","` + longS + `ha":"b"}`, Unknown, `["\u017fha"]`},
		{"a long s in a nested name", `{"sub":{"id":"a","id` + longS + `":"b"}}`, Unknown, `.sub["id\u017f"]`},
		{"a name with a NUL behind", `{"id":"r1","id\u0000":"r2"}`, Unknown, `["id\u0000"]`},
		{"a typed map twice", `{"id":"r1","data":{"BAD KEY":"x"},"data":{}}`, Duplicate, ".data"},
		{"a key of a typed map twice", `{"data":{"a":"x","\u0061":"y"}}`, Duplicate, ".data.a"},
		{"a key of a nested typed map twice", `{"deep":{"a":{"b":1,"c":2,"b":1}}}`, Duplicate, ".deep.a.b"},
		{"two spellings of one integer key", `{"by_key":{"0":"a","-0":"b"}}`, Duplicate, ".by_key.-0"},
		{"a name twice under an interface", `{"any":[{"x":1,"x":1}]}`, Duplicate, ".any[0].x"},
		{"a name twice in raw JSON", `{"raw":{"x":1,"x":1}}`, Duplicate, ".raw.x"},
		{"a surrogate in raw JSON", `{"raw":["\ud800"]}`, Surrogate, ".raw[0]"},
		{"an overflow in raw JSON", `{"raw":{"x":1e999}}`, Overflow, ".raw.x"},
		{"an unknown name", `{"id":"r1","extra":1}`, Unknown, ".extra"},
		{"an unknown name in a struct", `{"sub":{"id":"","extra":{}}}`, Unknown, ".sub.extra"},
		{"the Go name of a field", `{"ByKey":{}}`, Unknown, ".ByKey"},
		{"a name with a slash and a tilde", `{"a/b~c":1}`, Unknown, `["a/b~c"]`},

		{"a number for a string", `{"id":1}`, Mismatch, ".id"},
		{"a string for a number", `{"n":"1"}`, Mismatch, ".n"},
		{"a string for a bool", `{"yes":"true"}`, Mismatch, ".yes"},
		{"a number for a bool", `{"yes":1}`, Mismatch, ".yes"},
		{"an object for a list", `{"list":{}}`, Mismatch, ".list"},
		{"an array for an object", `{"sub":[]}`, Mismatch, ".sub"},
		{"an array for a map", `{"data":[]}`, Mismatch, ".data"},
		{"an array for the whole", `[]`, Mismatch, ""},
		{"a string for the whole", `"x"`, Mismatch, ""},
		{"a wrong element of a list", `{"list":["a",["b"]]}`, Mismatch, ".list[1]"},
		{"a wrong value of a map", `{"data":{"0":1}}`, Mismatch, ".data.0"},
		{"an array that is too short", `{"pair":[1]}`, Mismatch, ".pair"},
		{"an array that is too long", `{"pair":[1,2,3]}`, Mismatch, ".pair"},
		{"a key that is no integer", `{"by_key":{"x":"a"}}`, Mismatch, ".by_key.x"},

		{"1.0 for an integer", `{"n":1.0}`, Mismatch, ".n"},
		{"1e2 for an integer", `{"n":1e2}`, Mismatch, ".n"},
		{"1.5 for an integer", `{"n":1.5}`, Mismatch, ".n"},
		{"128 for an int8", `{"small":128}`, Mismatch, ".small"},
		{"-129 for an int8", `{"small":-129}`, Mismatch, ".small"},
		{"2^63 for an int64", `{"long":9223372036854775808}`, Mismatch, ".long"},
		{"2^64 for a uint64", `{"big":18446744073709551616}`, Mismatch, ".big"},
		{"-1 for a uint64", `{"big":-1}`, Mismatch, ".big"},
		{"1e39 for a float32", `{"short":1e39}`, Mismatch, ".short"},
		{"2^53+1 for a float64", `{"f":9007199254740993}`, Inexact, ".f"},
		{"2^53+1 for a float32", `{"short":9007199254740993}`, Inexact, ".short"},
		{"2^53+1 under an interface", `{"any":[{"x": 9007199254740993}]}`, Inexact, ".any[0].x"},

		{"null for the whole", `null`, Mismatch, ""},
		{"null for a string", `{"id":null}`, Mismatch, ".id"},
		{"null for an integer", `{"n":null}`, Mismatch, ".n"},
		{"null for a float", `{"f":null}`, Mismatch, ".f"},
		{"null for a bool", `{"yes":null}`, Mismatch, ".yes"},
		{"null for a list", `{"list":null}`, Mismatch, ".list"},
		{"null for an array", `{"pair":null}`, Mismatch, ".pair"},
		{"null for a map", `{"data":null}`, Mismatch, ".data"},
		{"null for a struct", `{"sub":null}`, Mismatch, ".sub"},
		{"null for a time", `{"when":null}`, Mismatch, ".when"},
		{"null for a text", `{"text":null}`, Mismatch, ".text"},
		{"null in a list of strings", `{"list":["a",null]}`, Mismatch, ".list[1]"},
		{"null in a map of strings", `{"data":{"a": null}}`, Mismatch, ".data.a"},

		{"nothing", ``, Syntax, ""},
		{"white space alone", "\n", Syntax, ""},
		{"a byte order mark", "\ufeff{}", Syntax, ""},
		{"two values", `{}{}`, Syntax, ""},
		{"two values on two lines", "{}\n{}", Syntax, ""},
		{"trailing garbage", `{"id":"r1"}x`, Syntax, ""},
		{"a comma at the end", `{"id":"r1",}`, Syntax, ""},
		{"invalid UTF-8", "{\"id\":\"\xff\"}", UTF8, ""},
		{"invalid UTF-8 in an unknown name", "{\"\xff\":1}", UTF8, ""},
		{"33 levels", `{"raw":` + nested(32, "1") + `}`, Depth, ".raw" + strings.Repeat("[0]", 32)},
	} {
		t.Run(c.name, func(t *testing.T) {
			fault(t, Decode([]byte(c.src), &note{}), c.rule, c.path, -2)
			// What is wrong with the text is so whoever reads it.
			if c.rule == Unknown {
				var n note
				if err := Decode([]byte(c.src), &n, AllowUnknown); err != nil {
					t.Errorf("with AllowUnknown: %v", err)
				}
				if n.Type == "tombstone" || n.Kind == "tombstone" || n.Sha == "b" || n.ID == "r2" || n.ByKey != nil {
					t.Errorf("with AllowUnknown the name set a field: %+v", n)
				}
				return
			}
			fault(t, Decode([]byte(c.src), &note{}, AllowUnknown), c.rule, c.path, -2)
		})
	}
}

func TestAllowUnknownStillRefusesWhatIsWrongInsideAnUnknownMember(t *testing.T) {
	for src, want := range map[string]struct {
		rule Rule
		path string
	}{
		`{"x":{"a":1,"a":1}}`:                   {Duplicate, ".x.a"},
		`{"x":1,"\u0078":2}`:                    {Duplicate, ".x"},
		`{"x":["\ud800"]}`:                      {Surrogate, ".x[0]"},
		`{"x":1e999}`:                           {Overflow, ".x"},
		`{"x":` + nested(32, "1") + `}`:         {Depth, ".x" + strings.Repeat("[0]", 32)},
		`{"sub":{"x":01}}`:                      {Syntax, ".sub"},
		`{"Type":1,"type":"a","Type":"b"}`:      {Duplicate, ".Type"},
		`{"type":"a","TYPE":1,"TYP\u0045":"b"}`: {Duplicate, ".TYPE"},
	} {
		fault(t, Decode([]byte(src), &note{}, AllowUnknown), want.rule, want.path, -2)
	}
}

func TestDecodeFillsEveryKindOfField(t *testing.T) {
	one := 1
	for _, c := range []struct {
		name, src string
		want      note
	}{
		{"an empty object", `{}`, note{}},
		{"white space and escapes", " {\"\\u0069d\" :\t\"\\u00e9\\/\" }\r\n", note{ID: "é/"}},
		{"the largest integers", `{"n":-0,"small":-128,"big":18446744073709551615,"long":-9223372036854775808}`, note{Small: -128, Big: 1<<64 - 1, Long: -1 << 63}},
		{"an integer that a double changes, in an int64", `{"long":9007199254740993}`, note{Long: 9007199254740993}},
		{"floats", `{"f":1,"short":1.5}`, note{F: 1, Short: 1.5}},
		{"a float of many digits", `{"f":9007199254740992}`, note{F: 9007199254740992}},
		{"an array", `{"pair":[1,2]}`, note{Pair: [2]int{1, 2}}},
		{"empty containers", `{"list":[],"data":{}}`, note{List: []string{}, Data: map[string]string{}}},
		{"maps whose keys are no Go names", `{"data":{"BAD KEY":"x","":"y"},"by_key":{"-1":"a"}}`, note{Data: map[string]string{"BAD KEY": "x", "": "y"}, ByKey: map[int]string{-1: "a"}}},
		{"null for a pointer and an interface", `{"ptr":null,"any":null}`, note{}},
		{"a value for a pointer", `{"ptr":1}`, note{Ptr: &one}},
		{"null under an interface", `{"any":[null]}`, note{Any: []any{nil}}},
		{"null in raw JSON", `{"raw":null,"old":null}`, note{Raw: jsontext.Value("null"), Old: json.RawMessage("null")}},
		{"raw JSON as it was sent", `{"raw":{"b": 9007199254740993, "a":1.0}}`, note{Raw: jsontext.Value(`{"b": 9007199254740993, "a":1.0}`)}},
		{"a text", `{"text":"x"}`, note{Text: onlyText{"x"}}},
		{"an interface", `{"any":{"a":[1,1.5,"x",true,1e21]}}`, note{Any: map[string]any{"a": []any{1.0, 1.5, "x", true, 1e21}}}},
		{"32 levels", `{"any":` + nested(31, `"x"`) + `}`, note{Any: deepAny(31)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got note
			if err := Decode([]byte(c.src), &got); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// deepAny returns "x" inside n slices.
func deepAny(n int) any {
	if n == 0 {
		return "x"
	}
	return []any{deepAny(n - 1)}
}

func TestDecodeRefusesATargetThatItCannotFill(t *testing.T) {
	for _, target := range []any{nil, note{}, (*note)(nil)} {
		fault(t, Decode([]byte(`{}`), target), Mismatch, "", -2)
	}
}

func TestNoErrorHoldsAValueOfTheText(t *testing.T) {
	const secret = "s3cret"
	for _, src := range []string{
		`{"id":["s3cret"]}`, `{"n":"s3cret"}`, `{"pair":["s3cret"]}`, `{"when":"s3cret"}`, `{"list":"s3cret"}`, `"s3cret"`, `s3cret`,
		`{"id":"s3cret`, `{"id":"s3cret\x"}`, `{"id":"s3cret\ud800"}`, "{\"id\":\"s3cret\xff\"}", `{"id":"s3cret","id":"s3cret"}`,
		`{"x":"s3cret"}`, `{"sub":{"x":"s3cret"}}`, `{"any":["s3cret",01]}`, `{"id":"s3cret"}s3cret`, `{"sub":"s3cret"}`,
	} {
		err := Decode([]byte(src), &note{})
		if err == nil {
			t.Errorf("%s is accepted", src)
		} else if strings.Contains(err.Error(), secret) {
			t.Errorf("%s: the message is %q", src, err)
		}
		if _, err := ParseStrict([]byte(src), 29); err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("%s: the message is %q", src, err)
		}
	}
	for src, digits := range map[string]string{`{"n":1234567.5}`: "1234567", `{"f":9007199254740993}`: "9007199254740993", `{"small":1234567}`: "1234567", `{"f":1234567e999}`: "1234567"} {
		if err := Decode([]byte(src), &note{}); err == nil || strings.Contains(err.Error(), digits) {
			t.Errorf("%s: the message is %q", src, err)
		}
	}
}
