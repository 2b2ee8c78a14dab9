package githubtest

import (
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
)

func TestACommentIsWrittenChangedAndDeleted(t *testing.T) {
	s, _ := newServer(t)
	s.Token("comments", Permissions{"issues": "write"})
	n := s.AddIssue(repo, Issue{})
	path := fmt.Sprintf("%s/issues/%d/comments", api, n)
	res, out := s.send(t, "POST", path, "comments", object{"body": "first"})
	if res.StatusCode != http.StatusCreated || out["user"].(object)["login"] != "github-actions[bot]" {
		t.Fatalf("%d %v", res.StatusCode, out)
	}
	one := fmt.Sprintf("%s/issues/comments/%.0f", api, out["id"])
	if _, out = s.send(t, "PATCH", one, "comments", object{"body": "second"}); out["body"] != "second" {
		t.Errorf("%v", out)
	}
	if _, out = s.send(t, "GET", one, "comments", nil); out["body"] != "second" {
		t.Errorf("%v", out)
	}
	for _, body := range []any{object{"body": ""}, object{}, object{"body": strings.Repeat("ü", maxComment+1)}} {
		if res, _ := s.send(t, "POST", path, "comments", body); res.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("%d", res.StatusCode)
		}
	}
	if res, _ := s.send(t, "POST", path, "comments", object{"body": strings.Repeat("ü", maxComment)}); res.StatusCode != http.StatusCreated {
		t.Errorf("the longest: %d", res.StatusCode)
	}
	if res, _ := s.send(t, "DELETE", one, "comments", nil); res.StatusCode != http.StatusNoContent {
		t.Errorf("%d", res.StatusCode)
	}
	if res, _ := s.send(t, "GET", one, "comments", nil); res.StatusCode != http.StatusNotFound {
		t.Errorf("%d", res.StatusCode)
	}
	if got := s.Change(repo, n, nil).Comments; len(got) != 1 {
		t.Errorf("%d comments", len(got))
	}
}

func TestWhatIsMinimizedIsAskedOverGraphQL(t *testing.T) {
	s, _ := newServer(t)
	s.Token("pulls", Permissions{"pull-requests": "read"})
	n := s.AddIssue(repo, Issue{PullRequest: true, Comments: []Comment{{Body: "a"}, {Body: "b", Minimized: "SPAM"}, {Body: "c"}},
		Reviews: []Review{{ID: 50, Minimized: "OUTDATED"}}, ReviewComments: []ReviewComment{{Review: 50, Path: "x", Line: 3}}})
	query := `query($owner: String!, $name: String!, $number: Int!, $after: String) {
		repository(owner: $owner, name: $name) { pullRequest(number: $number) {
			comments(first: 2, after: $after) { nodes { databaseId isMinimized why: minimizedReason lastEditedAt } pageInfo { hasNextPage endCursor } }
			reviews(first: 10) { nodes { databaseId isMinimized comments(first: 10) { nodes { databaseId } } } } } } }`
	var after any
	var hidden []string
	for pages := 1; ; pages++ {
		_, out := s.send(t, "POST", "/api/graphql", "pulls", object{"query": query, "variables": object{"owner": "octo", "name": "consumer", "number": n, "after": after}})
		if _, message := errorsOf(out); message != "" {
			t.Fatal(message)
		}
		pull := out["data"].(object)["repository"].(object)["pullRequest"].(object)
		for _, node := range pull["comments"].(object)["nodes"].([]any) {
			hidden = append(hidden, fmt.Sprintf("%v %v", node.(object)["isMinimized"], node.(object)["why"]))
		}
		review := pull["reviews"].(object)["nodes"].([]any)[0].(object)
		if review["isMinimized"] != true || len(review["comments"].(object)["nodes"].([]any)) != 1 {
			t.Errorf("%v", review)
		}
		info := pull["comments"].(object)["pageInfo"].(object)
		if info["hasNextPage"] != true {
			if pages != 2 {
				t.Errorf("%d pages", pages)
			}
			break
		}
		after = info["endCursor"]
	}
	if got := strings.Join(hidden, ","); got != "false <nil>,true SPAM,false <nil>" {
		t.Errorf("%s", got)
	}
	for name, c := range map[string]struct{ token, query, kind string }{
		"without a bound":     {"pulls", `{ repository(owner: "octo", name: "consumer") { pullRequest(number: 1) { comments { nodes { databaseId } } } } }`, "MISSING_PAGINATION_BOUNDARIES"},
		"too many at once":    {"pulls", `{ repository(owner: "octo", name: "consumer") { pullRequest(number: 1) { comments(first: 101) { nodes { databaseId } } } } }`, "EXCESSIVE_PAGINATION"},
		"an issue that isn't": {"pulls", `{ repository(owner: "octo", name: "consumer") { issue(number: 1) { number } } }`, "NOT_FOUND"},
		"no permission":       {writer, `{ repository(owner: "octo", name: "consumer") { pullRequest(number: 1) { number } } }`, "FORBIDDEN"},
		"a field that isn't":  {"pulls", `{ repository(owner: "octo", name: "consumer") { pullRequest(number: 1) { body } } }`, ""},
	} {
		_, out := s.send(t, "POST", "/api/graphql", c.token, object{"query": c.query})
		if kind, message := errorsOf(out); kind != c.kind || message == "" {
			t.Errorf("%s: %q %q", name, kind, message)
		}
	}
}

func TestAWorkflowIsStartedWithItsOwnInputsOnly(t *testing.T) {
	s, _ := newServer(t)
	s.Seed(repo, "main", map[string]string{
		".github/workflows/m.yml":    "on:\n  workflow_dispatch:\n    inputs:\n      operation: {type: choice, options: [a, b]}\n      ledger: {required: true}\n",
		".github/workflows/list.yml": "on: [push, workflow_dispatch]\n", ".github/workflows/push.yml": "on: {push: {}}\n", ".github/workflows/bad.yml": "on: [\n"})
	for name, c := range map[string]struct {
		file   string
		body   object
		status int
	}{
		"as declared":               {"m.yml", object{"ref": "main", "inputs": object{"operation": "a", "ledger": "x"}}, 204},
		"a full reference":          {"list.yml", object{"ref": "refs/heads/main"}, 204},
		"no such workflow":          {"x.yml", object{"ref": "main"}, 404},
		"no such branch":            {"m.yml", object{"ref": "none", "inputs": object{"ledger": "x"}}, 422},
		"not on that branch":        {"m.yml", object{"ref": "ledgers/memory", "inputs": object{"ledger": "x"}}, 422},
		"a required input left out": {"m.yml", object{"ref": "main"}, 422},
		"an input more":             {"m.yml", object{"ref": "main", "inputs": object{"ledger": "x", "y": "z"}}, 422},
		"a choice that is none":     {"m.yml", object{"ref": "main", "inputs": object{"ledger": "x", "operation": "c"}}, 422},
		"a number":                  {"m.yml", object{"ref": "main", "inputs": object{"ledger": 7}}, 422},
		"no such event":             {"push.yml", object{"ref": "main"}, 422},
		"no workflow at all":        {"bad.yml", object{"ref": "main"}, 422},
	} {
		if res, out := s.send(t, "POST", api+"/actions/workflows/"+c.file+"/dispatches", writer, c.body); res.StatusCode != c.status {
			t.Errorf("%s: %d %v, want %d", name, res.StatusCode, out, c.status)
		}
	}
	got := map[string]bool{}
	for _, d := range s.Dispatches(repo) {
		got[fmt.Sprint(d.Workflow, d.Ref, d.Inputs, d.Token)] = true
	}
	if want := map[string]bool{"m.ymlmainmap[ledger:x operation:a]" + writer: true, "list.ymlrefs/heads/mainmap[]" + writer: true}; !maps.Equal(got, want) {
		t.Errorf("recorded %v", got)
	}
}

func TestAFileIsReadFromABranch(t *testing.T) {
	s, _ := newServer(t)
	text := strings.Repeat("policy\n", 30)
	s.Seed(repo, "main", map[string]string{".github/policy.yml": text})
	_, out := s.send(t, "GET", api+"/contents/.github/policy.yml", reader, nil)
	data, err := base64.StdEncoding.DecodeString(out["content"].(string)) // which ignores line ends
	if err != nil || string(data) != text || !strings.Contains(out["content"].(string), "\n") {
		t.Errorf("%v %q", err, data)
	}
	for _, path := range []string{"/contents/none", "/contents/.github", "/contents/.github/policy.yml?ref=ledgers/memory", "/contents/.github/policy.yml?ref=none"} {
		if res, _ := s.send(t, "GET", api+path, reader, nil); res.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", path, res.StatusCode)
		}
	}
}

func TestFailuresComeByScriptInTheirOrder(t *testing.T) {
	s, dir := newServer(t)
	other := New(t, Options{})
	head := client(t, s, dir, "rev-parse", "ledgers/memory")
	again := 0
	s.Before(Mutation, func() { again++ })
	s.Script(Mutation, BadGateway, SecondaryLimit("7"), DropBefore, RedirectTo(other.URL), Reply{Status: 200, Body: "{}", Header: map[string]string{"X-Y": "z"}}, DropAfter)
	if n := s.Unused(); n != 7 {
		t.Errorf("%d replies", n)
	}
	body := mutation(head, map[string]string{"x": "x"})
	stale := mutation(strings.Repeat("1", 40), nil)
	if _, out := s.send(t, "POST", "/api/graphql", writer, stale); again != 1 || out["errors"] == nil {
		t.Errorf("before: %d, %v", again, out)
	}
	for _, want := range []int{502, 403, 0, 307, 200, 0} {
		if s.Head(repo, "ledgers/memory") != head {
			t.Fatalf("landed before %d", want)
		}
		res, text, err := s.attempt("POST", "/api/graphql", writer, body)
		if (err != nil) != (want == 0) || err == nil && res.StatusCode != want {
			t.Errorf("want %d: %v %s", want, err, text)
		}
		if want == 403 && res.Header.Get("Retry-After") != "7" || want == 200 && res.Header.Get("X-Y") != "z" {
			t.Errorf("%d: %v", want, res.Header)
		}
	}
	if got := s.Commits(repo); len(got) != 1 || s.Head(repo, "ledgers/memory") != got[0].OID || s.Unused() != 0 {
		t.Errorf("the last one landed: %+v", got)
	}
	requests := s.Requests()
	if n := len(requests); n != 7 || requests[n-1].Status != 0 || requests[1].Status != 502 || requests[0].Token != writer || len(requests[0].Body) == 0 {
		t.Errorf("%d requests: %+v", n, requests)
	}
	s.SetHead(repo, "ledgers/memory", head)
	s.SetHead(repo, "main", "")
	if s.Head(repo, "main") != "" || s.Head(repo, "ledgers/memory") != head {
		t.Error("branches are not where they were put")
	}
}
