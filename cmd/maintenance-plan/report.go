package main

import (
	"strconv"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/compaction"
)

// report writes outputs, one line of log and the job summary.
func (p *planner) report() {
	var file, id string
	selected := 0
	if p.made != nil {
		file, id, selected = p.file, p.made.ID().String(), len(p.made.Sources())
	}
	var skipped []compaction.Skipped
	if p.inventory != nil {
		skipped = p.inventory.Skipped()
	}
	p.SetOutput("plan", file)
	p.SetOutput("plan-id", id)
	p.SetOutput("selected", strconv.Itoa(selected))
	p.SetOutput("due", strconv.FormatBool(p.due))
	p.SetOutput("reason", p.reason)
	p.SetOutput("head", p.head)
	p.SetOutput("skipped", strconv.Itoa(len(skipped)))
	p.SetOutput("script", p.script)
	if len(skipped) > 0 {
		p.Warningf("%d shard(s) cannot be compacted and stay as they are; the job summary names them", len(skipped))
	}
	var s *action.Summary
	if p.made != nil {
		s = action.NewSummary("maintenance-plan: %d segments to be compacted into one", selected)
		p.Infof("planned %s: %d segments into %s", id, selected, p.made.Replacement().Segment)
	} else {
		s = action.NewSummary("maintenance-plan: nothing to compact")
		p.Infof("no plan: %s", p.reason)
	}
	s.Line("Ledger %s on branch %s, head %s. Reason: %s.", p.config.Ledger, p.config.Branch, orNone(p.head), p.reason)
	rows := [][]any{{action.Markdown("trigger"), string(p.trigger)}, {action.Markdown("round"), p.round}, {action.Markdown("selection script"), p.script}}
	if p.inventory != nil {
		rows = append(rows, []any{action.Markdown("segments"), p.inventory.Len()}, []any{action.Markdown("of them eligible"), p.selection.Eligible})
	}
	if p.made != nil {
		r := p.made.Replacement()
		bytes := 0
		for _, source := range p.made.Sources() {
			bytes += source.Bytes
		}
		rows = append(rows, []any{action.Markdown("segments to retire"), selected},
			[]any{action.Markdown("bytes in them"), bytes}, []any{action.Markdown("bytes of the replacement"), r.Bytes},
			[]any{action.Markdown("records of the replacement"), len(r.Records)},
			[]any{action.Markdown("replacement"), r.Segment}, []any{action.Markdown("plan"), id})
	}
	s.Table([]string{"", ""}, rows...)
	items := make([][]any, len(skipped))
	for i, shard := range skipped {
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
