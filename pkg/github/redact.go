package github

import (
	"regexp"
	"strconv"
	"strings"
)

// known are the forms of common credentials that [Redact] knows whatever their
// length: GitHub's, AWS's, Slack's, Google's, those that begin with sk-, JSON web
// tokens, and private keys.
var known = regexp.MustCompile(`gh[a-z]_[A-Za-z0-9_]+|github_pat_[A-Za-z0-9_]+|A[KS]IA[A-Z0-9]{12,}|xox[a-z]-[A-Za-z0-9-]+|AIza[A-Za-z0-9_-]+|\bsk-[A-Za-z0-9_-]+|eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_.-]+|-----BEGIN [^-]*-----[^-]*(-----END [^-]*-----)?`)

// word is what a message is looked at by; harmless ones among those with digits
// are commit ids, UUIDs and digests with what a path puts around them.
var (
	word     = regexp.MustCompile(`[^\s"'<>(){}\[\],;]+`)
	harmless = regexp.MustCompile(`^(sha256:)?([0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})(\.jsonl?|\.md|\.txt)?[.:]?$`)
	piece    = regexp.MustCompile(`[^/:?&=%]+`)
	digit    = regexp.MustCompile(`[0-9]`)
)

const (
	hidden = "***"
	// minPieceBytes is the shortest run of characters that counts as a possible
	// secret by its looks; the random parts of tokens are longer.
	minPieceBytes = 16
	// minPrivateBytes is the shortest word that private is asked about.
	minPrivateBytes = 8
)

// Redact replaces by *** what could be a secret in a server's message: the forms
// of common credentials, any run of 16 characters or more with a digit in it that
// is no commit id, UUID or digest, and each word of 8 characters or more for which
// private (nil: none) says that it is of what was sent.
func Redact(text string, private func(word string) bool) string {
	text = known.ReplaceAllString(text, hidden)
	return word.ReplaceAllStringFunc(text, func(w string) string {
		if bare := strings.Trim(w, ".:!?`"); private != nil && len(bare) >= minPrivateBytes && digit.MatchString(bare) && private(bare) {
			return hidden
		}
		if !strings.Contains(w, "://") && strings.ContainsAny(w, "+=") && len(w) >= minPieceBytes && digit.MatchString(w) {
			return hidden // base64 may hold slashes
		}
		return piece.ReplaceAllStringFunc(w, func(p string) string {
			if len(p) >= minPieceBytes && digit.MatchString(p) && !harmless.MatchString(p) {
				return hidden
			}
			return p
		})
	})
}

// quote makes text fit for one line of a log: quoted, cut to n bytes with a
// visible mark, everything escaped that is not plain printable ASCII.
func quote(text string, n int) string {
	text = strings.TrimSpace(text)
	cut := ""
	if len(text) > n {
		text, cut = text[:n], "[cut]"
	}
	return strconv.QuoteToASCII(text) + cut
}
