//go:build unix

package txlog

import (
	"os"
	"path/filepath"
	"syscall"

	"github.com/repo-memory/ledger/pkg/regular"
)

// noFollow keeps open from following a link and from waiting for a pipe.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// syncFolder makes the name of the file at path durable.
func syncFolder(path string) error {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return regular.Cause(err)
	}
	defer folder.Close()
	return regular.Cause(folder.Sync())
}
