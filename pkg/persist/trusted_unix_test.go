//go:build unix

package persist

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/thread"
)

// TestALinkInATrustedStagingRefusesIt puts a link in the place of a shard, to a copy of
// it.
func TestALinkInATrustedStagingRefusesIt(t *testing.T) {
	s := staged(t, ledger.Snapshot{}, 3)
	dir := tree(t, texts(s.Files))
	files, err := filepath.Glob(filepath.Join(dir, "ledger", "shards", "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "copy")
	if err := os.Rename(files[0], copied); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(copied, files[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := PrepareTrusted(dir, s.Digest, trustedOptions(ledger.DefaultLimits())); !errors.Is(err, thread.ErrStaging) {
		t.Errorf("got %v", err)
	}
}
