package thread

import "testing"

// The people of the tests, the thread, and its listing.
var (
	alice      = &User{ID: 1, Login: "alice", Type: "User"}
	mallory    = &User{ID: 66, Login: "mallory", Type: "User"}
	engine     = &User{ID: 50, Login: "engine", Type: "User"}
	actionsBot = &User{ID: 41898282, Login: "github-actions[bot]", Type: "Bot"}
	testThread = Thread{Number: 7, RepositoryID: 9}
)

const (
	agentMarker = "<!-- bot-agent-planner -->"
	triggerTime = "2026-03-01T12:00:00Z"
	earlier     = "2026-03-01T10:00:00Z"
)

func comment(id int64, u *User, body string) Comment {
	association := "NONE"
	if u == alice {
		association = "OWNER"
	}
	return Comment{ID: id, HTMLURL: "https://github.com/o/r/issues/7#issuecomment-1", User: u, Body: &body,
		CreatedAt: earlier, UpdatedAt: earlier, AuthorAssociation: association}
}

func listingOf(comments ...Comment) *Listing {
	return &Listing{Thread: testThread, Complete: true, Comments: comments,
		Issue: &Issue{ID: 1000, HTMLURL: "https://github.com/o/r/issues/7", User: alice, CreatedAt: earlier, AuthorAssociation: "OWNER"}}
}

// trustAlice is the configuration of a run that alice triggered.
func trustAlice() Config {
	c := DefaultConfig()
	c.Engine = engine
	c.Trigger.Author = alice
	c.Trigger.At, _ = ParseTrigger(triggerTime, now)
	return c
}

// reconcileAll reconciles and renders without a ledger.
func reconcileAll(t testing.TB, l *Listing, o Options) (*Reconciliation, Rendering) {
	t.Helper()
	r, err := Reconcile(newFold(testThread), l, trustAlice())
	if err != nil {
		t.Fatal(err)
	}
	out, err := r.Render(o)
	if err != nil {
		t.Fatal(err)
	}
	return r, out
}

// mustFold folds the ledger of w.
func mustFold(t testing.TB, w *world, thread Thread) *Fold {
	t.Helper()
	f, err := FoldLedger(w.ledger(), thread)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
