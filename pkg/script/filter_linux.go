//go:build amd64 || arm64

package script

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Offsets in the data that the kernel shows a filter: number, architecture,
// instruction pointer, then six arguments of 64 bits.
const (
	offsetNumber = 0
	offsetArch   = 4
	offsetArgs   = 16
)

// denied are refused with EPERM whatever their arguments. They are grouped by
// what they would open.
var denied = []uintptr{
	// the network, and sockets of the machine's own services
	unix.SYS_SOCKET, unix.SYS_SOCKETPAIR, unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN,
	unix.SYS_ACCEPT, unix.SYS_ACCEPT4,
	// calls that are made on another's behalf and so pass a filter by
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
	// other processes: signals, memory, descriptors, scheduling
	unix.SYS_KILL, unix.SYS_TKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO,
	unix.SYS_PIDFD_OPEN, unix.SYS_PIDFD_SEND_SIGNAL, unix.SYS_PIDFD_GETFD, unix.SYS_PTRACE,
	unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE, unix.SYS_KCMP,
	unix.SYS_SETPRIORITY, unix.SYS_SETPGID, unix.SYS_SETSID,
	// another program (see the exception for node itself)
	unix.SYS_EXECVEAT,
	// the shape of the sandbox
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT,
	unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK,
	unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_OPEN_BY_HANDLE_AT,
	// parts of the kernel that a script has no use for
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_KEYCTL, unix.SYS_ADD_KEY,
	unix.SYS_REQUEST_KEY, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_KEXEC_LOAD, unix.SYS_REBOOT, unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_SYSLOG, unix.SYS_ACCT,
	unix.SYS_QUOTACTL, unix.SYS_FANOTIFY_INIT, unix.SYS_MQ_OPEN, unix.SYS_SHMGET, unix.SYS_MSGGET, unix.SYS_SEMGET,
}

var (
	errno = func(e unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(e) }
	deny  = errno(unix.EPERM)
)

// filterProgram is the filter for a process with the given id that may execute
// the path at the given address, and no other.
func filterProgram(pid uint32, path uint64) []unix.SockFilter {
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	// skipUnless and skipIf compare the accumulator and jump over n instructions.
	skipUnless := func(k uint32, n uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: n, K: k}
	}
	skipIf := func(k uint32, n uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: n, K: k}
	}
	skipIfBits := func(k uint32, n uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, Jt: n, K: k}
	}
	skipIfBelow := func(k uint32, n uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, Jf: n, K: k}
	}
	give := func(verdict uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: verdict}
	}
	low := func(arg uint32) uint32 { return offsetArgs + 8*arg } // both machines are little-endian
	high := func(arg uint32) uint32 { return low(arg) + 4 }

	program := []unix.SockFilter{
		load(offsetArch),
		skipIf(filterArch, 1),
		give(unix.SECCOMP_RET_KILL_PROCESS), // 32-bit calls have other numbers
		load(offsetNumber),
		skipIfBelow(foreignNumbers, 1),
		give(unix.SECCOMP_RET_KILL_PROCESS),

		// clone3 hides its flags behind a pointer; told that it does not exist, the
		// C library uses clone.
		skipUnless(unix.SYS_CLONE3, 1),
		give(errno(unix.ENOSYS)),

		skipUnless(unix.SYS_CLONE, 4),
		load(low(0)),
		skipIfBits(unix.CLONE_THREAD, 1),
		give(deny),
		give(unix.SECCOMP_RET_ALLOW),

		// abort() raises a signal in its own process
		skipUnless(unix.SYS_TGKILL, 4),
		load(low(0)),
		skipIf(pid, 1),
		give(deny),
		give(unix.SECCOMP_RET_ALLOW),

		skipUnless(unix.SYS_PRLIMIT64, 4),
		load(low(0)),
		skipIf(0, 1),
		give(deny),
		give(unix.SECCOMP_RET_ALLOW),

		// The address is that of the launcher's own string, in an address space that
		// is gone once node runs.
		skipUnless(unix.SYS_EXECVE, 6),
		load(low(0)),
		skipUnless(uint32(path), 3),
		load(high(0)),
		skipUnless(uint32(path>>32), 1),
		give(unix.SECCOMP_RET_ALLOW),
		give(deny),
	}
	for _, number := range append(denied, deniedHere...) {
		program = append(program, skipUnless(uint32(number), 1), give(deny))
	}
	return append(program, give(unix.SECCOMP_RET_ALLOW))
}

// installFilter puts the filter on this thread, for good.
func installFilter(path *byte) error {
	program := filterProgram(uint32(unix.Getpid()), uint64(uintptr(unsafe.Pointer(path))))
	fprog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	_, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&fprog)))
	runtime.KeepAlive(program)
	if e != 0 {
		return e
	}
	return nil
}
