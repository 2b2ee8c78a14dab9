package canonical_test

import (
	"fmt"

	"github.com/repo-memory/ledger/pkg/canonical"
)

func ExampleTransform() {
	text, err := canonical.Transform([]byte(`{"b":1.50,"a":"\u00e9","10":[ ],"9":-0}`))
	fmt.Println(string(text), err)
	fmt.Println(canonical.Sum(text))
	// Output:
	// {"9":0,"10":[],"a":"é","b":1.5} <nil>
	// sha256:5178691c9bcd38fe972c22259037bad39b31d880e5b8d833fdac27b2ec7ce6c9
}

func ExampleDecode() {
	var request struct {
		Type  string `json:"type"`
		Limit int    `json:"limit"`
	}
	for _, src := range []string{`{"type":"note","limit":5}`, `{"type":"note","Type":"other"}`, `{"limit":1.0}`, `{"type":null}`} {
		fmt.Println(canonical.Decode([]byte(src), &request))
	}
	// Output:
	// <nil>
	// unknown member name at .Type
	// value that does not fit its field at .limit
	// value that does not fit its field at .type
}

func ExampleParseStrict() {
	_, err := canonical.ParseStrict([]byte(`{"items":[{"n":1},{"n":9007199254740993}]}`), canonical.MaxDepth)
	fmt.Println(err)
	// Output: integer that a double changes at .items[1].n
}
