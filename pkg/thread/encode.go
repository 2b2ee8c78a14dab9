package thread

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// encode writes v as compact JSON; raw members keep their spelling.
func encode(v any) ([]byte, error) {
	return json.Marshal(v, json.Deterministic(true), jsontext.AllowDuplicateNames(false), json.FormatNilSliceAsNull(false))
}
