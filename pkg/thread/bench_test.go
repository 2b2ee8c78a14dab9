package thread

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// busyThread is a thread of n comments as the API lists it: notices, agents,
// strangers and the person who triggers, in bodies of a paragraph.
func busyThread(t testing.TB, n int) (data []byte, config Config) {
	t.Helper()
	paragraph := strings.Repeat("The quick brown fox jumps over the lazy dog. ", 12)
	comments := make([]map[string]any, n)
	for i := range comments {
		u, body, association := mallory, paragraph+"\n\n- [ ] done?\n", "NONE"
		switch i % 5 {
		case 0:
			u, body = engine, agentMarker+"\n"+paragraph
		case 1:
			u, body = engine, "<!-- bot-workflow-terminal -->\nstarted"
		case 2:
			u, body, association = alice, "> earlier\n\n"+paragraph, "OWNER"
		}
		id := 1000 + i
		comments[i] = map[string]any{
			"id": id, "node_id": fmt.Sprintf("IC_kwDO%d", id), "body": body, "author_association": association,
			"url":        fmt.Sprintf("https://api.github.com/repos/o/r/issues/comments/%d", id),
			"html_url":   fmt.Sprintf("https://github.com/o/r/issues/7#issuecomment-%d", id),
			"issue_url":  "https://api.github.com/repos/o/r/issues/7",
			"created_at": earlier, "updated_at": earlier,
			"user":      map[string]any{"id": u.ID, "login": u.Login, "type": u.Type, "site_admin": false, "avatar_url": "https://avatars.githubusercontent.com/u/1?v=4"},
			"reactions": map[string]any{"total_count": 0, "+1": 0, "-1": 0, "url": "https://api.github.com/repos/o/r/issues/comments/1/reactions"},
		}
	}
	data, err := json.Marshal(map[string]any{"number": 7, "repository_id": 9, "complete": true, "comments": comments,
		"issue": map[string]any{"id": 1, "html_url": "https://github.com/o/r/issues/7", "body": "x", "created_at": earlier, "author_association": "OWNER",
			"user": map[string]any{"id": 1, "login": "alice", "type": "User"}}})
	if err != nil {
		t.Fatal(err)
	}
	return data, trustAlice()
}

// BenchmarkDecode and BenchmarkReconcileAndRender are to be compared: the second
// takes at most twice the first, and both grow with the number of comments.
func BenchmarkDecode(b *testing.B) {
	for _, n := range []int{1250, 2500, 5000, 10000} {
		data, _ := busyThread(b, n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, err := DecodeListing(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkReconcileAndRender(b *testing.B) {
	for _, n := range []int{1250, 2500, 5000, 10000} {
		data, config := busyThread(b, n)
		l, err := DecodeListing(data)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				r, err := Reconcile(newFold(testThread), l, config)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := r.Render(Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
