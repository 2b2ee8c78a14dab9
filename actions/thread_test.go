package actions_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/repo-memory/ledger/pkg/github/githubtest"
)

// The tokens of the jobs of thread.yml; MEMORY is agent-ledger's.
const (
	contextToken = "ghs_ContextReads0123456789abcdefghijklmn"
	recordToken  = "ghs_RecordWrites0123456789abcdefghijklmn"
	threadKey    = "sk-TheKeyOfTheModel-0123456789"
)

// The people of the thread. Each has words that nobody else writes.
var (
	alice   = &githubtest.Account{ID: 1, Login: "alice", Type: "User"}
	bob     = &githubtest.Account{ID: 2, Login: "bob", Type: "User"}
	mallory = &githubtest.Account{ID: 66, Login: "mallory", Type: "User"}
	welcome = &githubtest.Account{ID: 77, Login: "welcome[bot]", Type: "Bot"}
)

// canary are words that a comment's text holds and that no byte which is kept may.
func canary(n int) string { return fmt.Sprintf("canary%03dcanary", n) }

// clock is the time of the server, in a past that no test machine is before.
func clock(minute int) time.Time {
	return time.Date(2024, 3, 1, 10, minute, 0, 0, time.UTC)
}

// threaded is a consumer with a thread on a GitHub.
type threaded struct {
	*hosted
	now time.Time
}

func newThreaded(t *testing.T) *threaded {
	t.Helper()
	th := &threaded{now: clock(0)}
	h := &hosted{consumer: newConsumer(t), server: githubtest.New(t, githubtest.Options{Now: func() time.Time { return th.now }})}
	th.hosted = h
	h.remote, h.consumer.server, h.event = h.server.Repo(octo), h.server.URL+"/", "issue_comment"
	h.server.Token(contextToken, githubtest.Permissions{"contents": "read", "issues": "read", "pull-requests": "read"})
	h.server.Token(recordToken, githubtest.Permissions{"contents": "read", "issues": "write"})
	h.server.Token(readsToken, githubtest.Permissions{"contents": "read"})
	h.server.Token(writesToken, githubtest.Permissions{"contents": "write"})
	h.server.Seed(octo, "main", map[string]string{"README.md": "x\n"})
	for _, v := range h.server.Env(octo) {
		h.args = append(h.args, "--env", v)
	}
	for name, secret := range map[string]string{"READS": contextToken, "RECORDS": recordToken, "MEMORY": readsToken, "WRITES": writesToken, "MODEL_KEY": threadKey} {
		h.args = append(h.args, "-s", name+"="+secret)
	}
	write(t, filepath.Join(h.dir, "calls.jsonl"), firstCalls)
	write(t, filepath.Join(h.dir, "swap.mjs"), read(t, "testdata", "act", "swap.mjs"))
	return th
}

// payload is the event of a comment that was just created.
func (th *threaded) payload(t *testing.T, number int, id int64) string {
	t.Helper()
	issue := th.server.Change(octo, number, nil)
	at := slices.IndexFunc(issue.Comments, func(c githubtest.Comment) bool { return c.ID == id })
	c := issue.Comments[at]
	user := map[string]any{"id": c.User.ID, "login": c.User.Login, "type": c.User.Type}
	text, err := json.Marshal(map[string]any{"action": "created", "sender": user, "repository": map[string]any{"id": th.repositoryID(t)},
		"issue":   map[string]any{"id": issue.ID, "number": number, "body": issue.Body, "created_at": issue.Created, "updated_at": issue.Updated},
		"comment": map[string]any{"id": c.ID, "body": c.Body, "user": user, "created_at": c.Created, "updated_at": c.Updated}})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// repositoryID asks the server as anybody would.
func (th *threaded) repositoryID(t *testing.T) (id int64) {
	t.Helper()
	var r struct{ ID int64 }
	th.get(t, "", &r)
	return r.ID
}

func (th *threaded) get(t *testing.T, path string, target any) {
	t.Helper()
	q, err := newRequest(th.server.URL+"/api/v3/repos/"+octo+path, contextToken)
	if err != nil {
		t.Fatal(err)
	}
	res, err := th.server.Client().Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(target); err != nil {
		t.Fatal(err)
	}
}

// comment adds one at a minute of the clock.
func (th *threaded) comment(number, minute int, by *githubtest.Account, association, body string) int64 {
	th.now = clock(minute)
	return th.server.AddComment(octo, number, githubtest.Comment{User: by, Association: association, Body: body})
}

var (
	unsteady = regexp.MustCompile(`https://127\.0\.0\.1:[0-9]+`)
	digests  = regexp.MustCompile(`sha256:[0-9a-f]+`)
)

// steady replaces what no two runs have alike: the server's port and digests.
func steady(text string) string {
	return digests.ReplaceAllString(unsteady.ReplaceAllString(text, "https://github.test"), "sha256:…")
}

// golden compares a text with testdata/thread, byte for byte.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join(root(), "testdata", "thread", name)
	if *update {
		write(t, path, got)
	}
	want, err := os.ReadFile(path)
	if err != nil || string(want) != got {
		t.Errorf("%s: %v; is not what was made:\n%s", name, err, got)
	}
}

// records are the records of the thread ledger without their envelopes.
func (th *threaded) threadRecords(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	log := command(t, th.dir, binary(t, "ledger"), "log", "--remote", th.remote, "--ledger", "threads")
	for _, line := range strings.Split(strings.TrimSpace(log), "\n") {
		var r struct {
			Type    string
			Payload json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s %s\n", r.Type, r.Payload)
	}
	return steady(b.String())
}

// stateComments are the comments that carry the marker of the state, oldest first.
func (th *threaded) stateComments(number int) (list []githubtest.Comment) {
	for _, c := range th.server.Change(octo, number, nil).Comments {
		if strings.HasPrefix(c.Body, "<!-- ledger-thread-state v1 -->") {
			list = append(list, c)
		}
	}
	return list
}

// act runs thread.yml and wants every job to succeed.
func (th *threaded) runAll(t *testing.T, payload string, more ...string) run {
	t.Helper()
	th.now = th.now.Add(time.Minute)
	r := th.hosted.act(t, "thread.yml", payload, append([]string{"--var", "STEP_INPUTS=issue: 1\nmodel: small\n"}, more...)...)
	if want := map[string]string{"context": "success", "agent": "success", "persist": "success", "record": "success"}; r.code != 0 || !maps.Equal(r.jobs(), want) {
		t.Fatalf("exit %d, jobs %v\n%s", r.code, r.jobs(), r.readable())
	}
	for _, secret := range []string{contextToken, recordToken, threadKey} {
		notIn(t, th.artifacts, secret)
		notIn(t, th.records, secret)
		if strings.Contains(r.log, secret) {
			t.Error("a secret stands in the log")
		}
	}
	return r
}

// kept are all bytes that the runs wrote, except the context and the thread itself.
func (th *threaded) kept(t *testing.T, r run, number int) map[string]string {
	t.Helper()
	all := map[string]string{"the log": r.log, "the repository": command(t, th.remote, "git", "log", "ledgers/threads", "ledgers/memory", "--patch", "--format=raw", "--text")}
	for _, folder := range []string{th.artifacts, th.records} {
		for _, file := range entries(t, folder) {
			if filepath.Base(file) == "context.md" {
				continue
			}
			text, err := os.ReadFile(filepath.Join(folder, file))
			if err != nil {
				t.Fatal(err)
			}
			all[file] = string(text)
		}
	}
	for _, c := range th.stateComments(number) {
		all["the state comment"] += c.Body
	}
	return all
}

func newRequest(url, token string) (*http.Request, error) {
	q, err := http.NewRequest(http.MethodGet, url, nil)
	if err == nil {
		q.Header.Set("Authorization", "Bearer "+token)
	}
	return q, err
}
