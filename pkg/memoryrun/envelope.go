package memoryrun

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/memory"
	"github.com/repo-memory/ledger/pkg/regular"
)

// ErrNoEnvelope: there is no authorization where one is looked for.
var ErrNoEnvelope = errors.New("there is no authorization: approve with memory-review, and give memory-merge its envelope or the artifact of that job")

// envelopeFile is where review and merge look when they are not told.
func envelopeFile(a *action.Action) (string, error) {
	temp := a.Getenv("RUNNER_TEMP")
	if temp == "" {
		return "", action.BadInput("envelope", "not given, and RUNNER_TEMP is not set; give a path")
	}
	return filepath.Join(temp, "memory-merge", a.GetInput("ledger"), "envelope.json"), nil
}

// RemoveEnvelope removes what an earlier run left at the authorization's path.
func RemoveEnvelope(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.New("a file of an earlier run stands in the envelope's place and cannot be removed; give another path as envelope")
	}
	return nil
}

// WriteEnvelope writes an authorization whole or not at all.
func WriteEnvelope(path string, token *memory.Token) error {
	failed := errors.New("the envelope cannot be written; give the path of a file in a writable directory as envelope")
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return failed
	}
	f, err := os.CreateTemp(dir, ".envelope-*")
	if err != nil {
		return failed
	}
	_, err = f.Write(token.Text())
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return failed
	}
	return nil
}

// ReadEnvelope reads an authorization, which anyone may have put there.
func ReadEnvelope(path string) (*memory.Token, error) {
	text, err := regular.ReadFile(path, memory.MaxTokenBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoEnvelope
	}
	if err != nil {
		return nil, memory.ErrTokenForm
	}
	return memory.ParseToken(text)
}

// IsTokenError reports whether an authorization itself is what failed.
func IsTokenError(err error) bool {
	for _, kind := range []error{ErrNoEnvelope, memory.ErrTokenForm, memory.ErrUnknownKey, memory.ErrOtherServer, memory.ErrOtherRepository,
		memory.ErrOtherLedger, memory.ErrOtherBranch, memory.ErrMAC, memory.ErrLifetime, memory.ErrFuture, memory.ErrExpired} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}
