package canonical

import (
	"fmt"
	"strings"
	"testing"
)

func TestPathsAreShortAndASCII(t *testing.T) {
	long := strings.Repeat("n", 64)
	for _, c := range []struct{ name, src, path string }{
		{"plain names stand as they are", `{"a_b-C9":{"0":1e999}}`, ".a_b-C9.0"},
		{"other names are JSON strings", `{"a b":{"\"\\":{"\u0000\u007f":{"ü😀":{"a.b":1e999}}}}}`, `["a b"]["\"\\"]["\u0000\u007f"]["\u00fc\ud83d\ude00"]["a.b"]`},
		{"the empty name is a JSON string", `{"":1e999}`, `[""]`},
		{"a name of 64 bytes is whole", `{"` + long + `":1e999}`, "." + long},
		{"a longer name is cut", `{"` + long + `n":1e999}`, `["` + long + `"...]`},
		{"a longer name is cut between characters", `{"` + long[:63] + `é":1e999}`, `["` + long[:63] + `"...]`},
		{"bidirectional and invisible characters are escaped", "{\"a\u202eb\u200b\":1e999}", `["a\u202eb\u200b"]`},
		{"a line feed is escaped", `{"a\n::error::x":1e999}`, `["a\u000a::error::x"]`},
		{"a long path keeps its end", strings.Repeat(`{"`+long+`":`, 3) + "[0,1e999]" + strings.Repeat("}", 3), "..." + "." + long + "." + long + "[1]"},
		{"one wide name may be all the end there is", `{"a":{"` + long + `":{"` + long + `":{"` + strings.Repeat("é", 33) + `":1e999}}}}`, "...." + long + `["` + strings.Repeat(`\u00e9`, 10) + `"...]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParseStrict([]byte(c.src), 29)
			fault(t, err, Overflow, c.path, -2)
			if want := fmt.Sprintf("%s at %s", Overflow, c.path); err.Error() != want {
				t.Errorf("message is %q, want %q", err, want)
			}
		})
	}
}

func TestErrorsNameTheOffsetWhereThereIsNoPath(t *testing.T) {
	for src, want := range map[string]string{
		"[1 2]":     "not valid JSON at byte 3",
		"\"a\xff\"": "invalid UTF-8 at byte 2",
	} {
		if _, err := Parse([]byte(src)); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", src, err, want)
		}
	}
	_, err := Transform([]byte(`[[1e999]]`))
	fault(t, err, Overflow, "[0][0]", -1)
	_, err = Transform([]byte(`1e999`))
	fault(t, err, Overflow, "", -1)
	if err.Error() != string(Overflow) {
		t.Errorf("message is %q", err)
	}
}
