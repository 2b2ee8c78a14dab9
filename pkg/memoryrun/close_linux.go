package memoryrun

import "golang.org/x/sys/unix"

// closeProcess makes /proc/<pid>/environ and memory of this process unreadable for
// others of its user. What it starts is as open as ever.
func closeProcess() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }
