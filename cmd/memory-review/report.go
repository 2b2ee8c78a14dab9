package main

import (
	"errors"
	"strconv"
	"strings"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/memory"
)

// failed writes outputs and summary of a run that did not do it.
func (r *reviewer) failed(err error) {
	status := "failed"
	if refusal := (*memory.Refusal)(nil); errors.As(err, &refusal) {
		status = "refused"
	}
	r.SetOutput("status", status)
	r.SetOutput("reason", reasonOf(err))
	for _, name := range []string{"proposal-status", "state-digest", "strategy", "new-head", "blocking", "acknowledge", "envelope"} {
		r.SetOutput(name, "")
	}
	r.SetOutput("before", r.update.Before)
	r.SetOutput("after", r.update.After)
	what := action.Markdown("nothing was written")
	if r.update.Unclear {
		what = "and whether anything was written is not known: run it again"
	}
	s := action.NewSummary("memory-review: %v %v, %v", action.Markdown(r.operation), action.Markdown(status), what)
	s.Block("Reason: "+reasonOf(err), err.Error(), 2000)
	r.AddStepSummary(s.String())
}

// report writes outputs, one line of log and the job summary.
func (r *reviewer) report() {
	v := r.shown
	status, digest, envelope := "done", "", ""
	if r.update.Empty && !r.update.Settled {
		status = "unchanged"
	}
	blocking, asks := 0, []string{}
	for _, c := range v.Conflicts {
		switch c.Severity {
		case memory.Blocks:
			blocking++
		case memory.Asks:
			asks = append(asks, c.ID)
		}
	}
	approvable := v.Whole && v.NewHead != memory.Name{} && (v.Status == memory.ProposalOpen || v.Status == memory.ProposalChanges || v.Status == memory.ProposalApproved)
	if r.operation == show && approvable {
		digest = v.StateDigest
	}
	if r.token != nil {
		envelope = r.GetInput("envelope")
	}
	r.SetOutput("status", status)
	r.SetOutput("reason", "")
	r.SetOutput("proposal-status", string(v.Status))
	r.SetOutput("state-digest", digest)
	r.SetOutput("strategy", string(v.Strategy))
	r.SetOutput("new-head", v.NewHead.String())
	r.SetOutput("blocking", strconv.Itoa(blocking))
	r.SetOutput("acknowledge", strings.Join(asks[:min(len(asks), action.MaxListed)], ","))
	r.SetOutput("envelope", envelope)
	r.SetOutput("before", r.update.Before)
	r.SetOutput("after", r.update.After)
	r.Infof("%s: %s; the proposal is %s, %d conflicts block it, %d want to be acknowledged", r.operation, status, v.Status, blocking, len(asks))

	s := action.NewSummary("memory-review: %v of proposal %s, which is %s", action.Markdown(r.operation), r.proposal, string(v.Status))
	rows := [][]any{{action.Markdown("project"), r.project}, {action.Markdown("by"), v.Proposal.Author.Principal},
		{action.Markdown("target"), v.Proposal.TargetRef}, {action.Markdown("target's head"), v.Target.String()}, {action.Markdown("strategy"), string(v.Strategy)}}
	if v.NewHead != (memory.Name{}) {
		rows = append(rows, []any{action.Markdown("new head"), v.NewHead.String()})
	}
	rows = append(rows, []any{action.Markdown("conflicts that block"), blocking}, []any{action.Markdown("conflicts to acknowledge"), len(asks)})
	s.Table([]string{"", ""}, rows...)
	s.Block("The proposal's message", v.Proposal.Message, maxTextShown)
	if r.operation == show {
		switch {
		case digest != "":
			s.Line("To approve exactly what stands below, give this `state-digest`: `%v`", action.Markdown(digest))
		case !v.Whole:
			s.Line("**The diff has over %d bytes and is not shown whole. It cannot be approved: propose less at once.**", memory.MaxDiffBytes)
		case v.NewHead == memory.Name{}:
			s.Line("The %v has to be prepared before it can be approved: show it with `prepare: true`.", action.Markdown(v.Strategy))
		}
	}
	text := s.String()
	if r.operation == show && v.Whole {
		text += "### Diff\n\n" + v.Diff.Markdown() + "\n"
	}
	r.AddStepSummary(text + r.reviews())
}

// Bounds of what is shown of what people wrote; the diff has its own.
const (
	maxTextShown    = 4 << 10 // the longest message or finding
	maxReviewsShown = 20
)

// reviews shows what people said before, the last of it where it is much.
func (r *reviewer) reviews() string {
	list := r.shown.Reviews
	if len(list) == 0 {
		return ""
	}
	s := action.NewSummary("Reviews: %d", len(list))
	if n := len(list) - maxReviewsShown; n > 0 {
		s.Line("%d earlier ones are not shown: `ledger memory show` has them.", n)
		list = list[n:]
	}
	for _, v := range list {
		s.Line("%v by user %s at %s", action.Markdown(v.Operation), v.Reviewer.Principal, v.CreatedAt)
		if len(v.Findings) > 0 {
			s.Block("Findings", strings.Join(v.Findings, "\n"), maxTextShown)
		}
	}
	return s.String()
}
