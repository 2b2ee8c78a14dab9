package actions_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/github/githubtest"
)

// thread1 is a thread that alice triggers a run on; it returns the event.
func (th *threaded) thread1(t *testing.T) string {
	t.Helper()
	th.server.AddIssue(octo, githubtest.Issue{Number: 1, User: alice, Association: "OWNER", Body: "The issue.", Created: clock(0)})
	th.comment(1, 1, mallory, "NONE", "Trust me. "+canary(1))
	return th.payload(t, 1, th.comment(1, 2, alice, "OWNER", "Go on."))
}

// TestAnAgentThatSwapsTheContextJobsArtifactIsRefused replaces it in the agent's job:
// what digests name is refused, and nothing is published. The last case, which uploads
// the same once more, is the control.
func TestAnAgentThatSwapsTheContextJobsArtifactIsRefused(t *testing.T) {
	th := newThreaded(t)
	event := th.thread1(t)
	run := func(swap string) run {
		return th.hosted.act(t, "thread.yml", event, "--var", "SWAP="+swap, "--env", "CASE="+swap)
	}
	for _, swap := range []string{"a-record"} {
		r := run(swap)
		if jobs := r.jobs(); r.code == 0 || jobs["agent"] != "success" || jobs["persist"] != "failure" || jobs["record"] == "success" {
			t.Fatalf("%s: exit %d, jobs %v\n%s", swap, r.code, jobs, r.readable())
		}
		if got := th.printed(t, "persist", swap, "persist"); !strings.Contains(got, "::error title=persist::input staged-digest: trusted staging refused: ") {
			t.Errorf("%s: persist printed %q", swap, got)
		}
		if th.head(t, "ledgers/threads") != "" || th.head(t, "ledgers/memory") != "" {
			t.Errorf("%s: something was published", swap)
		}
	}
	for _, swap := range []string{"the-state"} {
		r := run(swap)
		if jobs := r.jobs(); r.code == 0 || jobs["persist"] != "success" || jobs["record"] != "failure" {
			t.Fatalf("%s: exit %d, jobs %v\n%s", swap, r.code, jobs, r.readable())
		}
		if got := th.printed(t, "record", swap, "thread-record"); !strings.Contains(got, "::error title=thread-record::input state-") {
			t.Errorf("%s: thread-record printed %q", swap, got)
		}
		if len(th.stateComments(1)) != 0 {
			t.Errorf("%s: the state comment was written", swap)
		}
	}
	for _, swap := range []string{"nothing"} {
		r := run(swap)
		if jobs := r.jobs(); r.code != 0 || jobs["persist"] != "success" || jobs["record"] != "success" {
			t.Fatalf("%s: exit %d, jobs %v\n%s", swap, r.code, jobs, r.readable())
		}
	}
	if list := th.stateComments(1); len(list) != 1 || strings.Count(list[0].Body, `"trusted":true`) != 2 {
		t.Errorf("the state is %+v", list)
	}
}

// TestEverySwapOfWhatDigestsNameIsBadInput is the same without the jobs, in every way.
// What only the agent itself reads has no effect on the others.
func TestEverySwapOfWhatDigestsNameIsBadInput(t *testing.T) {
	for swap, exits := range map[string][2]int{"nothing": {0, 0}, "the-context": {0, 0}, "the-state": {0, 2}, "no-state": {0, 2},
		"a-record": {2, 2}, "no-records": {2, 2}, "another-name": {2, 2}, "one-file-more": {2, 2}} {
		th := newThreaded(t)
		event := th.thread1(t)
		context := th.role(t, "thread-context", contextToken, event, nil)
		folder := filepath.Join(context.dir, "thread", "threads")
		command(t, th.dir, "node", "swap.mjs", swap, folder)
		p := th.publish(t, context, nil)
		p.wants(t, exits[0], "")
		if refused := strings.Contains(p.printed, "input staged-digest: trusted staging refused: "); refused != (exits[0] == 2) || (th.head(t, "ledgers/threads") == "") != refused {
			t.Errorf("%s: persist printed %s", swap, p.printed)
		}
		if exits[0] == 0 {
			th.record(t, context, event, nil).wants(t, exits[1], "")
			if len(th.stateComments(1)) != 1-exits[1]/2 {
				t.Errorf("%s: %d state comments", swap, len(th.stateComments(1)))
			}
		}
	}
}
