package script

import (
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/repo-memory/ledger/pkg/regular"
)

// Options says how a script is run. The zero value is ready to use.
type Options struct {
	// Node is the absolute path of the node executable; "" looks for it as
	// [FindNode] does.
	Node string
	// Timeout is how long the script may run, at most [MaxTimeout]; 0 is
	// [DefaultTimeout].
	Timeout time.Duration

	modes []mode // tests choose the layers of the sandbox; nil is all, strongest first
}

func (o Options) timeout() (time.Duration, error) {
	switch {
	case o.Timeout == 0:
		return DefaultTimeout, nil
	case o.Timeout < 0 || o.Timeout > MaxTimeout:
		return 0, fmt.Errorf("%w: timeout of %s, allowed up to %s", ErrInput, o.Timeout, MaxTimeout)
	}
	return o.Timeout, nil
}

// ReadFile reads a script from a regular file, at most [MaxScriptBytes].
func ReadFile(path string) ([]byte, error) {
	source, err := regular.ReadFile(path, MaxScriptBytes)
	if err != nil {
		return nil, fmt.Errorf("%w: script file: %w; at most %d bytes are allowed", ErrInput, err, MaxScriptBytes)
	}
	return source, checkSource(source)
}

func checkSource(source []byte) error {
	switch {
	case len(source) == 0:
		return fmt.Errorf("%w: the script is empty", ErrInput)
	case len(source) > MaxScriptBytes:
		return fmt.Errorf("%w: the script has %d bytes, allowed are %d", ErrInput, len(source), MaxScriptBytes)
	case !utf8.Valid(source):
		return fmt.Errorf("%w: the script is not UTF-8", ErrInput)
	}
	return nil
}
