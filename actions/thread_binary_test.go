package actions_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/github/githubtest"
)

// did is what a binary did.
type did struct {
	code    int
	printed string
	outputs map[string]string
	dir     string // RUNNER_TEMP
}

// role runs a binary as a step of a job of its own.
func (th *threaded) role(t *testing.T, name, token, event string, inputs map[string]string) did {
	t.Helper()
	d := did{dir: t.TempDir(), outputs: map[string]string{}}
	out, payload := filepath.Join(d.dir, "output"), filepath.Join(d.dir, "event.json")
	write(t, out, "")
	write(t, filepath.Join(d.dir, "env"), "")
	write(t, payload, event)
	cmd := exec.Command(binary(t, name))
	cmd.Dir = d.dir
	cmd.Env = append(th.server.Env(octo), "PATH="+os.Getenv("PATH"), "HOME="+d.dir, "RUNNER_TEMP="+d.dir, "GITHUB_ACTIONS=true", "GITHUB_RUN_ID=42", "GITHUB_RUN_ATTEMPT=1",
		"GITHUB_EVENT_NAME="+th.event, "GITHUB_EVENT_PATH="+payload, "GITHUB_OUTPUT="+out, "GITHUB_ENV="+filepath.Join(d.dir, "env"), "INPUT_TOKEN="+token)
	for name, value := range inputs {
		if strings.ToUpper(name) != name {
			name = "INPUT_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
		}
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	printed, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	d.code, d.printed = cmd.ProcessState.ExitCode(), string(printed)
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(text), "\n") {
		if name, value, ok := strings.Cut(line, "="); ok {
			d.outputs[name] = value
		}
	}
	if strings.Contains(d.printed, token) {
		t.Error("the token was printed")
	}
	return d
}

// wants fails the test for an exit code, a text that was not printed, and outputs.
func (d did) wants(t *testing.T, code int, text string, outputs ...string) {
	t.Helper()
	if d.code != code || !strings.Contains(d.printed, text) {
		t.Errorf("exit %d, want %d and %q:\n%s", d.code, code, text, d.printed)
	}
	for i := 0; i < len(outputs); i += 2 {
		if got := d.outputs[outputs[i]]; got != outputs[i+1] {
			t.Errorf("output %s is %q, want %q", outputs[i], got, outputs[i+1])
		}
	}
}

func (d did) context(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(d.dir, "thread", "threads", "context.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// published runs persist on what thread-context staged.
func (th *threaded) publish(t *testing.T, context did, inputs map[string]string) did {
	t.Helper()
	all := map[string]string{"agent-staged": "false", "thread-ledger": "threads", "staged-path": filepath.Join(context.dir, "thread", "threads", "staged"), "staged-digest": context.outputs["staged-digest"]}
	for name, value := range inputs {
		all[name] = value
	}
	return th.role(t, "persist", writesToken, "{}", all)
}

// crowd is a thread of 2,500 comments.
func (th *threaded) crowd(t *testing.T) (event string) {
	t.Helper()
	issue := githubtest.Issue{Number: 1, User: alice, Association: "OWNER", Created: clock(0)}
	for n := range 2499 {
		by, association := mallory, "NONE"
		if n%250 == 0 {
			by, association = alice, "OWNER"
		}
		issue.Comments = append(issue.Comments, githubtest.Comment{User: by, Association: association, Body: fmt.Sprintf("comment number %d", n), Created: clock(1)})
	}
	th.server.AddIssue(octo, issue)
	return th.payload(t, 1, th.comment(1, 2, alice, "OWNER", "The last one."))
}

// page17 matches the listing of that page.
func page17(r githubtest.Request) bool {
	return strings.HasSuffix(r.Path, "/comments") && slices.Contains(strings.Split(r.Query, "&"), "page=17")
}

// TestAListingThatFailsOnPage17Of25 is nothing's deletion and no one's trust.
func TestAListingThatFailsOnPage17Of25(t *testing.T) {
	th := newThreaded(t)
	event := th.crowd(t)
	refused := githubtest.Respond(403, `{"message":"Resource not accessible by integration"}`)

	// A ledger that does not know the thread: the tail of what could be read serves,
	// judged like the rest, and nothing is recorded.
	th.server.Script(page17, refused)
	d := th.role(t, "thread-context", contextToken, event, nil)
	d.wants(t, 0, "the thread could not be read whole, and the last items that could be read serve: the comments cannot be read: page 17: permission is missing",
		"complete", "false", "new", "0", "deleted", "0", "staged", "0", "full", "0", "unverified", "5")
	if text := d.context(t); !strings.Contains(text, "could not be read whole: these are the last items that could be.") || !strings.Contains(text, "comment number 1599") {
		t.Errorf("the context is %s", text)
	}
	th.publish(t, d, nil).wants(t, 0, "", "thread-records", "0")
	th.record(t, d, event, nil).wants(t, 0, "nothing of the thread is recorded yet, and there is no state to write", "written", "none", "comment-id", "")

	// The whole thread: 25 pages, and what is new goes to the ledger in chunks.
	d = th.role(t, "thread-context", contextToken, event, nil)
	d.wants(t, 0, "2501 new", "complete", "true", "new", "2501", "staged", "2501", "full", "11", "unverified", "20")
	p := th.publish(t, d, nil)
	p.wants(t, 0, "thread: 2501 of 2501 records published to threads", "thread-records", "2501", "persisted", "none")
	commits := th.server.Commits(octo)
	if len(commits) < 5 || commits[len(commits)-1].OID != p.outputs["thread-after"] {
		t.Errorf("%d commits", len(commits))
	}
	head := th.head(t, "ledgers/threads")
	if again := th.publish(t, d, nil); again.code != 0 || again.outputs["thread-records"] != "0" || th.head(t, "ledgers/threads") != head {
		t.Errorf("published twice: %+v", again)
	}

	// Now that the ledger knows it, a listing in part is a failure that leaves nothing.
	th.server.Script(page17, refused)
	d = th.role(t, "thread-context", contextToken, event, nil)
	d.wants(t, 1, "the thread could not be read whole, and nothing of it is given to the agent: the comments cannot be read: page 17", "complete", "false", "staged-digest", "")
	if _, err := os.Stat(filepath.Join(d.dir, "thread")); err == nil {
		t.Error("a context was left")
	}
	// So is a budget that does not reach.
	th.role(t, "thread-context", contextToken, event, map[string]string{"max-requests": "20"}).wants(t, 1, "budget of requests is used up: 20 were sent, raise max-requests", "requests", "20")

	// A page without a clear answer is asked for again, a throttled one after a wait.
	th.server.Script(page17, githubtest.DropBefore, githubtest.BadGateway, githubtest.SecondaryLimit("0"))
	d = th.role(t, "thread-context", contextToken, event, map[string]string{"history-comment-count": "5"})
	d.wants(t, 0, "waiting 0s", "complete", "true", "new", "0", "deleted", "0", "staged", "0", "full", "5")
	if n := th.server.Unused(); n != 0 {
		t.Errorf("%d replies were not taken", n)
	}
}
