package main

import (
	"fmt"
	"strings"

	"github.com/repo-memory/ledger/pkg/compaction"
)

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
