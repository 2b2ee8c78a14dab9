package main

import (
	"path/filepath"
	"strconv"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/thread"
)

// tell writes outputs, annotations and the job summary. Nothing that anybody wrote
// into the thread is in them.
func (r *runner) tell(failed error) {
	if isBad(failed) {
		return
	}
	if r.run != nil {
		r.SetOutput("requests", strconv.Itoa(r.run.Budget.Used()))
		r.SetOutput("number", strconv.FormatInt(r.run.Source.Thread.Number, 10))
	}
	if r.listed.Listing != nil {
		r.SetOutput("complete", strconv.FormatBool(r.listed.Listing.Complete))
	}
	if failed == nil {
		r.tellDone()
	}
	r.AddStepSummary(r.summary(failed))
}

func (r *runner) tellDone() {
	r.SetOutput("directory", r.dir)
	r.SetOutput("context-path", filepath.Join(r.dir, contextFile))
	r.SetOutput("context-digest", canonical.Sum([]byte(r.rendered.Text)))
	r.SetOutput("state-path", filepath.Join(r.dir, stateFile))
	r.SetOutput("state-digest", thread.StateDigest(r.state))
	r.SetOutput("staged-path", filepath.Join(r.dir, stagedFolder))
	r.SetOutput("staged-digest", r.staging.Digest)
	r.SetOutput("staged", strconv.Itoa(len(r.staging.Records)))
	r.SetOutput("records", strconv.Itoa(len(r.reconciled.Records)))
	r.SetOutput("new", strconv.Itoa(len(r.reconciled.New)))
	r.SetOutput("deleted", strconv.Itoa(len(r.reconciled.Deleted)))
	r.SetOutput("full", strconv.Itoa(len(r.rendered.Full)))
	r.SetOutput("unverified", strconv.Itoa(len(r.rendered.Unverified)))
	for _, warning := range r.reconciled.Warnings {
		r.Warningf("%s", warning)
	}
	if r.listed.Reason != nil {
		r.Warningf("the thread could not be read whole, and the last items that could be read serve: %v", r.listed.Reason)
	}
	if n := r.listed.Unknown; n > 0 {
		r.Warningf("%d artifacts are not listed by GraphQL and count as minimized", n)
	}
	if n := r.fold.IgnoredCount; n > 0 {
		r.Noticef("%d records of the thread ledger have no effect; ledger thread show names them", n)
	}
	r.Infof("thread %d: %d artifacts, %d new, %d deleted; %d items in full, %d unverified; %d of at most %d requests", r.run.Source.Thread.Number,
		len(r.reconciled.Records), len(r.reconciled.New), len(r.reconciled.Deleted), len(r.rendered.Full), len(r.rendered.Unverified), r.run.Budget.Used(), r.run.Budget.Max())
}

// maxReasonShown bounds what is shown of an error.
const maxReasonShown = 2000

func (r *runner) summary(failed error) string {
	var s *action.Summary
	switch {
	case failed != nil:
		s = action.NewSummary("thread-context: failed, there is no context")
		s.Block("Reason", failed.Error(), maxReasonShown)
	case r.rendered.Legacy:
		s = action.NewSummary("thread-context: the thread could not be read whole, %d items serve", len(r.rendered.Full))
		s.Block("Reason", r.listed.Reason.Error(), maxReasonShown)
	default:
		s = action.NewSummary("thread-context: %d items in full, %d unverified", len(r.rendered.Full), len(r.rendered.Unverified))
	}
	s.Line("Ledger %s on branch %s.", r.GetInput("ledger"), r.GetInput("branch"))
	var rows [][]any
	row := func(name string, value any) { rows = append(rows, []any{action.Markdown(name), value}) }
	if r.run != nil {
		row("number", r.run.Source.Thread.Number)
		row("requests", action.Markdown(strconv.Itoa(r.run.Budget.Used())+" of at most "+strconv.Itoa(r.run.Budget.Max())))
		row("passes over the thread", r.listed.Passes)
	}
	if failed == nil {
		row("artifacts", len(r.reconciled.Records))
		row("new", len(r.reconciled.New))
		row("deleted", len(r.reconciled.Deleted))
		row("records staged", len(r.staging.Records))
		row("left out by history-comment-count", r.rendered.Windowed)
		row("left out by the token budget", r.rendered.Dropped)
		row("unverified and only counted", r.rendered.Hidden)
		row("tokens, estimated", r.rendered.Tokens)
		row("trigger author known", r.config.Trigger.Author != nil)
		row("trigger time known", !r.config.Trigger.At.IsZero())
		row("engine's actor known", r.config.Engine != nil)
	}
	s.Table([]string{"", ""}, rows...)
	return s.String()
}
