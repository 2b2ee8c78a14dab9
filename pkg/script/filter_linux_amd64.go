package script

import "golang.org/x/sys/unix"

const (
	filterArch = unix.AUDIT_ARCH_X86_64
	// foreignNumbers: from here on calls are of the x32 interface.
	foreignNumbers = 0x4000_0000
)

// deniedHere are calls that only this architecture has.
var deniedHere = []uintptr{unix.SYS_FORK, unix.SYS_VFORK, unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT}
