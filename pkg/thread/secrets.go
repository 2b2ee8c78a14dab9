package thread

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Secrets are values that must never be recorded, by the name of the environment
// variable that holds each. Inputs stand verbatim on the ledger and in a public
// comment (decision 5), so a secret is refused, not masked.
type Secrets map[string]string

var (
	camel  = regexp.MustCompile(`([a-z0-9])([A-Z])`)
	joints = regexp.MustCompile(`[^a-z0-9]+`)
)

// secretWords mark a name as a secret's wherever they stand in it, whole words
// of the second list only as such.
var (
	secretParts = []string{"secret", "password", "passwd", "passphrase", "credential", "apikey", "privatekey", "accesskey", "authtoken"}
	secretWords = []string{"token", "pat", "pwd", "auth", "authorization", "bearer", "cookie", "jwt", "hmac"}
	secretPairs = []string{"api key", "private key", "access key", "ssh key", "signing key", "deploy key", "encryption key", "merge key"}
	counted     = []string{"budget", "count", "limit", "usage"}
)

// LooksSecret reports whether an input's name looks like a secret's, such as
// GITHUB_TOKEN, apiKey or db-password. A token-budget is none.
func LooksSecret(name string) bool {
	words := strings.Fields(joints.ReplaceAllString(strings.ToLower(camel.ReplaceAllString(name, "$1 $2")), " "))
	spaced := " " + strings.Join(words, " ") + " "
	joined := strings.Join(words, "")
	if slices.ContainsFunc(secretParts, func(part string) bool { return strings.Contains(joined, part) }) ||
		slices.ContainsFunc(secretPairs, func(pair string) bool { return strings.Contains(spaced, " "+pair+" ") }) {
		return true
	}
	for i, word := range words {
		if slices.Contains(secretWords, word) && (i+1 == len(words) || !slices.Contains(counted, words[i+1])) {
			return true
		}
	}
	return false
}

// Check refuses inputs whose name looks like a secret's, and those that hold a
// secret: as the whole value, however it was cut, or, of at least
// 8 bytes, anywhere in value, binding or detail. The error names the input by its
// place and the variable by its name.
func (s Secrets) Check(inputs []StepInput) error {
	for i, in := range inputs {
		if err := s.check(in, orZero(in.Value)); err != nil {
			return fmt.Errorf("input %d: %w", i+1, err)
		}
	}
	return nil
}

func (s Secrets) check(in StepInput, value string) error {
	if LooksSecret(in.Name) {
		return errors.New("its name looks like a secret's: inputs are published, so pass the secret to the step alone")
	}
	names := make([]string, 0, len(s))
	for name := range s {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		secret := s[name]
		if strings.TrimSpace(secret) == "" {
			continue
		}
		kept, _ := cut(secret, MaxValueChars)
		if value == secret || value == kept || strings.TrimSpace(value) == strings.TrimSpace(secret) {
			return fmt.Errorf("its value is that of %s: inputs are published, so pass the secret to the step alone", name)
		}
		for _, text := range []string{in.Name, value, in.Binding, in.Detail} {
			if len(secret) >= minSecretBytes && strings.Contains(text, strings.TrimSpace(secret)) {
				return fmt.Errorf("it holds the value of %s: inputs are published, so pass the secret to the step alone", name)
			}
		}
	}
	return nil
}
