package github

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWhatLooksLikeASecretIsNotShown(t *testing.T) {
	for text, secret := range map[string]string{
		"token ghp_abc in x":                           "ghp_abc",
		"github_pat_11ABC_def":                         "github_pat_11ABC_def",
		"key AKIAIOSFODNNEXAMPLE.":                     "AKIAIOSFODNN",
		"(xoxb-1-abc)":                                 "xoxb-1-abc",
		"sk-live-abc":                                  "sk-live-abc",
		"'eyJhbGciOi.eyJzdWIi.c2ln'":                   "eyJ",
		"-----BEGIN RSA PRIVATE KEY----- abc":          "abc",
		"password=hunter2hunter2hunter2":               "hunter2",
		"wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY+1":   "wJalr",
		"the value q8Zr1vT6yB3nq8Zr here":              "q8Zr1vT6yB3nq8Zr",
		"https://x.example/p4ssw0rdp4ssw0rdp4ssw0rd?y": "p4ssw0rd",
		"it says: correct7horse, the rest":             "correct7horse",
	} {
		got := Redact(text, func(word string) bool { return word == "correct7horse" })
		if strings.Contains(got, secret) || !strings.Contains(got, hidden) {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestWhatARefusalIsAboutIsShown(t *testing.T) {
	for _, text := range []string{
		"Repository rule violations found Changes must be made through a pull request.",
		"GH013: see https://github.com/octo/repo/rules?ref=refs%2Fheads%2Fledgers",
		`Expected branch to point to "0123456789abcdef0123456789abcdef01234567" but it did not.  Pull and try again.`,
		"ledger/shards/00000000-0000-4000-8000-000000000001.jsonl is too large",
		"sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
		"API rate limit exceeded for installation ID 1234567",
	} {
		if got := Redact(text, func(string) bool { return false }); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func FuzzRedactedTextIsOnePlainLineWithoutKnownTokens(f *testing.F) {
	for _, seed := range []string{"", "ghs_0123456789abcdefABCDEF", "a ghp_x b", "\xff\u202e\n::error::", "sk-1/sk-2", "-----BEGIN X-----", "https://h/?a=b&c", "AKIAAAAAAAAAAAAAAAAA"} {
		f.Add(seed, "private7word")
	}
	f.Fuzz(func(t *testing.T, text, private string) {
		got := quote(Redact(text+" "+token+" "+private, func(word string) bool { return strings.Contains(private, word) }), 1<<20)
		if strings.Contains(got, token) {
			t.Errorf("the token is in %s", got)
		}
		if !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("not plain: %q", got)
		}
	})
}

func FuzzAnyAnswerIsClassifiedWithoutShowingTheToken(f *testing.F) {
	f.Add(403, `{"message":"Resource not accessible by integration"}`, "1")
	f.Add(200, `{"data":null,"errors":[{"type":"STALE_DATA","message":"x"}]}`, "")
	f.Add(429, `{"message":"`+token+`"}`, "999999")
	f.Add(307, ``, "")
	f.Fuzz(func(t *testing.T, code int, body, after string) {
		c := replies(always(code, body, "Retry-After", after, "Location", body)).client(t)
		var data struct{ A *string }
		err := c.GraphQL(t.Context(), "query", nil, Call{Needs: needsContents}, &data)
		if err != nil && strings.Contains(err.Error(), token) {
			t.Errorf("the token is in %v", err)
		}
		if err != nil && strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' || r == 0x7f }) {
			t.Errorf("not one line: %q", err)
		}
		if err == nil && (code < 200 || code > 299) {
			t.Errorf("status %d passed for a success", code)
		}
	})
}
