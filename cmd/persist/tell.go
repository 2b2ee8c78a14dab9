package main

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/persist"
	"github.com/repo-memory/ledger/pkg/publish"
)

// maxReasonShown bounds what is shown of an error, and of the reason that a
// script gave.
const maxReasonShown = 2000

// tell writes outputs, annotations and the job summary.
func (p *persister) tell(failed error) {
	var bad *action.InputError
	if errors.As(failed, &bad) {
		p.SetOutput("persisted", persistedFalse)
		return
	}
	p.tellTrusted()
	r := &p.report
	if p.outcome != persistedTrue {
		// What was accepted was so for a commit that was not made.
		r.Records, r.Files, r.Replaced, r.Accepted = 0, 0, 0, persist.List{}
		r.HeadsAfter, r.ShardsAfter = r.HeadsBefore, r.ShardsBefore
	}
	if failed != nil {
		r.Memory = nil
	}
	p.SetOutput("persisted", p.outcome)
	p.SetOutput("before", p.update.Before)
	p.SetOutput("after", p.update.After)
	p.SetOutput("accepted", strconv.Itoa(r.Records))
	p.SetOutput("files", strconv.Itoa(r.Files))
	p.SetOutput("ignored", strconv.Itoa(r.Ignored.Count))
	p.SetOutput("rejected", strconv.Itoa(r.Rejected.Count))
	heads := "" // the branch was not read
	if r.MaxShards > 0 {
		heads = strconv.Itoa(len(r.HeadsAfter))
	}
	p.SetOutput("heads", heads)
	p.SetOutput("compaction-needed", strconv.FormatBool(r.CompactionNeeded))
	p.annotate()
	p.tellMemory(r)
	p.Infof("persisted: %s; %d records, %d files, %d ignored, %d rejected", p.outcome, r.Records, r.Files, r.Ignored.Count, r.Rejected.Count)
	p.AddStepSummary(p.summary(failed))
}

func (p *persister) annotate() {
	r := &p.report
	for _, warning := range r.Warnings {
		p.Warningf("%s", warning)
	}
	if r.CompactionNeeded {
		p.Warningf("ledger has %d of at most %d shards: run maintenance to compact it", r.ShardsAfter, r.MaxShards)
	}
	if r.Diagnostics > 0 {
		p.Noticef("%d diagnostics on the branch itself; ledger verify names them", r.Diagnostics)
	}
	if r.Rejected.Count > 0 {
		p.Warningf("%d staged items were rejected; the summary names them and says why", r.Rejected.Count)
		p.Group("Rejected")
		for _, i := range r.Rejected.Items[:min(len(r.Rejected.Items), action.MaxListed)] {
			p.Infof("%s", i)
		}
		if n := r.Rejected.Count - action.MaxListed; n > 0 {
			p.Infof("…and %d more", n)
		}
		p.EndGroup()
	}
	if g := r.Gaps; g != nil && !g.None() {
		p.Noticef("transaction log: %d staged records have no event, %d events no record, %d events describe their record otherwise than it is",
			len(g.Unlogged), len(g.Unrecorded), len(g.Differing))
	}
}

// summary is the outcome first, then counts, then lists.
func (p *persister) summary(failed error) string {
	r := &p.report
	var s *action.Summary
	switch {
	case failed != nil:
		what := action.Markdown("nothing was published")
		if p.update.Unclear {
			what = "and whether anything was published is not known"
		}
		s = action.NewSummary("persist: failed, %s", what)
		s.Block("Reason: "+publish.Reason(failed), failed.Error(), maxReasonShown)
	case !p.BoolInput("agent-staged"):
		s = action.NewSummary("persist: no agent staged anything in this run")
	case p.outcome == persistedNone:
		s = action.NewSummary("persist: nothing to persist")
	default:
		s = action.NewSummary("persist: %d records and %d files published", r.Records, r.Files)
	}
	s.Line("Ledger %s on branch %s.", p.GetInput("ledger"), p.GetInput("branch"))
	s.Table([]string{"", "before", "after"},
		[]any{action.Markdown("commit"), orNone(p.update.Before), orNone(p.update.After)},
		[]any{action.Markdown("heads"), len(r.HeadsBefore), len(r.HeadsAfter)},
		[]any{action.Markdown("shards"), r.ShardsBefore, r.ShardsAfter})
	rows := [][]any{
		{action.Markdown("records published"), r.Records},
		{action.Markdown("files added"), r.Files - r.Replaced},
		{action.Markdown("files replaced"), r.Replaced},
		{action.Markdown("ignored"), r.Ignored.Count},
		{action.Markdown("rejected"), r.Rejected.Count},
	}
	more := func(name string, n int, shown bool) {
		if shown {
			rows = append(rows, []any{action.Markdown(name), n})
		}
	}
	more("attempts", p.update.Attempts, p.update.Attempts > 1)
	more("diagnostics on the branch", r.Diagnostics, r.Diagnostics > 0)
	more("runs of the validation script", p.verdict.runs, p.script != nil)
	more("bytes printed by it", int(p.verdict.printed), p.script != nil)
	s.Table([]string{"", ""}, rows...)
	if p.verdict.reason != "" {
		s.Block("The validation script's reason", p.verdict.reason, maxReasonShown)
	}
	list(s, "Rejected", r.Rejected)
	list(s, "Published", r.Accepted)
	p.summarizeMemory(s, r)
	p.tellLog(s)
	return s.String()
}

// tellLog compares the transaction log with the staging.
func (p *persister) tellLog(s *action.Summary) {
	if p.log == nil {
		return
	}
	s.Line("**Transaction log**: evidence, not authority.")
	rows := [][]any{
		{action.Markdown("events"), len(p.log.Events)},
		{action.Markdown("events for a record named before"), p.log.Duplicate},
		{action.Markdown("lines that are no events"), p.log.Dropped + p.log.Other},
		{action.Markdown("events that name an id under another digest"), p.log.Conflicts},
	}
	for _, t := range p.log.Types() {
		rows = append(rows, []any{action.Markdown("events of type " + action.Code(t.Type, 200)), t.N})
	}
	s.Table([]string{"", ""}, rows...)
	if g := p.report.Gaps; g != nil {
		hashes(s, "Staged records without an event", g.Unlogged)
		hashes(s, "Events without a staged record", g.Unrecorded)
		hashes(s, "Events that describe their record otherwise than it is", g.Differing)
	}
}

// list names items, of which strangers chose the paths.
func list(s *action.Summary, title string, l persist.List) {
	items := make([][]any, len(l.Items))
	for i, item := range l.Items {
		place := action.Markdown("")
		if item.Line != 0 {
			place = action.Markdown(fmt.Sprintf(" line %d (byte %d)", item.Line, item.Offset))
		}
		items[i] = []any{action.Markdown(item.Kind), item.Path, place, item.Reason}
	}
	if l.Count > len(l.Items) {
		title = fmt.Sprintf("%s (%d in all), of which the first", title, l.Count)
	}
	s.List(title, "%s %s%s: %s", items...)
}

func hashes(s *action.Summary, title string, l []ledger.Hash) {
	items := make([][]any, len(l))
	for i, h := range l {
		items[i] = []any{h}
	}
	s.List(title, "%s", items...)
}

func orNone(commit string) any {
	if commit == "" {
		return action.Markdown("(none)")
	}
	return commit
}
