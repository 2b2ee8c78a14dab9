package main

import (
	"strconv"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/compaction"
)

// report writes outputs, one line of log and the job summary.
func (p *applier) report() {
	id := ""
	if p.plan != nil {
		id = p.plan.ID().String()
	}
	var stats compaction.Stats
	if p.status == statusApplied && p.result.Status == compaction.Ready {
		stats = p.result.Stats
	}
	p.SetOutput("status", p.status)
	p.SetOutput("reason", p.reason)
	p.SetOutput("plan-id", id)
	p.SetOutput("before", p.update.Before)
	p.SetOutput("after", p.update.After)
	p.SetOutput("retired", strconv.Itoa(stats.SourceSegments))
	p.SetOutput("records", strconv.Itoa(stats.ReplacementRecords))
	p.SetOutput("bytes-before", strconv.Itoa(stats.BytesBefore))
	p.SetOutput("bytes-after", strconv.Itoa(stats.BytesAfter))
	p.Infof("%s: %s", p.status, p.reason)

	s := action.NewSummary("maintenance-apply: %v", action.Markdown(map[string]string{
		statusNone:                        "no plan, nothing to do",
		statusApplied:                     "compaction applied",
		string(compaction.AlreadyApplied): "already applied, nothing to do",
		string(compaction.Stale):          "plan is stale, nothing changed",
		string(compaction.Conflict):       "plan conflicts with the ledger, nothing changed",
		string(compaction.Rejected):       "plan rejected, nothing changed",
		statusFailed:                      "failed",
	}[p.status]))
	s.Line("Ledger %s on branch %s. Reason: %s.", p.config.Ledger, p.config.Branch, p.reason)
	rows := [][]any{{action.Markdown("head before"), orNone(p.update.Before)}, {action.Markdown("head after"), orNone(p.update.After)}}
	if id != "" {
		rows = append(rows, []any{action.Markdown("plan"), id}, []any{action.Markdown("trigger"), string(p.plan.Trigger())})
	}
	if stats.SourceSegments > 0 {
		rows = append(rows, []any{action.Markdown("segments retired"), stats.SourceSegments},
			[]any{action.Markdown("records in them"), stats.SourceRecords}, []any{action.Markdown("records of the replacement"), stats.ReplacementRecords},
			[]any{action.Markdown("bytes before"), stats.BytesBefore}, []any{action.Markdown("bytes after"), stats.BytesAfter},
			[]any{action.Markdown("segments left alone"), stats.UnrelatedSegments}, []any{action.Markdown("replacement"), p.result.Coverage.Replacement})
	}
	if p.update.Attempts > 1 {
		rows = append(rows, []any{action.Markdown("attempts"), p.update.Attempts})
	}
	s.Table([]string{"", ""}, rows...)
	items := make([][]any, len(p.result.Skipped))
	for i, shard := range p.result.Skipped {
		items[i] = []any{shard.ID, shard.Reason}
	}
	s.List("Shards that cannot be compacted", "%s: %s", items...)
	p.AddStepSummary(s.String())
}

func orNone(head string) any {
	if head == "" {
		return action.Markdown("(none)")
	}
	return head
}
