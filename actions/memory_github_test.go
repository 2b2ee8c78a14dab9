package actions_test

import (
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/github/githubtest"
	"github.com/repo-memory/ledger/pkg/memory"
)

// TestAReviewAndAMergeWhoseAnswersAreLostStandOnce publishes through GitHub's API,
// which drops the connection after each commit, or before it, or lets another writer
// in between.
func TestAReviewAndAMergeWhoseAnswersAreLostStandOnce(t *testing.T) {
	for name, reply := range map[string]githubtest.Reply{"lost after": githubtest.DropAfter, "lost before": githubtest.DropBefore, "a bad gateway after": githubtest.BadGateway2} {
		t.Run(name, func(t *testing.T) {
			const write = "ghs_write0123456789abcdef"
			server := githubtest.New(t, githubtest.Options{})
			server.Token(write, githubtest.Permissions{"contents": "write"})
			m := newMemoryRig(t)
			m.remote = server.Repo("octo/consumer")
			m.begin(t, "demo")
			proposal := m.proposed(t, agentOne, "a", m.committed(t, agentOne, "a", fact(t, "db.port", "The port is 5432.")))
			hub := append(server.Env("octo/consumer"), "INPUT_REMOTE=", "INPUT_TOKEN="+write)
			review := func(inputs ...string) trial {
				server.Script(githubtest.Mutation, reply)
				return m.review(t, ada, proposal, append(inputs, hub...)...)
			}
			show := review("operation=show")
			show.want(t, 0, "show: ", nil)
			review("operation=comment", "findings=once").want(t, 0, "comment: done", nil)
			show = review("operation=show")
			approve := review("operation=approve", "state-digest="+show.outputs["state-digest"])
			approve.want(t, 0, "approve: done", map[string]string{"proposal-status": "approved"})
			server.Script(githubtest.Mutation, reply)
			m.merge(t, ada, approve.outputs["envelope"], hub...).want(t, 0, "merged", map[string]string{"status": "merged"})

			s := m.state(t)
			p, _ := s.Proposal("demo", proposal)
			main, _ := s.Ref("demo", memory.SharedMain)
			if len(p.Reviews) != 2 || p.Status != memory.ProposalMerged || len(main.Log) != 2 {
				t.Errorf("%d reviews, %s, %d entries in the reflog", len(p.Reviews), p.Status, len(main.Log))
			}
			for _, c := range server.Commits("octo/consumer") {
				if c.How == "mutation" && (c.Expected != c.Parent || c.Token != write) {
					t.Errorf("a commit without its guard: %+v", c)
				}
			}
			if err := s.Authorizes(); err != nil || strings.Contains(approve.printed, write) {
				t.Errorf("%v\n%s", err, approve.printed)
			}
		})
	}
}
