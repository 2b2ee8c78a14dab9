//go:build !linux

package script

import (
	"context"
	"fmt"
	"time"
)

// supported: without the kernel's help Node lets a script signal its parent, on
// every version, so a canary could never pass here.
func supported() error {
	return fmt.Errorf("%w: this system has no way to confine Node; run this job on Linux", ErrSandbox)
}

func (sandbox) run(context.Context, string, []byte, time.Duration) (outcome, error) {
	return outcome{}, supported()
}

// Other systems do not show the block that a process was started with as a file.
func initialEnv() ([]string, error) { return nil, nil }

func wipeInitialEnv([]string) error { return nil }
