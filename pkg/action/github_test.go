package action

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheContextIsWhatTheRunnerSays(t *testing.T) {
	a := New(WithEnv(map[string]string{
		"GITHUB_REPOSITORY": "octo/repo", "GITHUB_REPOSITORY_ID": "7", "GITHUB_RUN_ID": "9007199254740993", "GITHUB_RUN_ATTEMPT": "2",
		"GITHUB_ACTOR": "a", "GITHUB_TRIGGERING_ACTOR": "b", "GITHUB_ACTOR_ID": "11", "GITHUB_WORKFLOW": "w\nx", "GITHUB_EVENT_NAME": "issues",
		"GITHUB_SERVER_URL": "https://github.com", "GITHUB_WORKFLOW_REF": "octo/repo/.github/workflows/x.yml@refs/heads/main",
	}))
	c, err := a.Context()
	if err != nil {
		t.Fatal(err)
	}
	if c.Repository != "octo/repo" || c.RepositoryID != 7 || c.RunID != 9007199254740993 || c.RunAttempt != 2 || c.Actor != "a" ||
		c.TriggeringActor != "b" || c.ActorID != 11 || c.Workflow != "w\nx" || c.EventName != "issues" || c.RunNumber != 0 {
		t.Errorf("%+v", c)
	}
}

func TestANumberOfTheContextThatIsNotOneIsAnError(t *testing.T) {
	for _, text := range []string{"x", "-1", "01", "1.0", " 1", "99999999999999999999"} {
		a := New(WithEnv(map[string]string{"GITHUB_RUN_ID": text}))
		if c, err := a.Context(); err == nil || c != nil {
			t.Errorf("%q: %+v", text, c)
		}
	}
}

func TestTheEventPayloadIsReadWholeOrNotAtAll(t *testing.T) {
	path := filepath.Join(t.TempDir(), "event.json")
	a := New(WithEnv(map[string]string{"GITHUB_EVENT_PATH": path}))
	if _, err := a.EventPayload(); err == nil || strings.Contains(err.Error(), path) {
		t.Errorf("missing: %v", err)
	}
	for size, fits := range map[int64]bool{0: true, 10: true, maxEventBytes: true, maxEventBytes + 1: false} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil {
			t.Fatal(err)
		}
		data, err := a.EventPayload()
		if (err == nil) != fits || fits && int64(len(data)) != size || !fits && data != nil {
			t.Errorf("%d bytes: %d, %v", size, len(data), err)
		}
	}
	if _, err := New(WithEnv(map[string]string{"GITHUB_EVENT_PATH": t.TempDir()})).EventPayload(); err == nil {
		t.Error("a directory was read")
	}
	if _, err := New(WithEnv(nil)).EventPayload(); err == nil {
		t.Error("no path, no error")
	}
}
