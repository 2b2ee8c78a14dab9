package githubtest

import (
	"fmt"
	"strings"
	"testing"
)

func TestADocumentIsReadWhole(t *testing.T) {
	values := object{"n": float64(3), "s": nil}
	op, err := parseQuery(`# a comment
		query Name($n: Int!, $s: String) { a: x(k: $n, l: "t", m: [1) }`, values)
	if err == nil {
		t.Errorf("a list is not served: %+v", op)
	}
	op, err = parseQuery("# a comment\nquery Name($n: Int!, $s: String) { a: x(k: $n, l: \"t\", m: -1, o: null, p: true, q: $s) { y } z }", values)
	if got, want := fmt.Sprint(op, err), "{query map[n:Int! s:String] [{a x map[k:3 l:t m:-1 o:<nil> p:true q:<nil>] [{y y map[] []}]} {z z map[] []}]} <nil>"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for _, text := range []string{"", "{", "{}", "x", "query", "query($)", "query($a:) {x}", "{x(a:)}", "{x(a: $b)}", "{x} y", "mutation($n: Int!) {x", "{x(a: \"\\n\")}", "{ @ }", "query($q: Int!) { x }"} {
		if op, err := parseQuery(text, nil); err == nil {
			t.Errorf("%q: %+v", text, op)
		}
	}
}

func FuzzParseQuery(f *testing.F) {
	for _, seed := range []string{"{x}", "query Q($a: [Int!]!, $b: B) { x: y(a: $a) { z } }", "mutation($i: I!) { m(input: $i) { c { oid } } }", "{x(a: 1, b: \"c\")}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		op, err := parseQuery(text, object{"a": "b"})
		if err == nil && (len(op.fields) == 0 || strings.TrimSpace(text) == "") {
			t.Fatalf("%q: %+v", text, op)
		}
	})
}
