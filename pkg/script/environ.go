package script

import (
	"fmt"
	"os"
	"slices"
)

// SecretNames are the environment variables that hold a token or a key in the
// jobs that run scripts. It returns a fresh slice.
func SecretNames() []string {
	return []string{
		"INPUT_TOKEN",
		"GITHUB_TOKEN",
		"GH_TOKEN",
		"ACTIONS_RUNTIME_TOKEN",
		"ACTIONS_ID_TOKEN_REQUEST_TOKEN",
		"MEMORY_MERGE_HMAC_KEYS",
		"INPUT_HMAC_KEYS",
	}
}

// ScrubEnv removes [SecretNames] and the named variables from the environment of
// this process, so that neither a child inherits them nor, on Linux, another
// process finds them in /proc: os.Unsetenv leaves the block that the process was
// started with as it was, ScrubEnv wipes the entries in it and looks again. The
// caller has read what it needs. An error means that a value may still be there.
func ScrubEnv(names ...string) error {
	names = append(SecretNames(), names...)
	running.Lock()
	defer running.Unlock()
	for _, name := range names {
		if err := os.Unsetenv(name); err != nil {
			return fmt.Errorf("%w: %s cannot be removed", ErrSecret, name)
		}
	}
	return wipeInitialEnv(names)
}

// checkSecrets refuses to go on while a secret could be read from this process.
func checkSecrets() error {
	initial, err := initialEnv()
	if err != nil {
		return err
	}
	for _, name := range SecretNames() {
		if os.Getenv(name) != "" || slices.ContainsFunc(initial, func(entry string) bool {
			value, found := cutName(entry, name)
			return found && value != ""
		}) {
			return fmt.Errorf("%w: %s is set while a script is to run; remove it from the step or scrub it first", ErrSecret, name)
		}
	}
	return nil
}

// cutName returns the value of the entry NAME=value.
func cutName(entry, name string) (string, bool) {
	if len(entry) > len(name) && entry[:len(name)] == name && entry[len(name)] == '=' {
		return entry[len(name)+1:], true
	}
	return "", false
}
