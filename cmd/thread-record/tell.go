package main

import (
	"errors"
	"strconv"

	"github.com/repo-memory/ledger/pkg/action"
)

// tell writes outputs, annotations and the job summary.
func (r *recorder) tell(failed error) {
	if failed != nil {
		r.written = writtenFalse
	}
	r.SetOutput("written", r.written)
	var bad *action.InputError
	if errors.As(failed, &bad) {
		return
	}
	comment, left := "", r.left.Records+r.left.History+r.left.Inputs
	if failed == nil && r.comment != 0 {
		comment = strconv.FormatInt(r.comment, 10)
	}
	r.SetOutput("comment-id", comment)
	r.SetOutput("left", strconv.Itoa(left))
	r.SetOutput("others", strconv.Itoa(r.others))
	requests := 0
	if r.run != nil {
		requests = r.run.Budget.Used()
	}
	r.SetOutput("requests", strconv.Itoa(requests))
	if r.others > 0 {
		r.Noticef("%d other comments carry the marker of the state comment; they were neither read nor changed", r.others)
	}
	if left > 0 && failed == nil {
		r.Noticef("the state comment has no room for %d records, %d history entries and %d inputs, the oldest: the ledger has them", r.left.Records, r.left.History, r.left.Inputs)
	}
	r.Infof("state comment: %s", r.written)
	r.AddStepSummary(r.summary(failed, requests))
}

// maxReasonShown bounds what is shown of an error.
const maxReasonShown = 2000

func (r *recorder) summary(failed error, requests int) string {
	var s *action.Summary
	switch {
	case failed != nil:
		s = action.NewSummary("thread-record: failed, the state comment was not written")
		s.Block("Reason", failed.Error(), maxReasonShown)
	case r.body == "":
		s = action.NewSummary("thread-record: there is no state to write yet")
	case r.written == writtenNone:
		s = action.NewSummary("thread-record: the state comment stands already")
	default:
		s = action.NewSummary("thread-record: the state comment was %v", action.Markdown(r.written))
	}
	s.Line("Ledger %s on branch %s.", r.GetInput("ledger"), r.GetInput("branch"))
	s.Table([]string{"", ""},
		[]any{action.Markdown("comment"), r.comment},
		[]any{action.Markdown("records in it"), len(r.state.Thread) - r.left.Records},
		[]any{action.Markdown("records left to the ledger"), r.left.Records},
		[]any{action.Markdown("history entries left to the ledger"), r.left.History},
		[]any{action.Markdown("other comments with its marker"), r.others},
		[]any{action.Markdown("requests"), requests})
	return s.String()
}
