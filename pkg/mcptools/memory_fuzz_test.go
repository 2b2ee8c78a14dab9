package mcptools

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
)

// FuzzMemoryTools calls the memory tools with any arguments. Each call answers JSON
// or one printable sentence, and leaves a state that persistence would give, too.
func FuzzMemoryTools(f *testing.F) {
	for i, seed := range []string{`{}`, `{"at":"refs/shared/main","limit":3}`, `{"memory_id":"x"}`, `{"after":"x"}`, `{"ref_name":"refs/sessions/one/a","idempotency_key":"k"}`,
		`{"target":"refs/shared/main","after":"a b 1"}`, addFact("refs/sessions/one/a", "", "k", "v"), `{"source":"refs/shared/main","message":"m","idempotency_key":"k"}`,
		`{"changeset_id":"refs/shared/main","ref_name":"refs/sessions/one/r","idempotency_key":"k"}`, `{"pin":true,"query":"note","idempotency_key":"k","include_baseline":true}`} {
		f.Add(byte(i), seed)
	}
	dir := f.TempDir()
	restoreMemory(f, dir)
	s, _ := served(f, dir, oneYML, nil)
	all := s.memory.tools()
	f.Fuzz(func(t *testing.T, n byte, arguments string) {
		a, err := s.turn(context.Background(), all[int(n)%len(all)], []byte(arguments))
		if err == nil {
			if !json.Valid(a.json) {
				t.Errorf("the answer is no JSON: %.200s", a.json)
			}
			return
		}
		said := sentence(err)
		if said == string(errInternal) || said == "" || strings.ContainsAny(said, "\n\r\x00") || strings.Contains(said, dir) || len(said) > 2000 {
			t.Errorf("%s says %q", all[int(n)%len(all)].name, said)
		}
	})
}
