package main

import (
	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/compaction"
)

// compactOperation is the operation of a maintenance workflow that asks for
// compaction; a workflow_dispatch without an operation asks for it too.
const compactOperation = "compact_ledger"

// eventTrigger reads from the event why the run began. A called workflow sees
// the event of its caller. What is no request is scheduled: then the schedule
// decides.
func eventTrigger(a *action.Action) compaction.Trigger {
	if a.Getenv("GITHUB_EVENT_NAME") != "workflow_dispatch" {
		return compaction.Scheduled
	}
	payload, err := a.EventPayload()
	if err != nil {
		a.Warningf("the event cannot be read, so the schedule decides: %v; set the input trigger", err)
		return compaction.Scheduled
	}
	var event struct {
		Inputs *struct {
			Operation *string `json:"operation"`
		} `json:"inputs"`
	}
	if err := canonical.Decode(payload, &event, canonical.AllowUnknown); err != nil {
		a.Warningf("the event is not understood, so the schedule decides; set the input trigger")
		return compaction.Scheduled
	}
	if in := event.Inputs; in == nil || in.Operation == nil || *in.Operation == "" || *in.Operation == compactOperation {
		return compaction.Requested
	}
	return compaction.Scheduled
}
