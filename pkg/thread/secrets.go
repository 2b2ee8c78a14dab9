package thread

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/repo-memory/ledger/pkg/canonical"
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

// bindsSecret finds an expression that resolves to a secret.
var bindsSecret = regexp.MustCompile(`(?i)\bsecrets\s*[.\[]|\bgithub\s*\.\s*token\b|\bgithub\s*\[\s*'token'`)

// Check refuses inputs whose name, or a name in whose value, looks like a secret's,
// whose binding is an expression of one, and those that hold a secret: as the whole
// of the value or of a text in it, however it was cut, or, of at least 8 bytes,
// anywhere in value, binding or detail, in JSON's spelling too. The error names the
// input by its place and the variable by its name.
func (s Secrets) Check(inputs []StepInput) error {
	for i, in := range inputs {
		if err := s.check(in, orZero(in.Value)); err != nil {
			return fmt.Errorf("input %d: %w", i+1, err)
		}
	}
	return nil
}

const passAlone = ": inputs are published, so pass the secret to the step alone"

func (s Secrets) check(in StepInput, value string) error {
	if LooksSecret(in.Name) {
		return errors.New("its name looks like a secret's" + passAlone)
	}
	if bindsSecret.MatchString(in.Binding) {
		return errors.New("its binding is that of a secret" + passAlone)
	}
	var names []string
	values := []string{value}
	if v, err := canonical.ParseStrict([]byte(value), maxInputsDepth); err == nil {
		names, values = textsOf(v, names, values)
	}
	if slices.ContainsFunc(names, LooksSecret) {
		return errors.New("a name in its value looks like a secret's" + passAlone)
	}
	anywhere := append([]string{in.Name, in.Binding, in.Detail}, values...)
	for _, name := range slices.Sorted(maps.Keys(s)) {
		secret := lineFeeds(strings.TrimSpace(s[name]))
		if secret == "" {
			continue
		}
		whole, _ := cut(lineFeeds(s[name]), MaxValueChars)
		if slices.ContainsFunc(values, func(text string) bool {
			text = lineFeeds(text)
			return text == whole || strings.TrimSpace(text) == secret
		}) {
			return fmt.Errorf("its value is that of %s"+passAlone, name)
		}
		quoted := canonical.AppendString(nil, secret)
		spelled := string(quoted[1 : len(quoted)-1])
		if len(secret) >= minSecretBytes && slices.ContainsFunc(anywhere, func(text string) bool {
			return strings.Contains(lineFeeds(text), secret) || strings.Contains(text, spelled)
		}) {
			return fmt.Errorf("it holds the value of %s"+passAlone, name)
		}
	}
	return nil
}

// textsOf adds the names of members in v, and every text and number.
func textsOf(v canonical.Value, names, values []string) (allNames, allValues []string) {
	switch v.Kind {
	case canonical.String, canonical.Number:
		values = append(values, v.Str)
	}
	for _, item := range v.Items {
		names, values = textsOf(item, names, values)
	}
	for _, m := range v.Members {
		names, values = textsOf(m.Value, append(names, m.Name), values)
	}
	return names, values
}
