package actions_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// hostileJob has a first step that leaves behind what a step can, for an action of
// ours and, as the positive control, for a step with the ordinary shell.
const hostileJob = `name: Hostile
on: workflow_dispatch
permissions: {}
jobs:
  report:
    runs-on: ubuntu-latest
    permissions: {}
    steps:
      - run: |
          mkdir "$RUNNER_TEMP/evil"
          for name in bash sh openssl sha256sum shasum cp mktemp curl env; do
            printf '#!/bin/sh\necho "$0" >> "$STUB_ARTIFACTS/mark-${PHASE:-action}"\nexit 1\n' > "$RUNNER_TEMP/evil/$name"
            chmod +x "$RUNNER_TEMP/evil/$name"
          done
          printf 'echo start >> "$STUB_ARTIFACTS/mark-${PHASE:-action}"\n' > "$RUNNER_TEMP/start"
          {
            echo "BASH_ENV=$RUNNER_TEMP/start"
            echo "LD_PRELOAD=/nonexistent/evil.so"
            echo "INPUT_BIN=$RUNNER_TEMP/evil"
            echo "INPUT_ALLOW_SOURCE_BUILD=maybe"
            echo "RUNNER_TOOL_CACHE=$RUNNER_TEMP/evil"
          } >> "$GITHUB_ENV"
          echo "$RUNNER_TEMP/evil" >> "$GITHUB_PATH"
      - id: report
        uses: OWNER/ledger/actions/ledger-mutation@v1
      - continue-on-error: true
        shell: bash
        env:
          PHASE: control
        run: exit 0
`

// onRelease is a consumer of the release of the tests, which a server has.
func onRelease(t testing.TB) *consumer {
	t.Helper()
	c := newConsumer(t)
	var strangers atomic.Int32
	c.server = github(t, c.home, &strangers)
	dir, err := released()
	if err != nil {
		t.Fatal(err)
	}
	c.suite = dir
	return c
}

func TestAnActionIsNotMovedByAnEarlierStepOfItsJob(t *testing.T) {
	c := onRelease(t)
	r := c.run(t, "hostile.yml", hostileJob, "{}")
	if r.code != 0 || r.result("report", "report") != "success" {
		t.Errorf("exit %d, the action: %s\n%s", r.code, r.result("report", "report"), r.readable())
	}
	r.want(t, "report", "report", map[string]string{"events": "0"})
	for _, e := range r.events {
		if len(e.StepID) > 0 && e.StepID[0] == "report" && strings.Contains(e.Msg, "evil") {
			t.Errorf("the action had a library of the job loaded: %s", e.Msg)
		}
	}
	if text, err := os.ReadFile(filepath.Join(c.artifacts, "mark-action")); err == nil {
		t.Errorf("in the action ran: %s", text)
	}
	if _, err := os.ReadFile(filepath.Join(c.artifacts, "mark-control")); err != nil {
		t.Errorf("what was left behind has no effect at all: %v", err)
	}
}
