package staging

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/regular"
)

const (
	// maxRestoredBytes bounds the list of restored shards: ledger.MaxReadShards of
	// them, each with its name and digest.
	maxRestoredBytes = 2 << 20
	// maxShardBytes bounds a shard that is compared with its digest: the largest
	// that can be configured.
	maxShardBytes = 10240 << 10
)

// RestoredPath returns where the list of restored shards for dir stands. It stays
// on the machine.
func RestoredPath(dir string) string { return filepath.Clean(dir) + ".restored.json" }

// restored is the list of restored shards: each path below the agent's folder,
// with its digest.
type restored struct {
	Shards map[string]string `json:"shards"`
}

// WriteRestored lists the shards of the snapshot that was restored into dir, so
// that the step after the agent can leave out of the artifact what it did not
// change.
func WriteRestored(dir string, snap ledger.Snapshot) error {
	list := restored{Shards: map[string]string{}}
	for file, content := range snap.Files {
		if path.Dir(file) == ledger.ShardDir {
			list.Shards[file] = canonical.Sum(content)
		}
	}
	text, err := json.Marshal(list)
	if err == nil {
		err = regular.Cause(os.WriteFile(RestoredPath(dir), append(text, '\n'), 0o644))
	}
	if err != nil {
		return fmt.Errorf("failed to list the restored shards: %w", err)
	}
	return nil
}

// readRestored reads the list; one that cannot be read is nil.
func readRestored(dir string) map[string]string {
	text, err := regular.ReadFile(RestoredPath(dir), maxRestoredBytes)
	if err != nil {
		return nil
	}
	var list restored
	if canonical.Decode(text, &list) != nil {
		return nil
	}
	return list.Shards
}

// Restored returns the file names of the shards that were restored into dir, nil
// when that is not known.
func Restored(dir string) map[string]bool {
	shards := readRestored(dir)
	if shards == nil {
		return nil
	}
	names := make(map[string]bool, len(shards))
	for file := range shards {
		names[path.Base(file)] = true
	}
	return names
}

// Unchanged returns the restored shards that still hold what was restored, as
// ascending paths below dir. The agent can change the list as well as the
// shards; whatever it does, an unchanged shard is one that the branch holds or
// one that the agent chose not to publish. A list that cannot be read is empty.
func Unchanged(dir string) []string {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil
	}
	defer root.Close()
	var unchanged []string
	for file, digest := range readRestored(dir) {
		id, isShard := ledger.ShardID(path.Base(file))
		if !isShard || file != ledger.ShardPath(id) {
			continue
		}
		f, err := regular.OpenIn(root, file)
		if err != nil {
			continue
		}
		content, err := regular.Read(f, maxShardBytes)
		f.Close()
		if err == nil && canonical.Sum(content) == digest {
			unchanged = append(unchanged, file)
		}
	}
	slices.Sort(unchanged)
	return unchanged
}
