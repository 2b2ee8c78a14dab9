package github

import (
	"strings"

	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/regular"
)

// ReadOnlyRun says why a run's GITHUB_TOKEN can only read whatever the workflow
// grants, or "" when there is no such reason: GitHub gives such a token to runs for
// a pull request from a fork, and to those that Dependabot triggers. It reads the
// event's payload; what cannot be read is no reason.
func ReadOnlyRun(getenv func(string) string) string {
	event := getenv("GITHUB_EVENT_NAME")
	if getenv("GITHUB_ACTOR") == "dependabot[bot]" && event != "pull_request_target" && event != "workflow_run" {
		return "runs that Dependabot triggers get a token that can only read"
	}
	if event != "pull_request" && !strings.HasPrefix(event, "pull_request_review") {
		return ""
	}
	payload, err := regular.ReadFile(getenv("GITHUB_EVENT_PATH"), maxEventBytes)
	if err != nil {
		return ""
	}
	type side struct {
		Repo *struct {
			ID int64 `json:"id"`
		} `json:"repo"`
	}
	var e struct {
		PullRequest *struct {
			Head side `json:"head"`
			Base side `json:"base"`
		} `json:"pull_request"`
	}
	if canonical.Decode(payload, &e, canonical.AllowUnknown) != nil || e.PullRequest == nil || e.PullRequest.Base.Repo == nil {
		return ""
	}
	// A fork that was deleted has no repository.
	if head := e.PullRequest.Head.Repo; head == nil || head.ID != e.PullRequest.Base.Repo.ID {
		return "runs for a pull request from a fork get a token that can only read"
	}
	return ""
}
