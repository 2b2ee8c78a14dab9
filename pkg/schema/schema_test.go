package schema

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// departures are the payloads on which this package differs from the reference
// runtime, which takes them: names that JavaScript's objects inherit are no
// declared ones.
var departures = map[string]bool{`{"toString":1}`: true, `{"constructor":{}}`: true}

func TestVerdictsAreThoseOfTheReferenceRuntime(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "testdata", "vectors", "records.json"))
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		Schemas []struct {
			Name, Schema string
			Compiles     bool
			Cases        []struct {
				Payload  string
				Accepted bool
			}
		}
	}
	if err := json.Unmarshal(text, &vectors); err != nil || len(vectors.Schemas) < 16 {
		t.Fatal(err, len(vectors.Schemas))
	}
	departed := 0
	for _, vector := range vectors.Schemas {
		s, err := Parse([]byte(vector.Schema))
		if (err == nil) != vector.Compiles {
			t.Errorf("%s: %v, want it to compile: %v", vector.Name, err, vector.Compiles)
			continue
		}
		for _, c := range vector.Cases {
			refusal := s.Judge([]byte(c.Payload))
			want := c.Accepted
			if departures[c.Payload] && want {
				want = false
				departed++
			}
			if (refusal == nil) != want {
				t.Errorf("%s: %s: %v, want it accepted: %v", vector.Name, c.Payload, refusal, want)
			}
		}
	}
	if departed != len(departures) {
		t.Errorf("%d departures, want %d", departed, len(departures))
	}
}

func TestAPayloadIsRefusedWithThePlaceAndWithoutItsValues(t *testing.T) {
	const object = `{"type":"object","required":["kind"],"properties":{"kind":{"enum":["a",1,true,null,1e21]},"n":{"type":"integer"},` +
		`"list":{"type":"array","items":{"type":["string","null"]}},"a b\u00e9":{"type":"null"},"deep":{"properties":{"x":{"type":"boolean"}}}},"additionalProperties":false}`
	for _, test := range []struct{ schema, payload, want string }{
		{`{}`, `{"anything":[1]}`, ""},
		{object, `{"kind":"a"}`, ""},
		{object, `{"kind":1.0,"n":-0,"list":["x",null],"deep":{"other":1}}`, ""},
		{object, `{"kind":1000000000000000000000}`, ""},
		{object, `"SECRET"`, "payload-schema: payload: must be object"},
		{object, `{"n":1}`, "payload-schema: payload.kind: is missing"},
		{object, `{"kind":"SECRET"}`, "payload-schema: payload.kind: is none of the values that the schema lists"},
		{object, `{"kind":"1"}`, "payload-schema: payload.kind: is none of the values that the schema lists"},
		{object, `{"kind":false}`, "payload-schema: payload.kind: is none of the values that the schema lists"},
		{object, `{"kind":["a"]}`, "payload-schema: payload.kind: is none of the values that the schema lists"},
		{object, `{"kind":"a","n":0.5}`, "payload-schema: payload.n: must be integer"},
		{object, `{"kind":"a","n":1e-7}`, "payload-schema: payload.n: must be integer"},
		{object, `{"kind":"a","list":["x",2]}`, "payload-schema: payload.list[1]: must be string or null"},
		{object, `{"kind":"a","other":"SECRET"}`, "payload-schema: payload.other: is no member that the schema declares"},
		{object, `{"kind":"a","hasOwnProperty":1}`, "payload-schema: payload.hasOwnProperty: is no member that the schema declares"},
		{object, `{"kind":"a","__proto__":{"kind":"a"}}`, "payload-schema: payload.__proto__: is no member that the schema declares"},
		{object, `{"kind":"a","a bé":1}`, `payload-schema: payload["a b\u00e9"]: must be null`},
		{object, `{"kind":"a","deep":{"x":"SECRET"}}`, "payload-schema: payload.deep.x: must be boolean"},
		{`{"required":["toString"]}`, `{}`, "payload-schema: payload.toString: is missing"},
		{`{"required":["a"],"items":{"type":"null"}}`, `"neither"`, ""},
		{`{"properties":{},"additionalProperties":false}`, `[1]`, ""},
		{`{"anyOf":[{"type":"string"},{"enum":[1]}]}`, `2`, "payload-schema: payload: satisfies none of the schema's alternatives"},
		{`{"anyOf":[{"type":"string"},{"enum":[1]}]}`, `1`, ""},
		{`{"anyOf":[{"type":"number"},{"enum":[1]}]}`, `1`, ""},
		{`{"oneOf":[{"type":"number"},{"enum":[1]},{}]}`, `1`, "payload-schema: payload: satisfies more than one of the schema's alternatives"},
		{`{"oneOf":[{"oneOf":[{"type":"null"}]},{"type":"array"}]}`, `null`, ""},
	} {
		s, err := Parse([]byte(test.schema))
		if err != nil {
			t.Fatalf("%s: %v", test.schema, err)
		}
		got := ""
		if refusal := s.Judge([]byte(test.payload)); refusal != nil {
			got = refusal.Error()
		}
		if got != test.want || strings.Contains(got, "SECRET") {
			t.Errorf("%s: %q, want %q", test.payload, got, test.want)
		}
	}
	if refusal := (*Schema)(nil).Judge([]byte("1")); refusal != nil {
		t.Errorf("no schema: %v", refusal)
	}
}

func TestWhatIsNoSchemaDoesNotCompileAndTheErrorNamesThePlace(t *testing.T) {
	deep := strings.Repeat(`{"items":`, maxDepth+1) + "{}" + strings.Repeat("}", maxDepth+1)
	for _, test := range []struct{ text, want string }{
		{``, "cannot be read"}, {`{`, "cannot be read"}, {`{} {}`, "cannot be read"}, {"{\"enum\":[\"\xff\"]}", "cannot be read"},
		{`{"type":"null","type":"null"}`, "cannot be read"}, {`{"enum":["\ud800"]}`, "cannot be read"}, {`{"enum":[1e999]}`, "cannot be read"},
		{`null`, "schema: must be an object"}, {`{"items":[]}`, "schema: .items: must be an object"}, {`{"items":true}`, "schema: .items: must be an object"},
		{`{"properties":{"a":1}}`, "schema: .properties.a: must be an object"}, {`{"properties":[]}`, ".properties: must be an object of schemas"},
		{`{"type":null}`, ".type: must be object, array"}, {`{"type":["string",1]}`, ".type: must be"}, {`{"type":"String"}`, ".type: must be"}, {`{"type":[["string"]]}`, ".type: must be"},
		{`{"enum":[]}`, ".enum: must be a list"}, {`{"enum":"a"}`, ".enum: must be a list"}, {`{"enum":[{}]}`, ".enum: must be a list"}, {`{"enum":[[1]]}`, ".enum: must be a list"},
		{`{"required":"a"}`, ".required: must be a list of names"}, {`{"required":[1]}`, ".required: must be a list of names"},
		{`{"additionalProperties":{}}`, ".additionalProperties: must be false"}, {`{"additionalProperties":null}`, ".additionalProperties: must be false"},
		{`{"oneOf":{}}`, ".oneOf: must be a list of at least one"}, {`{"anyOf":[]}`, ".anyOf: must be a list of at least one"}, {`{"anyOf":[1]}`, ".anyOf[0]: must be an object"},
		{`{"anyOf":[{}],"oneOf":[{}]}`, "stands beside other members"}, {`{"anyOf":[{}],"x":1}`, "stands beside other members"},
		{`{"Type":"string"}`, ".Type: is not supported"}, {`{"minimum":1}`, ".minimum: is not supported"}, {`{"allOf":[{}]}`, ".allOf: is not supported"},
		{`{"a\u202e":1}`, `["a\u202e"]: is not supported`},
		{deep, "is nested more than 32 deep"}, {`{"anyOf":[` + strings.Repeat("{},", maxSchemas) + `{}]}`, "more than 4096 schemas"},
		{`{"enum":["` + strings.Repeat("x", MaxBytes) + `"]}`, "over 65536 bytes"},
	} {
		s, err := Parse([]byte(test.text))
		if err == nil || s != nil || !strings.Contains(err.Error(), test.want) || strings.ContainsAny(err.Error(), "\n\u202e") || len(err.Error()) > 400 {
			t.Errorf("%.80s: %v, want %q", test.text, err, test.want)
		}
	}
	atBound := strings.Repeat(`{"items":`, maxDepth) + "{}" + strings.Repeat("}", maxDepth)
	inProperties := strings.Repeat(`{"properties":{"a":`, maxDepth) + `{"enum":[1]}` + strings.Repeat("}}", maxDepth)
	for _, text := range []string{atBound, inProperties} {
		if s, err := Parse([]byte(text)); err != nil || string(s.JSON()) != text {
			t.Errorf("at the bound: %v", err)
		}
	}
}

func FuzzJudge(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"type":"object","properties":{"a":{"type":"integer"}},"additionalProperties":false}`, `{"a":1,"b":[{}]}`},
		{`{"oneOf":[{"type":"number"},{"type":"integer"}]}`, `1e21`},
		{`{"type":["array","string"],"items":{"enum":[null,"x"]},"required":["y"]}`, `[null,"\u202e"]`},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, schema, payload string) {
		s, err := Parse([]byte(schema))
		if (s == nil) == (err == nil) {
			t.Fatal(s, err)
		}
		if err != nil {
			checkSaid(t, err.Error())
			return
		}
		if refusal := s.Judge([]byte(payload)); refusal != nil {
			checkSaid(t, refusal.Error())
		}
	})
}

// checkSaid: one line of bounded, visible ASCII, whatever was read.
func checkSaid(t *testing.T, text string) {
	t.Helper()
	if len(text) > 500 {
		t.Errorf("%d bytes: %s", len(text), text)
	}
	for _, r := range text {
		if r < 0x20 || r > 0x7e {
			t.Errorf("%U in %q", r, text)
		}
	}
}
