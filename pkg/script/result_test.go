package script

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

const (
	idA = "7176b189-d9db-4de3-a69a-964e90fa6e6c"
	idB = "8cddb560-5641-4052-b8c0-bb5c31492284"
)

func TestOnlyOneWholeLineWithTheNonceIsAResult(t *testing.T) {
	const nonce = "00112233445566778899aabbccddeeff"
	for _, c := range []struct {
		name, frame string
		want        string // "" is an error
		says        string
	}{
		{"a value is its JSON", nonce + " value {\"ok\":true}\n", `{"ok":true}`, ""},
		{"spaces belong to the JSON", nonce + " value \"a b\"\n", `"a b"`, ""},
		{"nothing is undefined", nonce + " nothing\n", undefined, ""},
		{"no line is no result", "", "", "without a result"},
		{"a line without the nonce is tampering", "value true\n", "", "tampered"},
		{"another nonce is tampering", strings.Repeat("0", 32) + " value true\n", "", "tampered"},
		{"a cut line is tampering", nonce + " value true", "", "tampered"},
		{"a second line is tampering", nonce + " value true\n" + nonce + " value true\n", "", "tampered"},
		{"text before the line is tampering", "x\n" + nonce + " value true\n", "", "tampered"},
		{"text after the line is tampering", nonce + " value true\nx", "", "tampered"},
		{"a throw is reported by its line", nonce + " threw 12\n", "", "threw at line 12;"},
		{"a throw without a line is reported", nonce + " threw\n", "", "threw;"},
		{"a line number that is not one is left out", nonce + " threw 1e9 secret\n", "", "threw;"},
		{"a syntax error says so", nonce + " syntax\n", "", "node --check"},
		{"a missing export says so", nonce + " shape\n", "", "exports no function"},
		{"a long result says so", nonce + " oversize\n", "", "over 32768 bytes"},
		{"a value without text is refused", nonce + " value\n", "", "no known form"},
		{"an unknown word is refused", nonce + " accepted\n", "", "no known form"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := parseFrame([]byte(c.frame), nonce)
			if c.want == "" {
				if !errors.Is(err, ErrFailed) || !strings.Contains(err.Error(), c.says) || got != nil {
					t.Fatalf("got %q, %v; want an error with %q", got, err, c.says)
				}
				return
			}
			if err != nil || string(got) != c.want {
				t.Fatalf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
}

func TestAVerdictIsReadStrictly(t *testing.T) {
	for _, c := range []struct {
		name, result string
		want         string // accepted, rejected, or "" for an error
		reason       string
	}{
		{"true accepts", `true`, "accepted", ""},
		{"undefined accepts", undefined, "accepted", ""},
		{"null accepts", `null`, "accepted", ""},
		{"ok true accepts", `{"ok":true}`, "accepted", ""},
		{"a null reason is none", `{"ok":true,"reason":null}`, "accepted", ""},
		{"false rejects", `false`, "rejected", ""},
		{"ok false rejects", `{"ok":false}`, "rejected", ""},
		{"a reason is handed on", `{"ok":false,"reason":"näh"}`, "rejected", "näh"},
		{"the longest reason is handed on", `{"ok":false,"reason":"` + strings.Repeat("x", 500) + `"}`, "rejected", strings.Repeat("x", 500)},
		{"one byte more is no verdict", `{"ok":false,"reason":"` + strings.Repeat("x", 501) + `"}`, "", ""},
		{"an empty object is no verdict", `{}`, "", ""},
		{"a null ok is no verdict", `{"ok":null}`, "", ""},
		{"ok as text is no verdict", `{"ok":"true"}`, "", ""},
		{"ok as a number is no verdict", `{"ok":1}`, "", ""},
		{"another spelling of ok is no verdict", `{"OK":true}`, "", ""},
		{"a repeated ok is no verdict", `{"ok":false,"ok":true}`, "", ""},
		{"an unknown member is no verdict", `{"ok":true,"okay":1}`, "", ""},
		{"a number is no verdict", `1`, "", ""},
		{"text is no verdict", `"true"`, "", ""},
		{"an array is no verdict", `[true]`, "", ""},
		{"no text is no verdict", ``, "", ""},
		{"two values are no verdict", `true true`, "", ""},
		{"a value after an object is no verdict", `{"ok":true}{}`, "", ""},
		{"a lone surrogate is no verdict", `{"ok":false,"reason":"\ud800"}`, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			ok, reason, err := decodeVerdict([]byte(c.result))
			got := map[bool]string{true: "accepted", false: "rejected"}[ok]
			if err != nil {
				got = ""
			}
			if got != c.want || reason != c.reason || err != nil && (ok || !errors.Is(err, ErrFailed)) {
				t.Fatalf("got %q %q %v, want %q %q", got, reason, err, c.want, c.reason)
			}
		})
	}
}

func manyIDs(n int) string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf(`"00000000-0000-4000-8000-%012x"`, i)
	}
	return `{"sources":[` + strings.Join(ids, ",") + `]}`
}

func TestASelectionIsReadStrictly(t *testing.T) {
	for _, c := range []struct {
		name, result string
		want         int // sources; -1 is an error
	}{
		{"no source", `{"sources":[]}`, 0},
		{"two sources", `{"sources":["` + idA + `","` + idB + `"]}`, 2},
		{"as many as allowed", manyIDs(MaxSources), MaxSources},
		{"one more than allowed", manyIDs(MaxSources + 1), -1},
		{"the same source twice", `{"sources":["` + idA + `","` + idA + `"]}`, -1},
		{"a source in upper case", `{"sources":["` + strings.ToUpper(idA) + `"]}`, -1},
		{"a source of another version", `{"sources":["7176b189-d9db-1de3-a69a-964e90fa6e6c"]}`, -1},
		{"a path", `{"sources":["../../etc/passwd"]}`, -1},
		{"an id with a line break", `{"sources":["` + idA + `\n"]}`, -1},
		{"null for a source", `{"sources":[null]}`, -1},
		{"a number for a source", `{"sources":[1]}`, -1},
		{"null for sources", `{"sources":null}`, -1},
		{"an object for sources", `{"sources":{"0":"` + idA + `"}}`, -1},
		{"text for sources", `{"sources":"` + idA + `"}`, -1},
		{"a further member", `{"sources":[],"command":"x"}`, -1},
		{"sources given twice", `{"sources":[],"sources":["` + idA + `"]}`, -1},
		{"another spelling of sources", `{"Sources":[]}`, -1},
		{"no sources", `{}`, -1},
		{"a bare array", `["` + idA + `"]`, -1},
		{"null", `null`, -1},
		{"undefined", undefined, -1},
		{"no text", ``, -1},
		{"two values", `{"sources":[]}{"sources":[]}`, -1},
		{"invalid UTF-8", "{\"sources\":[\"\xff\"]}", -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := decodeSources([]byte(c.result))
			if c.want < 0 {
				if got != nil || !errors.Is(err, ErrFailed) {
					t.Fatalf("got %v, %v; want an error and nothing", got, err)
				}
				return
			}
			if err != nil || len(got) != c.want {
				t.Fatalf("got %v, %v; want %d sources", got, err, c.want)
			}
		})
	}
}

func FuzzResult(f *testing.F) {
	seeds := []string{`true`, `{"ok":false,"reason":"x"}`, `{"sources":["` + idA + `","` + idB + `"]}`, manyIDs(3), `{"sources":[]}`, `{"sources":[null]}`, ``}
	if len(seeds) == 0 {
		f.Fatal("no seeds")
	}
	for _, s := range seeds {
		f.Add([]byte(s))
		f.Add([]byte("n value " + s + "\n"))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if value, err := parseFrame(data, "n"); err == nil && string(data) != "n value "+string(value)+"\n" && string(data) != "n nothing\n" {
			t.Fatalf("%q was read from %q", value, data)
		}
		if ok, reason, err := decodeVerdict(data); err != nil && (ok || reason != "") || len(reason) > MaxReasonBytes {
			t.Fatalf("an error came with a verdict: %v %q", ok, reason)
		}
		sources, err := decodeSources(data)
		if err != nil {
			if sources != nil {
				t.Fatal("an error came with sources")
			}
			return
		}
		sorted := slices.Sorted(slices.Values(sources))
		if len(sources) > MaxSources || len(slices.Compact(sorted)) != len(sources) {
			t.Fatalf("%d sources, not all different", len(sources))
		}
		for _, id := range sources {
			if len(id) != 36 || !uuidv4.MatchString(id) {
				t.Fatalf("%q is no segment id", id)
			}
		}
	})
}
