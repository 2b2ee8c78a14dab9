package canonical

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// benchmarkRecords returns canonical records of about 400 bytes, one for each
// kind of payload that ledgers are full of.
func benchmarkRecords(tb testing.TB) map[string][]byte {
	rng := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("the runner restores its ledger before an agent asks what was learned about flaky tests in this repository")
	var text, umlauts, integers, prices, floats []string
	for i := range 5 {
		var line []string
		for range 4 {
			line = append(line, words[rng.IntN(len(words))])
		}
		text = append(text, fmt.Sprintf(`"note%d":%q`, i, strings.Join(line, " ")))
		umlauts = append(umlauts, fmt.Sprintf(`"größe%d":%q`, i, "naïve Übergröße "+line[0]))
	}
	for range 18 {
		integers = append(integers, fmt.Sprint(rng.IntN(1_000_000)))
	}
	for i := range 10 {
		prices = append(prices, fmt.Sprintf(`"p%d":%s`, i, appendNumber(nil, float64(rng.IntN(1_000_000))/100)))
	}
	for range 7 {
		floats = append(floats, string(appendNumber(nil, rng.Float64()*100)))
	}
	const head = `{"id":"ldg-97da2849-d73e-4438-9907-d090402c802d","parents":["sha256:e77e0fb8f84c63199a2d1a1cf20ac7a1ed423136928c19d34a45effeff14bbf6"],"payload":`
	const tail = `,"sha":"sha256:384ca2d90e9d12c460d2a0ce77a2739cd5a49a3ca062c30a2343778167907cf7","timestamp":"2026-11-30T03:00:00.000Z","type":"note","version":1}`
	records := map[string][]byte{
		"text":      []byte(head + "{" + strings.Join(text, ",") + "}" + tail),
		"non-ASCII": []byte(head + "{" + strings.Join(umlauts, ",") + "}" + tail),
		"integers":  []byte(head + "[" + strings.Join(integers, ",") + "]" + tail),
		"prices":    []byte(head + "{" + strings.Join(prices, ",") + "}" + tail),
		"floats":    []byte(head + "[" + strings.Join(floats, ",") + "]" + tail),
		// The same without an envelope: nothing but what the name says.
		"bare text":     []byte("{" + strings.Repeat(strings.Join(text, ","), 1) + "}"),
		"bare integers": []byte("[" + strings.Join(append(append(integers, integers...), integers...), ",") + "]"),
		"bare prices":   []byte("{" + strings.Join(prices, ",") + "}"),
		"bare floats":   []byte("[" + strings.Repeat(strings.Join(floats, ",")+",", 2) + floats[0] + "]"),
		"digit names":   []byte(`{"0":1,"1":1,"7":1,"10":1,"12":1,"100":1,"4294967294":1,"1a":1,"2026-01-01":1,"2026-01-02":1,"2026-01-03":1,"2026-02-01":1,"é":1}`),
	}
	for name, record := range records {
		if !Valid(record) {
			tb.Fatalf("%s: not canonical: %s", name, record)
		}
	}
	return records
}

var benchmarkOrder = []string{"text", "non-ASCII", "integers", "prices", "floats", "bare text", "bare integers", "bare prices", "bare floats", "digit names"}

// sha256Passes returns how many SHA-256 passes over record one call of f is
// worth: the fastest of many short rounds of each, taken in turn, so that other
// work on the machine does not count.
func sha256Passes(f func(), record []byte) float64 {
	const rounds, calls = 400, 50
	fastest := [2]time.Duration{time.Hour, time.Hour}
	for range rounds {
		for i, g := range []func(){f, func() { sha256.Sum256(record) }} {
			start := time.Now()
			for range calls {
				g()
			}
			fastest[i] = min(fastest[i], time.Since(start))
		}
	}
	return float64(fastest[0]) / float64(fastest[1])
}

// BenchmarkValid reports, besides the time, how many SHA-256 passes over the
// same bytes it is worth.
func BenchmarkValid(b *testing.B) {
	records := benchmarkRecords(b)
	for _, name := range benchmarkOrder {
		record := records[name]
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(record)))
			b.ReportAllocs()
			for b.Loop() {
				if !Valid(record) {
					b.Fatal("not canonical")
				}
			}
			b.ReportMetric(sha256Passes(func() { Valid(record) }, record), "sha256-passes")
		})
	}
}

// BenchmarkRead is the price of strictness for a record and for a request.
func BenchmarkRead(b *testing.B) {
	record := benchmarkRecords(b)["text"]
	for _, reader := range []struct {
		name string
		read func() error
	}{
		{"Parse", func() error { _, err := Parse(record); return err }},
		{"ParseStrict", func() error { _, err := ParseStrict(record, MaxDepth); return err }},
		{"Transform", func() error { _, err := Transform(record); return err }},
		{"Decode", func() error {
			var r struct {
				ID        string         `json:"id"`
				Parents   []string       `json:"parents"`
				Payload   jsontext.Value `json:"payload"`
				Sha       string         `json:"sha"`
				Timestamp string         `json:"timestamp"`
				Type      string         `json:"type"`
				Version   int            `json:"version"`
			}
			return Decode(record, &r)
		}},
	} {
		b.Run(reader.name, func(b *testing.B) {
			b.SetBytes(int64(len(record)))
			b.ReportAllocs()
			for b.Loop() {
				if err := reader.read(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
