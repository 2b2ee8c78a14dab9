package actions_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/memoryrun"
)

// TestNoChildOfAReviewOrAMergeSeesTheKeys puts a git in place of git that notes its
// environment and its arguments, whichever way the keys came.
func TestNoChildOfAReviewOrAMergeSeesTheKeys(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	m := newMemoryRig(t)
	m.begin(t, "demo")
	tools, seen := t.TempDir(), filepath.Join(t.TempDir(), "seen")
	write(t, filepath.Join(tools, "git"), "#!/bin/sh\n{ env; printf '%s\\n' \"$@\"; } >> '"+seen+"'\nexec '"+git+"' \"$@\"\n")
	if err := os.Chmod(filepath.Join(tools, "git"), 0o755); err != nil {
		t.Fatal(err)
	}
	path := "PATH=" + tools + string(os.PathListSeparator) + os.Getenv("PATH")
	for name, keys := range map[string][]string{
		"as an input": {"INPUT_MERGE_KEYS=" + mergeKeys}, "as a variable": {"INPUT_MERGE_KEYS=", memoryrun.KeysVariable + "=" + mergeKeys},
	} {
		t.Run(name, func(t *testing.T) {
			session := strings.ReplaceAll(name, " ", "-")
			proposal := m.proposed(t, agentOne, session, m.committed(t, agentOne, session, fact(t, session, "It came "+name+".")))
			env := append(keys, path)
			show := m.review(t, ada, proposal, append(env, "operation=show", "prepare=true")...)
			approve := m.review(t, ada, proposal, append(env, "operation=approve", "state-digest="+show.outputs["state-digest"])...)
			approve.want(t, 0, "approve: done", nil)
			m.merge(t, ada, approve.outputs["envelope"], env...).want(t, 0, "merged", nil)
		})
	}
	text, err := os.ReadFile(seen)
	if err != nil || !strings.Contains(string(text), "receive-pack") {
		t.Fatalf("git was not seen: %v", err)
	}
	if strings.Contains(string(text), mergeKey) || strings.Contains(string(text), "MERGE") {
		t.Errorf("a child saw the keys:\n%s", text)
	}
}
