package memoryrun

import (
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/repo-memory/ledger/pkg/action"
)

func TestWhatTookKeysIsClosedToOtherProcesses(t *testing.T) {
	before, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, uintptr(before), 0, 0, 0) })
	if err := in(t, map[string]string{KeysVariable: "a=" + strings.Repeat("a1", 32)}, func(a *action.Action) error {
		_, err := TakeKeys(a)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if now, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); err != nil || now != 0 {
		t.Errorf("dumpable %d, %v", now, err)
	}
}
