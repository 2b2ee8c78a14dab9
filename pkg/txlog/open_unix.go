//go:build unix

package txlog

import (
	"os"
	"path/filepath"
	"syscall"
)

// noFollow keeps open from following a link and from waiting for a pipe.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// syncFolder makes the name of the file at path durable.
func syncFolder(path string) error {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return pathless(err)
	}
	defer folder.Close()
	return pathless(folder.Sync())
}
