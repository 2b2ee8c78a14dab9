package script

import (
	"context"
	"crypto/rand"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"
)

//go:embed harness.js
var harness string

// mode is a set of layers that the kernel puts around node.
type mode struct {
	namespaces bool // own user, pid, network, ipc and mount namespaces
	filter     bool // filter on system calls
	landlock   bool // Landlock
}

// ladder are the sets that may be used, strongest first. The canary decides. None
// is without the filter: it alone closes the sockets of the machine's services.
var ladder = []mode{
	{namespaces: true, filter: true, landlock: true},
	{namespaces: true, filter: true},
	{filter: true, landlock: true},
	{filter: true},
}

func (m mode) notices() []string {
	var notices []string
	if !m.namespaces {
		notices = append(notices, "Namespaces could not be used for the script; the system-call filter confines it.")
	}
	if !m.landlock {
		notices = append(notices, "Landlock could not be used for the script; files are closed to it by Node's permission model alone.")
	}
	return notices
}

// sandbox is a node executable and the layers in which its canary was refused
// everything.
type sandbox struct {
	node    string
	version version
	flags   []string
	mode    mode
}

// outcome is how one process ended. Of the reasons to kill it at most one is set.
type outcome struct {
	result   []byte // what arrived on descriptor 3
	printed  int64  // bytes on standard output and error
	code     int    // exit status, or 128 and the signal's number
	late     bool   // killed after its time
	flooded  bool   // killed after printing too much
	tampered bool   // killed after writing too much to descriptor 3
}

// errSetup: the layers could not be put in place, so node was never started.
var errSetup = errors.New("sandbox could not be set up")

// running admits one script at a time: while one runs, this process is closed to
// inspection, and starting another would open it for a moment.
var running sync.Mutex

// call runs source with args, which is a JSON array, and returns the JSON of its
// result, or undefined.
func call(ctx context.Context, o Options, source []byte, parameters []string, args []byte, report *Report) ([]byte, error) {
	if err := checkSource(source); err != nil {
		return nil, err
	}
	timeout, err := o.timeout()
	if err != nil {
		return nil, err
	}
	running.Lock()
	defer running.Unlock()
	if err := checkSecrets(); err != nil {
		return nil, err
	}
	box, err := prepare(ctx, o)
	if err != nil {
		return nil, err
	}
	report.Node, report.Notices = box.version.String(), box.mode.notices()
	nonce := newNonce()
	out, err := box.run(ctx, harness, envelope(nonce, source, parameters, args), timeout)
	report.PrintedBytes = out.printed
	if err != nil {
		return nil, err
	}
	if err := out.err(timeout); err != nil {
		return nil, err
	}
	return parseFrame(out.result, nonce)
}

func (out outcome) err(timeout time.Duration) error {
	switch {
	case out.late:
		return fmt.Errorf("%w: stopped after %s; make it faster, or end what keeps it alive", ErrTimeout, timeout)
	case out.flooded:
		return fmt.Errorf("%w: it printed more than %d bytes", ErrFailed, maxPrintedBytes)
	case out.tampered:
		return fmt.Errorf("%w: it wrote more than %d bytes to descriptor 3", ErrFailed, maxResultBytes)
	case out.code != 0:
		return fmt.Errorf("%w: its process ended with status %d", ErrFailed, out.code)
	}
	return nil
}

// newNonce returns 128 random bits in hexadecimal.
func newNonce() string {
	var bits [16]byte
	rand.Read(bits[:]) // never fails
	return hex.EncodeToString(bits[:])
}

// known remembers the sandboxes whose canary was run, by executable and first
// mode. It is guarded by running.
var known = make(map[string]sandbox)

// prepare finds node and the strongest layers that pass the canary.
func prepare(ctx context.Context, o Options) (sandbox, error) {
	box := sandbox{node: o.Node}
	if box.node == "" {
		var err error
		if box.node, err = findNode(); err != nil {
			return box, err
		}
	}
	if !filepath.IsAbs(box.node) || !executable(box.node) {
		return box, fmt.Errorf("%w: its path must be absolute and lead to an executable", ErrNode)
	}
	modes := o.modes
	if modes == nil {
		modes = ladder
	}
	key := fmt.Sprint(box.node, modes)
	if found, ok := known[key]; ok {
		return found, nil
	}
	if err := supported(); err != nil {
		return box, err
	}
	var err error
	if box.version, err = nodeVersion(ctx, box.node); err != nil {
		return box, err
	}
	if box.flags, err = box.version.flags(); err != nil {
		return box, err
	}
	refusal := error(errSetup)
	for _, box.mode = range modes {
		err := box.canary(ctx)
		if err == nil {
			known[key] = box
			return box, nil
		}
		if !errors.Is(err, errSetup) && !errors.Is(err, errAllowed) {
			return box, err // stopped or timed out: says nothing about this machine
		}
		if errors.Is(err, errAllowed) || !errors.Is(refusal, errAllowed) {
			refusal = err
		}
	}
	return box, fmt.Errorf("%w: %w; run this job on Linux with Node 24, named itself and not by a wrapper", ErrSandbox, refusal)
}

// String names the layers, for tests and errors.
func (m mode) String() string {
	name := ""
	for _, layer := range []struct {
		on   bool
		name string
	}{{m.namespaces, "namespaces"}, {m.filter, "filter"}, {m.landlock, "landlock"}} {
		if layer.on {
			name += "+" + layer.name
		}
	}
	if name == "" {
		return "nothing"
	}
	return name[1:]
}
