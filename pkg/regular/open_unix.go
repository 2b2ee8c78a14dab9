//go:build unix

package regular

import (
	"errors"
	"os"
	"syscall"
)

// openFlags keeps open from following a link and from waiting for a pipe.
const openFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

func links(info os.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Nlink)
	}
	return 1
}

// isLoop reports whether open met a symbolic link.
func isLoop(err error) bool { return errors.Is(err, syscall.ELOOP) }
