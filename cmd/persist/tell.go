package main

import (
	"strconv"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/persist"
	"github.com/repo-memory/ledger/pkg/publish"
)

// maxReasonShown bounds what is shown of the reason that a script gave.
const maxReasonShown = 500

// tell writes outputs, annotations and the job summary, the outcome first.
func (p *persister) tell(failed error) {
	r := &p.report
	after, records, files := p.update.After, r.Records, r.Files
	if p.outcome != persistedTrue {
		records, files = 0, 0
	}
	if failed != nil {
		after = ""
	}
	p.SetOutput("persisted", p.outcome)
	p.SetOutput("before", p.update.Before)
	p.SetOutput("after", after)
	p.SetOutput("accepted", strconv.Itoa(records))
	p.SetOutput("files", strconv.Itoa(files))
	p.SetOutput("ignored", strconv.Itoa(r.Ignored.Count))
	p.SetOutput("rejected", strconv.Itoa(r.Rejected.Count))
	p.SetOutput("heads", strconv.Itoa(len(r.HeadsAfter)))
	p.SetOutput("compaction-needed", strconv.FormatBool(r.CompactionNeeded))

	for _, warning := range r.Warnings {
		p.Warningf("%s", warning)
	}
	if r.Rejected.Count > 0 {
		p.Warningf("%d staged items were rejected; the summary names them and says why", r.Rejected.Count)
	}
	if r.Gaps != nil && !r.Gaps.None() {
		p.Noticef("transaction log: %d staged records have no event, %d events no record, %d events describe their record otherwise than it is",
			len(r.Gaps.Unlogged), len(r.Gaps.Unrecorded), len(r.Gaps.Differing))
	}
	p.Infof("persisted: %s; %d records, %d files, %d ignored, %d rejected", p.outcome, records, files, r.Ignored.Count, r.Rejected.Count)
	p.AddStepSummary(p.summary(failed, records, files))
}

func (p *persister) summary(failed error, records, files int) string {
	r := &p.report
	var s *action.Summary
	switch {
	case failed != nil:
		s = action.NewSummary("persist: failed, nothing was published")
		if reason := publish.Reason(failed); reason != "failed" {
			s.Line("Reason: %s.", reason)
		}
	case p.outcome == persistedNone:
		s = action.NewSummary("persist: nothing to persist")
	default:
		s = action.NewSummary("persist: %d records and %d files published", records, files)
	}
	s.Line("Ledger %s on branch %s.", p.GetInput("ledger"), p.GetInput("branch"))
	rows := [][]any{
		{action.Markdown("commit before"), orNone(p.update.Before)},
		{action.Markdown("commit after"), orNone(p.update.After)},
		{action.Markdown("records published"), records},
		{action.Markdown("files published"), files},
		{action.Markdown("ignored"), r.Ignored.Count},
		{action.Markdown("rejected"), r.Rejected.Count},
		{action.Markdown("heads before"), len(r.HeadsBefore)},
		{action.Markdown("heads after"), len(r.HeadsAfter)},
		{action.Markdown("shards after"), r.ShardsAfter},
	}
	if p.update.Attempts > 1 {
		rows = append(rows, []any{action.Markdown("attempts"), p.update.Attempts})
	}
	if p.log != nil {
		rows = append(rows, []any{action.Markdown("events in the transaction log"), len(p.log.Events)})
	}
	if r.Diagnostics > 0 {
		rows = append(rows, []any{action.Markdown("diagnostics on the branch"), r.Diagnostics})
	}
	if p.script != nil {
		rows = append(rows, []any{action.Markdown("bytes printed by the validation script"), p.printed})
	}
	s.Table([]string{"", ""}, rows...)
	if p.verdict != "" {
		s.Block("The validation script's reason", p.verdict, maxReasonShown)
	}
	list(s, "Rejected", r.Rejected)
	list(s, "Published", r.Accepted)
	if g := r.Gaps; g != nil && !g.None() {
		s.Line("The transaction log is evidence, not authority: %d staged records have no event, %d events have no record, %d differ.",
			len(g.Unlogged), len(g.Unrecorded), len(g.Differing))
	}
	return s.String()
}

// list names items, of which strangers chose the paths.
func list(s *action.Summary, title string, l persist.List) {
	items := make([][]any, len(l.Items))
	for i, item := range l.Items {
		items[i] = []any{item.String()}
	}
	s.List(title, "%s", items...)
}

func orNone(commit string) any {
	if commit == "" {
		return action.Markdown("(none)")
	}
	return commit
}
