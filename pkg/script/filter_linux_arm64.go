package script

import "golang.org/x/sys/unix"

const (
	filterArch = unix.AUDIT_ARCH_AARCH64
	// foreignNumbers: there are none on this architecture.
	foreignNumbers = 0xffff_ffff
)

var deniedHere []uintptr
