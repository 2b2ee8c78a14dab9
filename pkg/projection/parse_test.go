package projection

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestAQueryIsReadStrictlyAndRefusedWithAFixedSentence(t *testing.T) {
	deep := strings.Repeat("[", 32) + strings.Repeat("]", 32)
	for text, want := range map[string]string{
		``:                             "not valid JSON",
		`null`:                         "must be an object",
		`[]`:                           "must be an object",
		`"{}"`:                         "must be an object",
		`{}{}`:                         "not valid JSON",
		"{\"type\":\"\xff\"}":          "invalid UTF-8",
		`{"type":"a","type":"a"}`:      "duplicate member name",
		`{"type":"a","typ\u0065":"b"}`: "duplicate member name",
		`{"where":{"payload.a":{"eq":{"x:":":","x:":1}}}}`: "duplicate member name",
		`{"Type":"a"}`:      "a member that is not",
		`{"typ\u212a":"a"}`: "a member that is not",
		`{"type":null}`:     "type must be",
		`{"type":""}`:       "type must be",
		`{"type":"` + strings.Repeat("é", 129) + `"}`: "type must be",
		`{"type":["a"]}`:                 "type must be",
		`{"limit":null}`:                 "limit must be",
		`{"limit":501}`:                  "limit must be",
		`{"limit":0}`:                    "limit must be",
		`{"limit":1e400}`:                "limit must be",
		`{"limit":"5"}`:                  "limit must be",
		`{"limit":true}`:                 "limit must be",
		`{"after":null}`:                 "after must be",
		`{"after":""}`:                   "after must be",
		`{"where":null}`:                 "where must be",
		`{"where":{"payload":{"eq":1}}}`: "a path in where",
		`{"where":{"payload.a.b.c.d.e.f.g.h.i":{"eq":1}}}`:                   "a path in where",
		`{"where":{"payload.` + strings.Repeat("a", 1100) + `":{"eq":1}}}`:   "a path in where",
		`{"where":{"payload.a":null}}`:                                       "exactly one operator",
		`{"where":{"payload.a":{"like":"x"}}}`:                               "exactly one operator",
		`{"where":{"payload.a":{"eq":1e400}}}`:                               "overflows a double",
		`{"where":{"payload.a":{"eq":[` + deep + `]}}}`:                      "nested too deep",
		`{"where":{"payload.a":{"eq":"` + strings.Repeat("x", 1024) + `"}}}`: "over 1024 bytes",
		`{"where":{"payload.a":{"prefix":1}}}`:                               "prefix takes a string",
		`{"where":{"payload.a":{"in":{}}}}`:                                  "in takes an array",
		`{"where":{"payload.a":{"exists":1}}}`:                               "exists takes true or false",
		`{"where":{"payload.a":{"lt":true}}}`:                                "lt takes a number or a string",
		`{"x":"` + strings.Repeat("x", MaxQueryBytes) + `"}`:                 "over 65536 bytes",
		strings.Repeat("[", 50000):                                           "nested too deep",
	} {
		_, err := ParseQuery([]byte(text))
		if !errors.Is(err, ErrQuery) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %q", text, err, want)
		}
	}
}

func TestAQueryIsReadAsItIsMeant(t *testing.T) {
	q := query(t, ` {"limit":1e1,"typ\u0065":"no\u0074e","after":"sha256:`+strings.Repeat("ab", 32)+`",
		"where":{"payload.a-b":{"eq":{"b":1.0,"a:\"{":":\\"}},"payload.c":{"in":[]}}} `)
	if q.Limit != 10 || q.Type != "note" || q.After == nil || q.After.String() != "sha256:"+strings.Repeat("ab", 32) || len(q.Where) != 2 {
		t.Errorf("%+v", q)
	}
	if text, err := q.Where[0].Operand.Text(); err != nil || string(text) != `{"a:\"{":":\\","b":1}` {
		t.Errorf("%s, %v", text, err)
	}
	if q := query(t, `{}`); q.Limit != DefaultLimit || q.After != nil || q.Type != "" {
		t.Errorf("%+v", q)
	}
}

func TestAQueryMadeByHandIsJudgedToo(t *testing.T) {
	p := New(ledgerOf(t))
	defer p.Close()
	a := query(t, `{"where":{"payload.a":{"eq":1}}}`).Where[0]
	for _, q := range []Query{
		{Limit: -1}, {Limit: 501}, {Type: strings.Repeat("x", 129)}, {Where: []Condition{a, a}}, {Where: make([]Condition, 9)}, {Where: []Condition{{Path: "payload.a"}}},
	} {
		if _, err := p.Query(t.Context(), q); !errors.Is(err, ErrQuery) {
			t.Errorf("%+v: %v", q, err)
		}
	}
}

func FuzzParseQuery(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"type":"note","limit":5}`, `{"where":{"payload.a":{"in":[1,"1",true,null,{"a":[]}]}},"after":"sha256:` + strings.Repeat("0", 64) + `"}`,
		`{"where":{"payload.a":{"prefix":"\ud83d"},"payload.b.c":{"gte":-0.5}}}`, `{"type":"a","type":"b"}`, `{"where":{"payload.a":{"exists":false}}}`,
	} {
		f.Add([]byte(seed))
	}
	p := New(ledgerOf(f, `{"a":"\ud83d","b":{"c":1}}`, `{"a":[1,2]}`, `null`))
	defer p.Close()
	f.Fuzz(func(t *testing.T, text []byte) {
		q, err := ParseQuery(text)
		if err != nil {
			if !errors.Is(err, ErrQuery) || strings.ContainsAny(err.Error(), "\n\x00") {
				t.Fatalf("%q", err)
			}
			return
		}
		page, err := p.Query(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		shas := make([]string, len(page.Rows))
		for i, r := range page.Rows {
			shas[i] = fmt.Sprint(r.SHA())
		}
		if !slices.IsSorted(shas) {
			t.Fatal("rows are out of order")
		}
	})
}
