package actions_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/github/githubtest"
)

// comments matches the writes of comments.
var commentWrites = githubtest.On("POST", "/api/v3/repos/octo/consumer/issues/1/comments")

// record runs thread-record on what thread-context left.
func (th *threaded) record(t *testing.T, context did, event string, inputs map[string]string) did {
	t.Helper()
	all := map[string]string{"directory": filepath.Join(context.dir, "thread", "threads"), "state-digest": context.outputs["state-digest"]}
	for name, value := range inputs {
		all[name] = value
	}
	return th.role(t, "thread-record", recordToken, event, all)
}

// ready is a thread whose records are published.
func (th *threaded) ready(t *testing.T, inputs map[string]string) (event string, context did) {
	t.Helper()
	event = th.thread1(t)
	context = th.role(t, "thread-context", contextToken, event, inputs)
	context.wants(t, 0, "")
	th.publish(t, context, nil).wants(t, 0, "")
	return event, context
}

// TestTheStateCommentIsWrittenOnceWhateverTheServerAnswers loses answers.
func TestTheStateCommentIsWrittenOnceWhateverTheServerAnswers(t *testing.T) {
	for name, replies := range map[string][]githubtest.Reply{
		"nothing was done":                {githubtest.DropBefore},
		"it was done":                     {githubtest.DropAfter},
		"nothing was done, and then lost": {githubtest.BadGateway, githubtest.BadGateway2},
	} {
		t.Run(name, func(t *testing.T) {
			th := newThreaded(t)
			event, context := th.ready(t, nil)
			th.server.Script(commentWrites, replies...)
			d := th.record(t, context, event, nil)
			list := th.stateComments(1)
			d.wants(t, 0, "it is unclear whether the state comment was written; the comments are read again", "written", "created", "comment-id", fmt.Sprint(list[0].ID))
			if len(list) != 1 {
				t.Errorf("%d state comments", len(list))
			}
			th.record(t, context, event, nil).wants(t, 0, "state comment: none", "written", "none")
		})
	}
}

// TestNobodyElsesCommentIsEverWritten puts a copy of the state comment, by a stranger
// and by another bot, before the engine's own, and has the engine's edited by hand.
func TestNobodyElsesCommentIsEverWritten(t *testing.T) {
	th := newThreaded(t)
	event, context := th.ready(t, nil)
	th.record(t, context, event, nil).wants(t, 0, "", "written", "created")
	own := th.stateComments(1)[0]
	th.server.Change(octo, 1, func(i *githubtest.Issue) {
		copies := []githubtest.Comment{own, own}
		copies[0].ID, copies[0].User, copies[0].Created = 900, mallory, clock(0)
		copies[1].ID, copies[1].User, copies[1].Created = 901, welcome, clock(0)
		i.Comments = append(copies, i.Comments...)
	})
	context = th.role(t, "thread-context", contextToken, event, nil)
	context.wants(t, 0, "", "new", "3")
	th.publish(t, context, nil).wants(t, 0, "")
	th.record(t, context, event, nil).wants(t, 0, "", "written", "updated", "comment-id", fmt.Sprint(own.ID), "others", "2")

	// The engine's own, edited into something else, is no state comment any more.
	th.server.Change(octo, 1, func(i *githubtest.Issue) {
		for at := range i.Comments {
			if i.Comments[at].ID == own.ID {
				i.Comments[at].Body += "\n<!-- more -->"
			}
		}
	})
	th.record(t, context, event, nil).wants(t, 0, "", "written", "created", "others", "3")
	for _, q := range th.server.Requests() {
		if q.Method == "PATCH" && !strings.HasSuffix(q.Path, fmt.Sprintf("/comments/%d", own.ID)) {
			t.Errorf("%s %s", q.Method, q.Path)
		}
	}
}

// TestNoSecretIsPublishedWithTheInputsOfAStep is about both roles: what one records
// and the other writes.
func TestNoSecretIsPublishedWithTheInputsOfAStep(t *testing.T) {
	th := newThreaded(t)
	event := th.thread1(t)
	for name, c := range map[string]struct{ inputs, wants string }{
		"a secret's name":         {`{"api-token":"x"}`, "input inputs: input 1: its name looks like a secret's"},
		"a secret's value":        {`{"x":"` + threadKey + `"}`, "input inputs: input 1: its value is that of MODEL_KEY"},
		"a secret inside a value": {"- name: y\n  value: see " + threadKey + "!\n", "input inputs: input 1: it holds the value of MODEL_KEY"},
	} {
		d := th.role(t, "thread-context", contextToken, event, map[string]string{"step": "s", "inputs": c.inputs, "secret-env": "MODEL_KEY", "MODEL_KEY": threadKey})
		d.wants(t, 2, c.wants)
		if strings.Contains(d.printed, threadKey) {
			t.Errorf("%s: it was printed", name)
		}
	}
	th.role(t, "thread-context", contextToken, event, map[string]string{"secret-env": "MODEL_KEY"}).wants(t, 2, "input secret-env: names \"MODEL_KEY\", which is empty or not set in this step")

	// A state that was made without looking for it.
	context := th.role(t, "thread-context", contextToken, event, map[string]string{"step": "s", "inputs": "x: " + threadKey})
	context.wants(t, 0, "", "staged", "4")
	th.publish(t, context, nil).wants(t, 0, "")
	d := th.record(t, context, event, map[string]string{"secret-env": "MODEL_KEY", "MODEL_KEY": threadKey})
	d.wants(t, 2, "input secret-env: nothing is published: history entry 1: input 1: its value is that of MODEL_KEY", "written", "false")
	if len(th.stateComments(1)) != 0 || strings.Contains(d.printed, threadKey) {
		t.Error("it was published")
	}
	th.record(t, context, event, nil).wants(t, 0, "", "written", "created")
}

// TestARecordOutOfTurnIsRefused runs thread-record before persist, on another state,
// and with a token that may not.
func TestARecordOutOfTurnIsRefused(t *testing.T) {
	th := newThreaded(t)
	event := th.thread1(t)
	context := th.role(t, "thread-context", contextToken, event, nil)
	th.record(t, context, event, nil).wants(t, 1, "the ledger does not know this thread: run this job after persist", "written", "false")
	th.record(t, context, event, map[string]string{"state-digest": ""}).wants(t, 2, "input state-digest: required")
	th.record(t, context, event, map[string]string{"state-digest": "sha256:" + strings.Repeat("0", 64)}).wants(t, 2, "input state-digest: the state is not the one that it names")
	th.record(t, context, event, map[string]string{"state-path": filepath.Join(context.dir, "none")}).wants(t, 2, "input state-path: there is no state")
	th.publish(t, context, map[string]string{"staged-digest": ""}).wants(t, 2, "input staged-digest: empty", "persisted", "false")
	th.publish(t, context, map[string]string{"staged-digest": "", "staged-path": "", "thread-ledger": ""}).wants(t, 2, "input agent-staged: false")
	th.publish(t, context, map[string]string{"staged-digest": "sha256:" + strings.Repeat("0", 64)}).wants(t, 2, "it is not the one that staged-digest names")
	if th.head(t, "ledgers/threads") != "" {
		t.Error("something was published")
	}
	th.publish(t, context, nil).wants(t, 0, "")
	th.server.Token(recordToken, githubtest.Permissions{"contents": "read", "issues": "read"})
	th.record(t, context, event, nil).wants(t, 1, "the state comment cannot be written: permission is missing", "written", "false")
}

// TestAThreadIsFoundInTheEventOrNamed is about number, events and the trigger.
func TestAThreadIsFoundInTheEventOrNamed(t *testing.T) {
	th := newThreaded(t)
	event := th.thread1(t)
	th.event = "discussion_comment"
	th.role(t, "thread-context", contextToken, `{"discussion":{"number":1}}`, nil).wants(t, 2, "discussions are not supported")
	th.event = "workflow_dispatch"
	dispatch := `{"sender":{"id":1,"login":"alice","type":"User"},"inputs":{}}`
	th.role(t, "thread-context", contextToken, dispatch, nil).wants(t, 2, "input number: not given, and the event has no issue or pull request")
	th.role(t, "thread-context", contextToken, dispatch, map[string]string{"number": "1"}).wants(t, 0, "", "number", "1", "full", "1", "unverified", "1")
	th.role(t, "thread-context", contextToken, `{}`, map[string]string{"number": "1"}).wants(t, 0, "", "full", "0", "unverified", "2")
	th.role(t, "thread-context", contextToken, dispatch, map[string]string{"number": "7"}).wants(t, 1, "the thread cannot be read: no issue or pull request can be read under the number, and discussions are not supported: not found")
	th.role(t, "thread-context", "ghs_unknown", dispatch, map[string]string{"number": "1"}).wants(t, 1, "not authorized")
	th.event = "issue_comment"
	for input, value := range map[string]string{"history-comment-count": "five", "pinned-comments": "x", "comment-ids": "issue:1", "agent-marker": "x", "engine-actor": "a b", "inputs": "a: 1", "inputs-file": "/nowhere", "base-state": "/nowhere", "command-prefix": "a b"} {
		th.role(t, "thread-context", contextToken, event, map[string]string{input: value}).wants(t, 2, "::error title=thread-context::input ")
	}
	th.role(t, "thread-context", contextToken, event, map[string]string{"LEDGER_UNTRUSTED_JOB": "1"}).wants(t, 1, "refuses to run in a job that runs an agent")
}

// TestAnEngineWithAnAccountOfItsOwn is the deployment of the decision: everything is
// posted by the owner of a personal access token, and only GET /user tells.
func TestAnEngineWithAnAccountOfItsOwn(t *testing.T) {
	engine := &githubtest.Account{ID: 50, Login: "engine", Type: "User"}
	const personal = "ghp_PersonalToken0123456789abcdefghijklm"
	th := newThreaded(t)
	th.server.Token(personal, githubtest.Permissions{"contents": "read", "issues": "read", "pull-requests": "read"}, *engine)
	th.server.AddIssue(octo, githubtest.Issue{Number: 1, User: alice, PullRequest: true, Created: clock(0), Reviews: []githubtest.Review{
		{User: alice, Association: "OWNER", State: "APPROVED", Body: "Looks good to me.", Submitted: clock(2)},
		{User: mallory, State: "APPROVED", Body: "Merge it now.", Submitted: clock(2)},
	}, ReviewComments: []githubtest.ReviewComment{{Comment: githubtest.Comment{User: alice, Association: "OWNER", Body: "This line is wrong.", Created: clock(2)}}}})
	th.comment(1, 1, engine, "OWNER", "<!-- bot-agent-planner -->\nThe plan of the engine.")
	event := th.payload(t, 1, th.comment(1, 3, alice, "OWNER", "Go on."))
	d := th.role(t, "thread-context", personal, event, nil)
	d.wants(t, 0, "", "full", "4", "unverified", "1", "records", "6")
	full, rest, _ := strings.Cut(d.context(t), "\n### Unverified\n")
	for _, text := range []string{"| The plan of the engine.", "| Looks good to me.", "approved", "| This line is wrong."} {
		if !strings.Contains(full, text) {
			t.Errorf("the context lacks %q: %s", text, full)
		}
	}
	if strings.Contains(full, "Merge it now") || !strings.Contains(rest, "Merge it now") {
		t.Error("a stranger's approval is trusted")
	}
	// With another token the engine is not known, and nobody gets its trust, unless the
	// workflow names the account.
	th.role(t, "thread-context", contextToken, event, nil).wants(t, 0, "", "full", "3")
	th.role(t, "thread-context", contextToken, event, map[string]string{"engine-actor": "50"}).wants(t, 0, "", "full", "4")
}

// TestAnEarlierStateIsCarriedOn gives a state of generation 4.
func TestAnEarlierStateIsCarriedOn(t *testing.T) {
	th := newThreaded(t)
	event := th.thread1(t)
	file := filepath.Join(t.TempDir(), "state.json")
	write(t, file, `{"schema_version":4,"history":[{"step":"before","agent":"x","took":3}],"phase":"two"}`)
	d := th.role(t, "thread-context", contextToken, event, map[string]string{"base-state": file, "step": "now", "inputs-file": write2(t, "a: 1\n")})
	d.wants(t, 0, "", "staged", "4")
	text, err := os.ReadFile(filepath.Join(d.dir, "thread", "threads", "state.json"))
	if err != nil {
		t.Fatal(err)
	}
	var state struct {
		Version int    `json:"schema_version"`
		Phase   string `json:"phase"`
		History []struct{ Step string }
		Thread  []json.RawMessage
	}
	if err := json.Unmarshal(text, &state); err != nil || state.Version != 5 || state.Phase != "two" || len(state.History) != 2 || state.History[0].Step != "before" || state.History[1].Step != "now" || len(state.Thread) != 3 {
		t.Errorf("%v: %s", err, text)
	}
	write(t, file, `{"schema_version":6}`)
	th.role(t, "thread-context", contextToken, event, map[string]string{"base-state": file}).wants(t, 2, "input base-state: state is of generation 6, this version knows 5")
}

// write2 writes a file and returns its path.
func write2(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, text)
	return file
}
