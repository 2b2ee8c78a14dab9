package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/github/githubtest"
)

// TestEveryRefusalOfGitHubEndsTheRunWithItsReasonAndItsAdvice goes through the
// binary: exit code, annotation, summary, and what none of them may show.
func TestEveryRefusalOfGitHubEndsTheRunWithItsReasonAndItsAdvice(t *testing.T) {
	fork := filepath.Join(t.TempDir(), "event.json")
	if err := os.WriteFile(fork, []byte(`{"pull_request":{"head":{"repo":{"id":2}},"base":{"repo":{"id":1}}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	problem := func(kind, message string) *githubtest.Reply {
		r := githubtest.Respond(200, fmt.Sprintf(`{"data":{"createCommitOnBranch":null},"errors":[{"type":%q,"message":%q}]}`, kind, message))
		return &r
	}
	status := func(code int, message string) *githubtest.Reply {
		r := githubtest.Respond(code, fmt.Sprintf(`{"message":%q}`, message))
		return &r
	}
	limit, redirect := githubtest.SecondaryLimit("3600"), githubtest.RedirectTo("https://elsewhere.invalid/graphql")
	const writes, secret = "write", "AKIAIOSFODNN7EXAMPLE"
	for name, c := range map[string]struct {
		contents string // the token's permission; "" for a token that is none
		env      []string
		reply    *githubtest.Reply // to each mutation; nil is the server's own
		code     int
		reason   string
		says     string
	}{
		"a token that only reads":        {"read", nil, nil, 1, "forbidden", "the job's token needs contents: write: give the job permissions: {contents: write}"},
		"the token of a fork":            {"read", []string{"GITHUB_EVENT_NAME=pull_request", "GITHUB_EVENT_PATH=" + fork}, nil, 1, "fork_token", "runs for a pull request from a fork get a token that can only read"},
		"the token of Dependabot":        {"read", []string{"GITHUB_EVENT_NAME=push", "GITHUB_ACTOR=dependabot[bot]"}, nil, 1, "fork_token", "Dependabot"},
		"a token that is none":           {"", nil, nil, 1, "unauthorized", "contents: read"},
		"a token that expires meanwhile": {writes, nil, status(401, "Bad credentials"), 1, "unauthorized", "has expired; it needs contents: write"},
		"a ruleset":                      {writes, nil, problem("UNPROCESSABLE", "Repository rule violations found\n\nChanges must be made through a pull request."), 1, "rejected", `Repository rule violations found\n\nChanges must be made through a pull request.`},
		"branch protection":              {writes, nil, status(403, "Protected branch update failed for refs/heads/ledgers/memory."), 1, "rejected", "except the job's token on this branch"},
		"push protection":                {writes, nil, problem("UNPROCESSABLE", "Push cannot contain secrets: "+secret+" in ledger/shards"), 1, "rejected", "push protection found a secret"},
		"a repository without access":    {writes, nil, status(404, "Not Found"), 1, "not_found", "contents: write"},
		"a limit for an hour":            {writes, nil, &limit, 1, "throttled", "it asks to wait 1h0m0s"},
		"a redirect":                     {writes, nil, &redirect, 1, "not_found", "redirects are not followed"},
		"the API of another host":        {writes, []string{"INPUT_PUBLISH=api", "GITHUB_API_URL=https://evil.example"}, nil, 2, "", "input publish: bad remote: publish is api, and bad address or token of a GitHub server: GITHUB_API_URL is on the host"},
		"the API for another remote":     {writes, []string{"INPUT_PUBLISH=api", "INPUT_REMOTE=/srv/git/x.git"}, nil, 2, "", "not the URL of a repository on the server"},
		"a way that is none":             {writes, []string{"INPUT_PUBLISH=ssh"}, nil, 2, "", "input publish: got"},
		"a read-only token, by git":      {"read", []string{"INPUT_PUBLISH=git"}, nil, 1, "unauthorized", "the token needs contents: write on this repository"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHub(t, true)
			head := hubGit(t, h.dir, "rev-parse", hubBranch)
			dir, _ := h.writer(t, "w", 1)
			env := append([]string{"INPUT_TOKEN=ghs_unknown0123456789"}, c.env...)
			if c.contents != "" {
				h.Token(hubToken, githubtest.Permissions{"contents": c.contents})
				env[0] = "INPUT_TOKEN=" + hubToken
			}
			if c.reply != nil {
				for range 20 {
					h.Script(githubtest.Mutation, *c.reply)
				}
			}
			r := h.persist(t, dir, env...)
			if r.code != c.code || !strings.Contains(r.log, "::error title=persist::") || !strings.Contains(r.log, c.says) {
				t.Errorf("exit %d\n%s", r.code, r.log)
			}
			if c.reason != "" && !strings.Contains(r.summaryText, "Reason: "+c.reason+"**") {
				t.Errorf("the summary has no reason %s:\n%s", c.reason, r.summaryText)
			}
			for _, hidden := range []string{hubToken, "ghs_unknown", secret, "confidential"} {
				if strings.Contains(r.everything(), hidden) {
					t.Errorf("%s is in\n%s", hidden, r.everything())
				}
			}
			if hubGit(t, h.dir, "rev-parse", hubBranch) != head || !strings.Contains(r.output, "persisted=false\n") && r.code != 2 {
				t.Errorf("something was written, or %s", r.output)
			}
		})
	}
}
