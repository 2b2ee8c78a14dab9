package script

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/repo-memory/ledger/pkg/canonical"
)

//go:embed canary.js
var canaryProgram string

// errAllowed: something that must be refused was not.
var errAllowed = errors.New("the canary was not stopped")

// attempts are what the canary reports on; true is "denied". All have to be.
type attempts struct {
	Read        *bool `json:"read"`
	Write       *bool `json:"write"`
	Environment *bool `json:"environment"`
	SQLite      *bool `json:"sqlite"`
	Spawn       *bool `json:"spawn"`
	Thread      *bool `json:"thread"`
	Addon       *bool `json:"addon"`
	Signal      *bool `json:"signal"`
	TCP         *bool `json:"tcp"`
	UDP         *bool `json:"udp"`
	Unix        *bool `json:"unix"`
	Variables   *bool `json:"variables"`
}

func (a attempts) allowed() []string {
	var names []string
	for _, attempt := range []struct {
		name   string
		denied *bool
	}{
		{"read a file", a.Read}, {"write a file", a.Write}, {"read an environment", a.Environment},
		{"open node:sqlite", a.SQLite}, {"spawn a process", a.Spawn}, {"start a thread", a.Thread},
		{"load an addon", a.Addon}, {"signal the parent", a.Signal}, {"reach TCP", a.TCP},
		{"reach UDP", a.UDP}, {"reach Unix sockets", a.Unix}, {"see variables", a.Variables},
	} {
		if attempt.denied == nil || !*attempt.denied {
			names = append(names, attempt.name)
		}
	}
	return names
}

// canary runs the canary in b. nil: everything was refused.
func (b sandbox) canary(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "ledger-canary-")
	if err != nil {
		return fmt.Errorf("%w: no folder for the canary", ErrSandbox)
	}
	defer os.RemoveAll(dir)
	file, absent := filepath.Join(dir, "bait"), filepath.Join(dir, "absent")
	if err := os.WriteFile(file, []byte("bait"), 0o600); err != nil {
		return fmt.Errorf("%w: no file for the canary", ErrSandbox)
	}
	nonce := newNonce()
	input := `{"nonce":"` + nonce + `","file":` + quote(file) + `,"absent":` + quote(absent) +
		`,"parent":` + strconv.Itoa(os.Getpid()) + `}`
	out, err := b.run(ctx, canaryProgram, []byte(input), canaryTimeout)
	if err != nil {
		return err
	}
	if out.late {
		return fmt.Errorf("%w: the canary took longer than %s", ErrSandbox, canaryTimeout)
	}
	if err := out.err(canaryTimeout); err != nil {
		return fmt.Errorf("%w: node does not run in it (status %d)", errSetup, out.code)
	}
	result, err := parseFrame(out.result, nonce)
	if err != nil {
		return fmt.Errorf("%w: no report from the canary", errSetup)
	}
	var report attempts
	if err := canonical.Decode(result, &report); err != nil {
		return fmt.Errorf("%w: no report from the canary", errSetup)
	}
	if names := report.allowed(); len(names) > 0 {
		return fmt.Errorf("%w: a script could %s", errAllowed, strings.Join(names, ", "))
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		return fmt.Errorf("%w: it left a file behind", errAllowed)
	}
	return nil
}

func quote(text string) string { return string(canonical.AppendString(nil, text)) }
