package memory

import (
	"os"
	"path/filepath"
	"testing"
)

// writeShard makes a ledger directory whose one shard grows.
func writeShard(t *testing.T, dir string, lines []byte) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(shardName))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, lines, 0o644); err != nil {
		t.Fatal(err)
	}
}
