package actions_test

import (
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

// TestAnAgentThatSwapsTheContextJobsArtifactIsRefused replaces it in the agent's job
// in every way. What digests name is refused with 2, and nothing is published; what
// only the agent itself reads has no effect on others. The last case is the control.
func TestAnAgentThatSwapsTheContextJobsArtifactIsRefused(t *testing.T) {
	th := newThreaded(t)
	event := th.thread1(t)
	run := func(swap string) run {
		return th.hosted.act(t, "thread.yml", event, "--var", "SWAP="+swap, "--env", "CASE="+swap)
	}
	for _, swap := range []string{"a-record", "no-records", "another-name", "one-file-more"} {
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
	for _, swap := range []string{"the-state", "no-state"} {
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
	for _, swap := range []string{"the-context", "nothing"} {
		r := run(swap)
		if jobs := r.jobs(); r.code != 0 || jobs["persist"] != "success" || jobs["record"] != "success" {
			t.Fatalf("%s: exit %d, jobs %v\n%s", swap, r.code, jobs, r.readable())
		}
	}
	if list := th.stateComments(1); len(list) != 1 || strings.Count(list[0].Body, `"trusted":true`) != 3 {
		t.Errorf("the state is %+v", list)
	}
}
