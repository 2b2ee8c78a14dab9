package githubtest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"
)

const api = "/api/v3/repos/" + repo

func TestABranchIsMadeOfObjectsAndOnlyOnce(t *testing.T) {
	s, dir := newServer(t)
	make1 := func(path string, body any) string {
		res, out := s.send(t, "POST", api+path, writer, body)
		if res.StatusCode != http.StatusCreated {
			t.Fatalf("%s: %d %v", path, res.StatusCode, out)
		}
		oid, _ := out["sha"].(string)
		return oid
	}
	blob := make1("/git/blobs", object{"content": base64.StdEncoding.EncodeToString([]byte("x\xff\n")), "encoding": "base64"})
	tree := make1("/git/trees", object{"tree": []any{object{"path": "d/x", "mode": "100644", "type": "blob", "sha": blob}, object{"path": "y", "mode": "100644", "type": "blob", "content": "y"}}})
	commit := make1("/git/commits", object{"message": "first\n\nbody", "tree": tree, "parents": []any{}})
	if res, _ := s.send(t, "GET", api+"/git/ref/heads/new", reader, nil); res.StatusCode != http.StatusNotFound {
		t.Errorf("an absent reference: %d", res.StatusCode)
	}
	make1("/git/refs", object{"ref": "refs/heads/new", "sha": commit})
	res, out := s.send(t, "POST", api+"/git/refs", writer, object{"ref": "refs/heads/new", "sha": commit})
	if res.StatusCode != http.StatusUnprocessableEntity || out["message"] != "Reference already exists" {
		t.Errorf("again: %d %v", res.StatusCode, out)
	}
	if _, out = s.send(t, "GET", api+"/git/ref/heads/new", reader, nil); out["object"].(object)["sha"] != commit {
		t.Errorf("the reference is %v", out)
	}
	if got := client(t, s, dir, "ls-tree", "-r", "--name-only", "new"); got != "d/x\ny" {
		t.Errorf("the tree is %q", got)
	}
	if got, err := s.raw(s.lookup(repo), blob); err != nil || string(got) != "x\xff\n" {
		t.Errorf("the blob is %q, %v", got, err)
	}
	client(t, s, dir, "fsck", "--strict")
	for name, c := range map[string]struct {
		path string
		body any
		want string
	}{
		"an object that is none":  {"/git/refs", object{"ref": "refs/heads/other", "sha": strings.Repeat("1", 40)}, "Object does not exist"},
		"a name that is none":     {"/git/refs", object{"ref": "refs/heads/a..b", "sha": commit}, "Reference name must be valid"},
		"a reference in the way":  {"/git/refs", object{"ref": "refs/heads/new/x", "sha": commit}, "Reference update failed"},
		"base64 in two spellings": {"/git/blobs", object{"content": "AB==", "encoding": "base64"}, "not valid Base64"},
		"base64 with a line end":  {"/git/blobs", object{"content": "AA==\n", "encoding": "base64"}, "not valid Base64"},
		"a path upwards":          {"/git/trees", object{"tree": []any{object{"path": "../x", "mode": "100644", "type": "blob", "content": ""}}}, "malformed path"},
		"a tree that is none":     {"/git/commits", object{"message": "m", "tree": blob, "parents": []any{}}, "Tree SHA does not exist"},
		"a member that is none":   {"/git/refs", object{"ref": "refs/heads/z", "sha": commit, "force": true}, "Invalid request"},
	} {
		if res, out := s.send(t, "POST", api+c.path, writer, c.body); res.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(out["message"].(string), c.want) {
			t.Errorf("%s: %d %v", name, res.StatusCode, out)
		}
	}
	if got := s.Commits(repo); len(got) != 1 || got[0] != (Landed{Branch: "new", OID: commit, How: "ref", Token: writer}) {
		t.Errorf("recorded %+v", got)
	}
}

func TestWhatATokenMayDo(t *testing.T) {
	s, _ := newServer(t)
	s.Token("person", Permissions{"issues": "read"}, Account{ID: 7, Login: "mona"})
	s.AddIssue(repo, Issue{})
	s.AddIssue(repo, Issue{PullRequest: true})
	s.Token("pulls", Permissions{"pull-requests": "write"})
	body := object{"body": "b"}
	for name, c := range map[string]struct {
		method, path, token string
		body                any
		status              int
	}{
		"no token sees nothing":                    {"GET", api, "", nil, 404},
		"an unknown token":                         {"GET", api, "ghs_x", nil, 401},
		"any token sees the repository":            {"GET", api, "person", nil, 200},
		"a repository that is none":                {"GET", "/api/v3/repos/octo/none", writer, nil, 404},
		"a route that is none":                     {"GET", api + "/secrets", writer, nil, 404},
		"a bot is nobody":                          {"GET", "/api/v3/user", writer, nil, 403},
		"a person is somebody":                     {"GET", "/api/v3/user", "person", nil, 200},
		"contents without the permission":          {"GET", api + "/git/ref/heads/main", "person", nil, 403},
		"writing with a token that reads":          {"POST", api + "/git/blobs", reader, object{"content": ""}, 403},
		"a reference cannot be updated":            {"PATCH", api + "/git/refs/heads/main", writer, object{"sha": "x"}, 404},
		"issues":                                   {"GET", api + "/issues/1/comments", "person", nil, 200},
		"commenting with a token that reads":       {"POST", api + "/issues/1/comments", "person", body, 403},
		"pull-requests is enough for one of them":  {"POST", api + "/issues/2/comments", "pulls", body, 201},
		"and is not for an issue":                  {"POST", api + "/issues/1/comments", "pulls", body, 403},
		"reviews need pull-requests":               {"GET", api + "/pulls/2/reviews", "person", nil, 403},
		"an issue has no reviews":                  {"GET", api + "/pulls/1/reviews", "pulls", nil, 404},
		"a dispatch needs actions":                 {"POST", api + "/actions/workflows/x.yml/dispatches", reader, object{"ref": "main"}, 403},
		"GraphQL wants a token":                    {"POST", "/api/graphql", "", mutation("", nil), 401},
		"GraphQL answers 200 whatever is the case": {"POST", "/api/graphql", reader, mutation("", nil), 200},
	} {
		res, out := s.send(t, c.method, c.path, c.token, c.body)
		if res.StatusCode != c.status {
			t.Errorf("%s: %d %v, want %d", name, res.StatusCode, out, c.status)
		}
		if message, _ := out["message"].(string); c.status == 403 && message != notAccessible || c.status == 401 && c.token != "" && message != badCredentials {
			t.Errorf("%s: %q", name, message)
		}
	}
}

func TestWhatAMutationIsRefused(t *testing.T) {
	s, dir := newServer(t)
	head := client(t, s, dir, "rev-parse", "ledgers/memory")
	with := func(change func(input object), query ...string) object {
		m := mutation(head, map[string]string{"x": "x"})
		change(m["variables"].(object)["input"].(object))
		if len(query) > 0 {
			m["query"] = query[0]
		}
		return m
	}
	file := func(path, contents string) func(object) {
		return func(in object) {
			in["fileChanges"] = object{"additions": []any{object{"path": path, "contents": contents}}}
		}
	}
	none := func(object) {}
	for name, c := range map[string]struct {
		token         string
		body          object
		kind, message string
	}{
		"a token that reads":           {reader, with(none), "FORBIDDEN", notAccessible},
		"another head":                 {writer, with(func(in object) { in["expectedHeadOid"] = strings.Repeat("1", 40) }), "STALE_DATA", "Expected branch to point to \"" + strings.Repeat("1", 40) + "\" but it did not.  Pull and try again."},
		"no head":                      {writer, with(func(in object) { delete(in, "expectedHeadOid") }), "", "expectedHeadOid"},
		"a head that is none":          {writer, with(func(in object) { in["expectedHeadOid"] = "main" }), "", "GitObjectID"},
		"a branch that is missing":     {writer, with(func(in object) { in["branch"].(object)["branchName"] = "none" }), "NOT_FOUND", "Branch"},
		"a repository that is missing": {writer, with(func(in object) { in["branch"].(object)["repositoryNameWithOwner"] = "octo/none" }), "NOT_FOUND", "Repository"},
		"a path that is not there":     {writer, mutation(head, nil, "none"), "UNPROCESSABLE", "A path was requested for deletion which does not exist as of commit oid"},
		"a path twice":                 {writer, mutation(head, map[string]string{"a": "x"}, "a"), "UNPROCESSABLE", "more than once"},
		"a path from the root":         {writer, with(file("/x", "")), "UNPROCESSABLE", "not valid"},
		"a path upwards":               {writer, with(file("a/../x", "")), "UNPROCESSABLE", "not valid"},
		"git's own folder":             {writer, with(file(".git/config", "")), "UNPROCESSABLE", "not valid"},
		"base64 without padding":       {writer, with(file("x", "AA")), "", "Base64String"},
		"base64 with a line end":       {writer, with(file("x", "AA==\n")), "", "Base64String"},
		"base64 in another spelling":   {writer, with(file("x", "AB==")), "", "Base64String"},
		"base64 for URLs":              {writer, with(file("x", "-_8=")), "", "Base64String"},
		"a field that is none":         {writer, with(func(in object) { in["force"] = true }), "", "a field"},
		"no headline":                  {writer, with(func(in object) { in["message"] = object{"body": "x"} }), "", "headline"},
		"a query that is none":         {writer, with(none, "mutation($input: X!) { createCommitOnBranch("), "", "Parse error"},
		"a variable not declared":      {writer, with(none, "mutation { createCommitOnBranch(input: $input) { commit { oid } } }"), "", "declared"},
		"a selection that is none":     {writer, with(none, "mutation($input: CreateCommitOnBranchInput!) { createCommitOnBranch(input: $input) { commit } }"), "", "selections"},
		"a mutation that is none":      {writer, with(none, "mutation($input: X!) { deleteRef(input: $input) { clientMutationId } }"), "", "doesn't exist"},
	} {
		res, out := s.send(t, "POST", "/api/graphql", c.token, c.body)
		kind, message := errorsOf(out)
		if res.StatusCode != 200 || kind != c.kind || message == "" || !strings.Contains(message, c.message) {
			t.Errorf("%s: %d %q %q", name, res.StatusCode, kind, message)
		}
		if now := s.Head(repo, "ledgers/memory"); now != head {
			t.Fatalf("%s: the branch moved", name)
		}
	}
	client(t, s, dir, "fsck", "--strict")
}

var nextLink = regexp.MustCompile(`<([^>]+)>; rel="next"`)

func TestACommentListIsPagedAndConditional(t *testing.T) {
	clock := time.Date(2026, 11, 30, 5, 30, 0, 0, time.UTC)
	s := New(t, Options{Now: func() time.Time { return clock }, RateLimit: 20})
	s.Repo(repo)
	s.Token("reads", Permissions{"issues": "read"})
	mona := &Account{ID: 7, Login: "mona", Type: "User"}
	n := s.AddIssue(repo, Issue{Title: "t", User: mona, Association: "OWNER"})
	for i := range 250 {
		s.AddComment(repo, n, Comment{Body: fmt.Sprint(i), User: mona})
	}
	s.Change(repo, n, func(i *Issue) { i.Comments[249].User = nil })
	path, pages, seen := fmt.Sprintf("%s/issues/%d/comments?per_page=100", api, n), 0, 0
	var tag, last string
	for path != "" {
		res, text, err := s.attempt("GET", path, "reads", nil)
		var list []map[string]any
		if err != nil || json.Unmarshal(text, &list) != nil {
			t.Fatalf("%v %s", err, text)
		}
		for _, c := range list {
			if c["body"] != fmt.Sprint(seen) || (c["user"] == nil) != (seen == 249) || c["created_at"] != "2026-11-30T05:30:00Z" {
				t.Fatalf("comment %d is %v", seen, c)
			}
			seen++
		}
		pages++
		tag, last, path = res.Header.Get("Etag"), path, ""
		if m := nextLink.FindStringSubmatch(res.Header.Get("Link")); m != nil {
			path = strings.TrimPrefix(m[1], s.URL)
		}
	}
	if pages != 3 || seen != 250 {
		t.Errorf("%d comments in %d pages", seen, pages)
	}
	for range 40 { // over the limit, were it not free
		if res, _ := s.send(t, "GET", last, "reads", nil, "If-None-Match", tag); res.StatusCode != http.StatusNotModified || res.Header.Get("X-Ratelimit-Remaining") != "17" {
			t.Fatalf("%d, %s remaining", res.StatusCode, res.Header.Get("X-Ratelimit-Remaining"))
		}
	}
	s.AddComment(repo, n, Comment{Body: "new"})
	for i := range 18 {
		res, out := s.send(t, "GET", last, "reads", nil, "If-None-Match", tag)
		if want := map[bool]int{true: 200, false: 403}[i < 17]; res.StatusCode != want {
			t.Fatalf("request %d: %d %v", i, res.StatusCode, out)
		}
		if i == 17 && (!strings.Contains(out["message"].(string), "API rate limit exceeded") || res.Header.Get("X-Ratelimit-Reset") != fmt.Sprint(clock.Truncate(time.Hour).Add(time.Hour).Unix())) {
			t.Errorf("%v %v", out, res.Header)
		}
	}
	if _, out := s.send(t, "GET", "/api/v3/rate_limit", "reads", nil); out["rate"].(object)["remaining"].(float64) != 0 {
		t.Errorf("%v", out)
	}
}
