package branch

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// shardDirectory holds what is closed once it is on a branch: exported shards
// are read-only, so that a writer can tell them from its own.
const shardDirectory = "ledger/shards/"

// Export writes the regular files of a Snapshot below dir, which must be absent
// or empty and not a link: shards with mode 0444, everything else with 0644,
// directories with 0755, each less the umask. All paths are checked ([CheckPath],
// and the names that the system reserves) before the first file is made; nothing
// outside dir can be reached. Irregular entries are left out. Nothing is synced:
// the branch is the durable copy. Errors are [ErrDirectory] and [ErrPath]; after
// one that is not about a path, dir may hold a part.
func Export(s ledger.Snapshot, dir string) error {
	paths := slices.Sorted(maps.Keys(s.Files))
	for _, p := range paths {
		if err := CheckPath(p); err != nil {
			return err
		}
		if !filepath.IsLocal(filepath.FromSlash(p)) {
			return fmt.Errorf("%w %s: this system reserves the name", ErrPath, Printable(p, 200))
		}
	}
	root, err := openEmpty(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	made := map[string]bool{".": true}
	for _, p := range paths {
		if parent := path.Dir(p); !made[parent] {
			if err := root.MkdirAll(parent, 0o755); err != nil {
				return exportError(parent, err)
			}
			made[parent] = true
		}
		if err := exportFile(root, p, s.Files[p]); err != nil {
			return exportError(p, err)
		}
	}
	return nil
}

func openEmpty(dir string) (*os.Root, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("%w: it cannot be made: %v", ErrDirectory, plain(err))
	}
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%w: it is not a directory: give one that is absent or empty", ErrDirectory)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("%w: it cannot be opened: %v", ErrDirectory, plain(err))
	}
	// Through the handle: what is listed is what will be written to.
	if inside, err := fs.ReadDir(root.FS(), "."); err != nil || len(inside) > 0 {
		root.Close()
		return nil, fmt.Errorf("%w: it is not empty: give one that is absent or empty", ErrDirectory)
	}
	return root, nil
}

func exportFile(root *os.Root, name string, data []byte) error {
	mode := os.FileMode(0o644)
	if strings.HasPrefix(name, shardDirectory) {
		mode = 0o444
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

func exportError(name string, err error) error {
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w %s: this file system takes it for another path of the branch", ErrPath, Printable(name, 200))
	}
	return fmt.Errorf("%w: %s cannot be written: %v", ErrDirectory, Printable(name, 200), plain(err))
}

// plain drops the path that the operating system's errors carry.
func plain(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
