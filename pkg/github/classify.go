package github

import (
	"net/http"
	"strings"

	"github.com/repo-memory/ledger/pkg/canonical"
)

// refusal is the part of a REST error that is looked at.
type refusal struct {
	Message *string `json:"message"`
}

// classify makes an Error of an HTTP status that is no success.
func (c *Client) classify(res *http.Response, body []byte, call Call) *Error {
	var r refusal
	message := ""
	foreign := len(body) > 0 && canonical.Decode(body, &r, canonical.AllowUnknown) != nil
	if !foreign && r.Message != nil {
		message = *r.Message
	}
	code := res.StatusCode
	e := &Error{Status: code, Says: says(message, call)}
	_, after := c.retryAfter(res.Header)
	permission := says403(message)
	switch {
	case code >= 300 && code < 400:
		e.Kind, e.Hint = ErrRedirect, "redirects are not followed: the repository was renamed or moved, use its present name"
		if host := hostOf(res.Header.Get("Location")); host != "" {
			e.Hint = "redirects are not followed, this one leads to the host " + host + ": use the present address and name of the repository"
		}
	case code == http.StatusUnauthorized:
		e.Kind, e.Hint = ErrUnauthorized, "the token is wrong, was revoked or has expired"+needs(call, "; it needs ")
	case (code == http.StatusForbidden || code == http.StatusTooManyRequests) && !permission && res.Header.Get("X-RateLimit-Remaining") == "0":
		e.Kind = ErrPrimaryLimit
	case code == http.StatusTooManyRequests, code == http.StatusForbidden && !permission && (after || saysLimit(message)):
		e.Kind = ErrSecondaryLimit
	case saysRule(message) && code < 500:
		e.rule()
	case code == http.StatusForbidden && foreign:
		e.Kind, e.Hint = ErrForbidden, "the answer is not the API's, so that a proxy or a firewall may have given it: check https_proxy"+needs(call, "; the job's token needs ")
	case code == http.StatusForbidden:
		c.forbidden(e, message, call)
	case code == http.StatusNotFound, code == http.StatusGone:
		e.Kind, e.Hint = ErrNotFound, "check the name, and that the token may see it"+needs(call, "; it needs ")
	case code == http.StatusConflict && strings.Contains(strings.ToLower(message), "is empty"):
		e.Kind = ErrEmpty
	case code == http.StatusUnprocessableEntity && strings.Contains(strings.ToLower(message), "reference already exists"):
		e.Kind = ErrExists
	case code == http.StatusRequestEntityTooLarge:
		e.Kind, e.Hint = ErrTooLarge, "the server takes no request of this size"
	case code >= 400 && code < 500 && code != http.StatusRequestTimeout:
		e.Kind = ErrInvalid
	default:
		e.Kind = ErrUnavailable
	}
	return e
}

func says(message string, call Call) string {
	if strings.TrimSpace(message) == "" {
		return ""
	}
	return quote(Redact(message, call.Private), maxSaysBytes)
}

func needs(call Call, before string) string {
	if call.Needs == "" {
		return ""
	}
	return before + call.Needs
}

// rule is the kind of what a repository's owner forbids.
func (e *Error) rule() {
	e.Kind = ErrRule
	e.Hint = "let the ruleset or branch protection except the job's token on this branch"
	if lower := strings.ToLower(e.Says); strings.Contains(lower, "secret") || strings.Contains(lower, "push protection") {
		e.Hint = "push protection found a secret in what was to be published: remove it there, and revoke it"
	}
}

// forbidden tells a missing permission from a token that can only read.
func (c *Client) forbidden(e *Error, message string, call Call) {
	e.Kind = ErrForbidden
	if !says403(message) && message != "" {
		e.Hint = strings.TrimPrefix(needs(call, "; the job's token needs "), "; ")
		return
	}
	if why := c.opts.ReadOnly(); why != "" && strings.Contains(call.Needs, "write") {
		e.Kind, e.Hint = ErrForkToken, why+": write in a trusted job of another run, for example on workflow_run"
		return
	}
	e.Hint = "the job's token lacks a permission"
	if call.Needs != "" {
		permission, level, _ := strings.Cut(call.Needs, ": ")
		e.Hint = "the job's token needs " + call.Needs + ": give the job permissions: {" + permission + ": " + level + "}; the token of a pull request from a fork cannot get it"
	}
}

// says403 knows the sentences of a missing permission.
func says403(message string) bool {
	return containsAny(message, "resource not accessible by", "must have admin rights", "must have push access", "insufficient_scopes", "required scopes")
}

func saysLimit(message string) bool {
	return containsAny(message, "rate limit", "abuse detection", "too many requests", "temporarily blocked from content creation")
}

// saysRule knows how rulesets, branch protection and push protection speak.
func saysRule(message string) bool {
	return containsAny(message, "rule violation", "repository rule", "ruleset", "protected branch", "branch protection", "protected ref",
		"push protection", "cannot contain secrets", "secret scanning", "secrets detected", "secret detected", "through a pull request", "required status check", "verified signatures",
		"gh006", "gh009", "gh013")
}

func saysStale(message string) bool {
	return containsAny(message, "expected branch to point to", "pull and try again") || containsAny(message, "is at ") && containsAny(message, "but expected")
}

func containsAny(text string, words ...string) bool {
	text = strings.ToLower(text)
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}
