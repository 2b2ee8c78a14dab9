package actions_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/github/githubtest"
)

// TestWhatAnotherRunRecordsMeanwhileIsNotTakenForDeleted lets a whole other run come
// between the listing of a thread and its end.
func TestWhatAnotherRunRecordsMeanwhileIsNotTakenForDeleted(t *testing.T) {
	th := newThreaded(t)
	event, _ := th.ready(t, nil)
	late := func() {
		th.comment(1, 5, bob, "MEMBER", "Posted late.")
		other := th.role(t, "thread-context", contextToken, event, nil)
		other.wants(t, 0, "", "new", "1")
		th.publish(t, other, nil).wants(t, 0, "")
	}
	minimized := func(r githubtest.Request) bool { return strings.Contains(string(r.Body), "isMinimized") }
	th.server.Before(minimized, late)
	d := th.role(t, "thread-context", contextToken, event, nil)
	d.wants(t, 0, "", "new", "0", "deleted", "0", "staged", "0")
	if th.server.Unused() != 0 {
		t.Error("nothing came between")
	}
	// It is there in the next run, and nothing was lost or recorded twice.
	th.role(t, "thread-context", contextToken, event, nil).wants(t, 0, "", "new", "0", "deleted", "0", "records", "4")
	if got := th.threadRecords(t); strings.Count(got, "thread.artifact ") != 4 || strings.Contains(got, "thread.deleted") {
		t.Errorf("the ledger holds %s", got)
	}
}

// TestTwoRunsThatStageTheSameArtifactsCountThemOnce publishes both.
func TestTwoRunsThatStageTheSameArtifactsCountThemOnce(t *testing.T) {
	th := newThreaded(t)
	event := th.thread1(t)
	one, two := th.role(t, "thread-context", contextToken, event, nil), th.role(t, "thread-context", contextToken, event, nil)
	th.publish(t, one, nil).wants(t, 0, "", "thread-records", "3")
	th.publish(t, two, nil).wants(t, 0, "", "thread-records", "3")
	d := th.role(t, "thread-context", contextToken, event, nil)
	d.wants(t, 0, "3 records of the thread ledger have no effect", "records", "3", "new", "0", "staged", "0")
	th.record(t, d, event, nil).wants(t, 0, "", "written", "created")
}

// TestTwoRunsThatMakeTheStateCommentAtOnceLeaveOne has one run's whole record come
// between what another reads and what it writes.
func TestTwoRunsThatMakeTheStateCommentAtOnceLeaveOne(t *testing.T) {
	th := newThreaded(t)
	event, first := th.ready(t, map[string]string{"step": "first"})
	th.comment(1, 5, bob, "MEMBER", "Something new.")
	second := th.role(t, "thread-context", contextToken, event, nil)
	th.publish(t, second, nil).wants(t, 0, "")
	var other did
	th.server.Before(commentWrites, func() { other = th.record(t, first, event, nil) })
	d := th.record(t, second, event, nil)
	list := th.stateComments(1)
	if len(list) != 1 || !strings.Contains(list[0].Body, `"user_login":"bob"`) {
		t.Fatalf("%d state comments: %v", len(list), list)
	}
	other.wants(t, 0, "", "written", "created", "comment-id", fmt.Sprint(list[0].ID))
	d.wants(t, 0, "the one of this run was taken back", "written", "updated", "comment-id", fmt.Sprint(list[0].ID), "others", "0")
	deleted := 0
	for _, q := range th.server.Requests() {
		if q.Method == "DELETE" {
			deleted++
		}
	}
	if deleted != 1 {
		t.Errorf("%d comments were deleted", deleted)
	}
}

// TestAStateIsWrittenToItsOwnThreadOnly gives the state of one issue to another.
func TestAStateIsWrittenToItsOwnThreadOnly(t *testing.T) {
	th := newThreaded(t)
	_, context := th.ready(t, nil)
	th.server.AddIssue(octo, githubtest.Issue{Number: 2, User: alice, Association: "OWNER", Created: clock(0)})
	event2 := th.payload(t, 2, th.comment(2, 1, alice, "OWNER", "Another thread."))
	th.publish(t, th.role(t, "thread-context", contextToken, event2, nil), nil).wants(t, 0, "")
	th.record(t, context, event2, nil).wants(t, 2, "input number: the state is of another thread than number 2", "written", "false")
	th.record(t, context, event2, map[string]string{"number": "1"}).wants(t, 0, "", "written", "created")
	if len(th.stateComments(2)) != 0 || len(th.stateComments(1)) != 1 {
		t.Errorf("%d and %d state comments", len(th.stateComments(1)), len(th.stateComments(2)))
	}
}

// TestAThreadAndAnAgentMayShareALedger publishes both stagings to one branch, where an
// agent's record of a thread's type is refused.
func TestAThreadAndAnAgentMayShareALedger(t *testing.T) {
	th := newThreaded(t)
	event := th.thread1(t)
	d := th.role(t, "thread-context", contextToken, event, map[string]string{"ledger": "memory"})
	d.wants(t, 0, "", "staged", "3")
	agent := filepath.Join(t.TempDir(), "ledger", "memory")
	th.role(t, "agent-ledger", readsToken, event, map[string]string{"directory": agent}).wants(t, 0, "")
	forged, honest := record(t, 1, "thread.artifact", "x"), record(t, 2, "note", "y")
	write(t, filepath.Join(agent, "ledger", "shards", "33333333-3333-4333-8333-333333333333.jsonl"), string(forged.Line())+"\n"+string(honest.Line())+"\n")
	p := th.role(t, "persist", writesToken, "{}", map[string]string{"directory": agent, "thread-ledger": "memory",
		"staged-path": filepath.Join(d.dir, "thread", "memory", "staged"), "staged-digest": d.outputs["staged-digest"]})
	p.wants(t, 0, "types of memory.* and thread.* are written by their own tools and jobs only", "persisted", "true", "accepted", "1", "rejected", "1", "thread-records", "3")
	if log := th.ledger(t, "log"); strings.Count(log, "\n") != 4 || strings.Count(log, "thread.artifact") != 3 {
		t.Errorf("the ledger holds %s", log)
	}
}

// TestTextsOfAThreadAreNoCommandsAndForgeNoOutput puts the lies wherever somebody can
// put text into a thread.
func TestTextsOfAThreadAreNoCommandsAndForgeNoOutput(t *testing.T) {
	th := newThreaded(t)
	th.server.AddIssue(octo, githubtest.Issue{Number: 1, User: alice, Association: "OWNER", Title: lies[0], Body: strings.Join(lies, "\n"), Created: clock(0)})
	for n, lie := range slices.Concat(lies, controls) {
		th.comment(1, 1, &githubtest.Account{ID: int64(100 + n), Login: lie, Type: "User"}, "NONE", lie)
		th.comment(1, 1, alice, "OWNER", lie)
		th.comment(1, 1, mallory, "NONE", "<!-- ledger-thread-state v1 -->\n"+lie)
	}
	event := th.payload(t, 1, th.comment(1, 2, alice, "OWNER", strings.Join(lies, "\n")))
	d := th.role(t, "thread-context", contextToken, event, map[string]string{"step": "s", "inputs": `{"x":"\n::error::forged\npersisted=none\nEOF"}`})
	d.wants(t, 0, "")
	p := th.publish(t, d, nil)
	p.wants(t, 0, "")
	r := th.record(t, d, event, nil)
	r.wants(t, 0, "", "written", "created")
	for role, one := range map[string]did{"thread-context": d, "persist": p, "thread-record": r} {
		declared := map[string]bool{}
		for _, out := range helpRole(t, role).Outputs {
			declared[out.Name] = true
		}
		for name, value := range one.outputs {
			if !declared[name] {
				t.Errorf("%s: output %s is %q", role, name, value)
			}
		}
		for _, lie := range slices.Concat(lies[:len(lies)-1], controls) {
			if strings.Contains(one.printed, lie) {
				t.Errorf("%s printed %q: %s", role, lie, one.printed)
			}
		}
	}
	body := th.stateComments(1)
	own := body[len(body)-1].Body
	if strings.ContainsAny(own, "@\r\x1b\u202e") || strings.Count(own, "<") != 5 || strings.Count(own, "```") != 2 {
		t.Errorf("the state comment is %s", own)
	}
}
