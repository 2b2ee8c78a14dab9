package ledger

import (
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// coarseTimes reports whether the kernel stamps files by its timer tick, so that
// two changes within one tick have one time. Linux stamps finely from 6.13 on.
var coarseTimes = func() bool {
	var name unix.Utsname
	if unix.Uname(&name) != nil {
		return true
	}
	major, rest, _ := strings.Cut(unix.ByteSliceToString(name.Release[:]), ".")
	minor, _, _ := strings.Cut(rest, ".")
	a, errA := strconv.Atoi(major)
	b, errB := strconv.Atoi(minor)
	return errA != nil || errB != nil || a < 6 || a == 6 && b < 13
}()
