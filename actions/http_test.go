package actions_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestAnAgentReachesAServerThatAnEarlierStepLeftRunning: the step ends, its server
// does not, and nothing that others may read holds the token.
func TestAnAgentReachesAServerThatAnEarlierStepLeftRunning(t *testing.T) {
	c := newConsumer(t)
	write(t, filepath.Join(c.dir, "calls.jsonl"), firstCalls)
	r := c.act(t, "http.yml", "{}")
	if want := map[string]string{"agent": "success", "persist": "success"}; r.code != 0 || !maps.Equal(r.jobs(), want) {
		t.Fatalf("exit %d, jobs %v\n%s", r.code, r.jobs(), r.readable())
	}
	var answers []string
	for _, e := range r.events {
		if e.JobID == "agent" && e.Raw && slices.Equal(e.StepID, []string{"agent"}) {
			answers = append(answers, strings.SplitN(e.Msg, " ", 2)[0])
		}
	}
	if want := []string{"done", "done", "refused", "done"}; !slices.Equal(answers, want) {
		t.Errorf("the tools answered %v, want %v", answers, want)
	}
	r.want(t, "agent", "merge", map[string]string{"merged": "2"})
	r.want(t, "persist", "persist", map[string]string{"persisted": "true", "accepted": "2", "rejected": "0"})

	accessToken := r.outputs("agent", "ledger")["access-token"]
	if len(accessToken) != 43 {
		t.Fatalf("access token of %d bytes", len(accessToken))
	}
	notIn(t, c.artifacts, accessToken)
	if strings.Contains(c.history(t), accessToken) {
		t.Error("the branch holds the access token")
	}
}
