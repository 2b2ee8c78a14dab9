package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/compaction"
)

var (
	serverForm     = regexp.MustCompile(`^https?://[A-Za-z0-9.:-]{1,253}$`)
	repositoryForm = regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}/[A-Za-z0-9._-]{1,100}$`)
)

// runLink returns the URL of the run's attempt, "" where there is none.
func runLink(a *action.Action) (string, error) {
	c, err := a.Context()
	if err != nil {
		return "", err
	}
	if c.RunID == 0 || !serverForm.MatchString(c.ServerURL) || !repositoryForm.MatchString(c.Repository) {
		return "", nil
	}
	return fmt.Sprintf("%s/%s/actions/runs/%d/attempts/%d", c.ServerURL, c.Repository, c.RunID, max(1, c.RunAttempt)), nil
}

// message is the commit's: the role, what it did to which ledger, the plan, and
// the run that did it. It holds nothing that the plan's author could choose.
func (p *applier) message(r compaction.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "maintenance-apply: compact %d segments of ledger %s into one\n\n", r.Stats.SourceSegments, p.config.Ledger)
	fmt.Fprintf(&b, "Plan: %s\nTrigger: %s\n", p.plan.ID(), p.plan.Trigger())
	fmt.Fprintf(&b, "Replacement: %s, %d records\n", r.Coverage.Replacement, r.Stats.ReplacementRecords)
	if p.link != "" {
		fmt.Fprintf(&b, "Run: %s\n", p.link)
	}
	return b.String()
}
