package ledger

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/repo-memory/ledger/pkg/regular"
)

var errNoFolder = errors.New("ledger folder does not exist or is no folder: give the one that holds " + ShardDir)

// SnapshotFolder reads the shards and the compaction state below path as if they
// were a branch at no commit. Links are not followed and shards over the size
// that can be configured are not read; both are named as irregular. More than
// MaxReadShards shards are an error.
func SnapshotFolder(path string) (Snapshot, error) {
	snap := Snapshot{Files: map[string][]byte{}, Irregular: map[string]string{}}
	d := directory{path: path}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return snap, errNoFolder
	}
	if err := d.open(); err != nil || d.root == nil {
		return snap, err
	}
	defer d.close()
	names, err := d.names(ShardExt)
	if err != nil {
		return snap, err
	}
	if len(names) > MaxReadShards {
		return snap, fmt.Errorf("ledger has %d shards, at most %d are read", len(names), MaxReadShards)
	}
	for _, name := range names {
		if err := snap.add(d.root, name, ShardDir+"/"+name, maxSegmentBytes); err != nil {
			return snap, err
		}
	}
	above, err := os.OpenRoot(path)
	if err != nil {
		return snap, fmt.Errorf("failed to open the ledger: %w", regular.Cause(err))
	}
	defer above.Close()
	return snap, snap.add(above, CompactionFile, CompactionFile, maxStateBytes)
}

// add reads one file of root into the snapshot.
func (s Snapshot) add(root *os.Root, name, path string, limit int64) error {
	f, err := regular.OpenShared(root, name)
	var content []byte
	if err == nil {
		content, err = regular.Read(f, limit)
		f.Close()
	}
	switch {
	case err == nil:
		s.Files[path] = content
	case errors.Is(err, fs.ErrNotExist):
	case errors.Is(err, regular.ErrKind), errors.Is(err, regular.ErrTooLarge):
		s.Irregular[path] = err.Error()
	default:
		return fmt.Errorf("failed to read a file of the ledger: %w", err)
	}
	return nil
}
