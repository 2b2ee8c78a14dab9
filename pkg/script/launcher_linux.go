package script

import (
	"os"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// launcherName is the name under which this executable is started to become node:
//
//	launcherName, layers, processor seconds, path of node, arguments of node…
const launcherName = "ledger-script-launcher"

// Exit statuses of a launcher that could not go on. They reach the parent only as
// "node did not run".
const (
	exitUsage = 100 + iota
	exitMounts
	exitLimits
	exitPrivileges
	exitLandlock
	exitFilter
	exitExec
)

// init turns a process that was started as the launcher into node, before
// anything else of the program runs. It never returns to main then.
func init() {
	if len(os.Args) > 0 && os.Args[0] == launcherName {
		os.Exit(launch(os.Args[1:]))
	}
}

func (m mode) encode() string {
	var letters []byte
	for _, layer := range []struct {
		on     bool
		letter byte
	}{{m.namespaces, 'n'}, {m.filter, 'f'}, {m.landlock, 'l'}} {
		if layer.on {
			letters = append(letters, layer.letter)
		}
	}
	return string(letters)
}

func decodeMode(letters string) mode {
	var m mode
	for _, c := range letters {
		switch c {
		case 'n':
			m.namespaces = true
		case 'f':
			m.filter = true
		case 'l':
			m.landlock = true
		}
	}
	return m
}

// launch puts the layers in place, weakest assumption last, and becomes node. A
// layer that was asked for and cannot be had ends it.
func launch(args []string) int {
	runtime.LockOSThread() // credentials and filters belong to the thread that executes node
	if len(args) < 3 {
		return exitUsage
	}
	m, node := decodeMode(args[0]), args[2]
	seconds, err := strconv.ParseUint(args[1], 10, 32)
	if err != nil {
		return exitUsage
	}
	path, err := unix.BytePtrFromString(node)
	if err != nil {
		return exitUsage
	}
	argv, err := syscall.SlicePtrFromStrings(args[2:])
	if err != nil {
		return exitUsage
	}
	env := []*byte{nil}

	if m.namespaces && hideProcesses() != nil {
		return exitMounts
	}
	if unix.CloseRange(4, ^uint(0), unix.CLOSE_RANGE_CLOEXEC) != nil && closeOnExec() != nil {
		return exitLimits
	}
	if setLimits(seconds) != nil {
		return exitLimits
	}
	if dropPrivileges() != nil {
		return exitPrivileges
	}
	if m.landlock && restrictFiles(node) != nil {
		return exitLandlock
	}
	if m.filter && installFilter(path) != nil {
		return exitFilter
	}
	// Not syscall.Exec: the filter knows the one path pointer that may be executed.
	unix.RawSyscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(path)),
		uintptr(unsafe.Pointer(&argv[0])), uintptr(unsafe.Pointer(&env[0])))
	runtime.KeepAlive(path)
	return exitExec
}

// hideProcesses gives the new namespaces a /proc that shows them alone; where the
// kernel refuses one (a container that masks parts of /proc), an empty folder.
func hideProcesses() error {
	if err := unix.Mount("none", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	const flags = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	if err := unix.Mount("proc", "/proc", "proc", flags, ""); err == nil {
		return nil
	}
	return unix.Mount("tmpfs", "/proc", "tmpfs", flags|unix.MS_RDONLY, "")
}

func setLimits(seconds uint64) error {
	for _, limit := range []struct {
		resource int
		value    uint64
	}{
		{unix.RLIMIT_CORE, 0},
		{unix.RLIMIT_FSIZE, 0},
		{unix.RLIMIT_MEMLOCK, 0},
		{unix.RLIMIT_NOFILE, maxDescriptors},
		{unix.RLIMIT_CPU, seconds},
		{unix.RLIMIT_DATA, maxDataBytes},
		{unix.RLIMIT_AS, maxAddressBytes},
	} {
		var have unix.Rlimit
		if err := unix.Getrlimit(limit.resource, &have); err != nil {
			return err
		}
		value := min(limit.value, have.Max)
		if err := unix.Setrlimit(limit.resource, &unix.Rlimit{Cur: value, Max: value}); err != nil {
			return err
		}
	}
	return nil
}

// dropPrivileges gives up every capability and, for good, the ways to get one.
func dropPrivileges() error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return err
	}
	// Set again: it is cleared when credentials change.
	return unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0)
}

// closeOnExec does what close_range does, for kernels before 5.11: all that Go has
// opened is marked already, so only what was inherited is left.
func closeOnExec() error {
	for fd := 4; fd < 1024; fd++ {
		unix.CloseOnExec(fd)
	}
	return nil
}
