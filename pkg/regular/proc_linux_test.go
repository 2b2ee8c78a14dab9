package regular

import (
	"errors"
	"strings"
	"testing"
)

// Files of /proc are regular, say that they are empty, and are not.
func TestAFileThatHidesItsSizeIsBoundedAllTheSame(t *testing.T) {
	if got, err := ReadFile("/proc/self/status", 1<<20); err != nil || !strings.HasPrefix(string(got), "Name:") {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := ReadFile("/proc/self/status", 100); !errors.Is(err, ErrTooLarge) || got != nil {
		t.Errorf("%q, %v", got, err)
	}
	if f, err := Open("/proc/self/exe"); !errors.Is(err, ErrKind) {
		t.Errorf("%v, %v", f, err)
	}
}
