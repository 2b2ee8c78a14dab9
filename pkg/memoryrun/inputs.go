package memoryrun

import (
	"errors"
	"io/fs"
	"os"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/memory"
	"github.com/repo-memory/ledger/pkg/regular"
)

// KeysVariable is the environment variable of the merge keys where the input is
// not given.
const KeysVariable = "MEMORY_MERGE_HMAC_KEYS"

// The inputs that the roles share.
var (
	InputPolicy = action.Input{Name: "memory-policy", Kind: action.Path, Default: memory.PolicyPath, Empty: action.EmptyIsDefault,
		Help: "Path of the memory policy, as checked out from the default branch."}

	InputProject = action.Input{Name: "memory-project", Required: true,
		Help: "Project of the memory."}

	InputKeys = action.Input{Name: "merge-keys", Kind: action.Secret, Empty: "the environment variable " + KeysVariable,
		Help: "Merge keys, id=hex between commas, each of 32 bytes or more; the first signs, all verify. Keep them as a secret of an environment that is restricted to the default branch.",
		// Nothing here prints the keys, so they are not given to the runner to mask.
		Derived: func(a *action.Action) (string, error) { return a.Getenv(KeysVariable), nil }}

	InputEnvelope = action.Input{Name: "envelope", Kind: action.Path, Empty: "$RUNNER_TEMP/memory-merge/, the ledger's name and /envelope.json",
		Help:    "File of the authorization.",
		Derived: envelopeFile}
)

// ReadPolicy reads the policy; there is none where the file does not exist or
// path is empty. Errors show no path.
func ReadPolicy(path string) (*memory.Policy, error) {
	if path == "" {
		return nil, nil
	}
	text, err := regular.ReadFile(path, memory.MaxPolicyBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, errors.New("the memory policy cannot be read: " + regular.Cause(err).Error())
	}
	return memory.ParsePolicy(text)
}

// TakeKeys reads the merge keys and removes them from the environment of the
// process, so that no child gets them. On Linux the process is closed, too: the
// environment that it was started with stays readable in /proc otherwise, for
// every process of the same user. other are secrets that no key may equal.
func TakeKeys(a *action.Action, other ...string) (*memory.KeyRing, error) {
	closeProcess()
	text := a.GetInput(InputKeys.Name)
	for _, name := range []string{InputKeys.Variable(), KeysVariable} {
		if err := os.Unsetenv(name); err != nil {
			return nil, errors.New("the merge keys cannot be removed from the environment")
		}
	}
	ring, err := memory.ParseKeyRing(text, other...)
	if err != nil {
		return nil, action.BadInput(InputKeys.Name, "%v", err)
	}
	return ring, nil
}

// Limits returns the ledger's limits from the inputs of a role that publishes
// records of its own, which no patch bound limits.
func Limits(a *action.Action) (ledger.Limits, error) {
	limits, err := ledger.ParseLimits(func(name string) string {
		if name == action.InputMaxPatchKB.Name {
			return action.InputMaxPatchKB.Default
		}
		return a.GetInput(name)
	})
	if err != nil {
		return limits, action.BadInput("max-record-kb", "%v", err)
	}
	return limits, nil
}
