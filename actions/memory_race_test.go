package actions_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/repo-memory/ledger/pkg/memory"
)

// TestSixAgentsAndTwoMergersRaceOnOneRemoteAndNothingIsLost lets agents commit and
// propose while two people show, approve and merge, each in a process of its own,
// until every proposal is merged. What lost a race is shown and approved again.
func TestSixAgentsAndTwoMergersRaceOnOneRemoteAndNothingIsLost(t *testing.T) {
	const agents, rounds = 6, 2
	m := newMemoryRig(t)
	m.begin(t, "demo")
	binaries(t)

	type work struct{ head, proposal string }
	todo := make(chan work, agents*rounds)
	var all, people sync.WaitGroup
	var mutex sync.Mutex
	fail := func(format string, args ...any) { t.Errorf(format, args...) }
	folder := func() string {
		mutex.Lock()
		defer mutex.Unlock()
		return m.folder(t)
	}
	var committed sync.Map
	for n := range agents {
		principal, actor := agentOne, "one"
		if n%2 == 1 {
			principal, actor = agentTwo, "two"
		}
		all.Go(func() {
			for i := range rounds {
				session := fmt.Sprintf("%d-%d", n, i)
				made, err := m.submit(t, principal, func(s *memory.State, a memory.Agent) (memory.Request, error) {
					main, _ := s.Ref("demo", memory.SharedMain)
					q := memory.Commit{Project: "demo", Ref: "refs/sessions/" + actor + "/" + session, Create: true, Parents: []memory.Name{main.Head},
						Message: "work", Key: "commit-" + session, Ops: []memory.Op{fact(t, "key-"+session, "It is "+session+".")}}
					// Made again after a lost race, the request starts where it is then.
					return s.Commit(a, q)
				})
				if err != nil {
					fail("agent %d: %v", n, err)
					return
				}
				proposal, err := m.submit(t, principal, func(s *memory.State, a memory.Agent) (memory.Request, error) {
					return s.Propose(a, memory.Proposal{Project: "demo", Head: made.Name, Message: "please", Key: "propose-" + session})
				})
				if err != nil {
					fail("agent %d: %v", n, err)
					return
				}
				committed.Store(made.Name.String(), true)
				todo <- work{made.Name.String(), proposal.ID}
			}
		})
	}
	lost := [2]int{}
	for i, user := range []string{ada, ben} {
		run := func(role string, inputs ...string) trial {
			dir := folder()
			return start(t, dir, role, m.job(t, dir, user, append(inputs, "INPUT_MERGE_KEYS="+mergeKeys)...))
		}
		people.Go(func() {
			for w := range todo {
				for try := 0; ; try++ {
					if try == agents*rounds+2 { // each loss is somebody's success
						fail("proposal %s of %s was not merged in %d tries", w.proposal, w.head, try)
						break
					}
					show := run("memory-review", "INPUT_PROPOSAL="+w.proposal, "INPUT_OPERATION=show", "INPUT_PREPARE=true")
					approve := run("memory-review", "INPUT_PROPOSAL="+w.proposal, "INPUT_OPERATION=approve",
						"INPUT_STATE_DIGEST="+show.outputs["state-digest"], "INPUT_CONFLICTS="+show.outputs["acknowledge"])
					if approve.code == 0 {
						r := run("memory-merge", "INPUT_ENVELOPE="+filepath.Clean(approve.outputs["envelope"]))
						if r.code == 0 {
							break
						}
						approve = r
					}
					lost[i]++
					// A digest that is empty is of a show that lost before it.
					if !strings.Contains(approve.printed, "stale") && !strings.Contains(approve.printed, "strategy: ") && show.outputs["state-digest"] != "" {
						fail("%s: exit %d\n%s", user, approve.code, approve.printed)
						break
					}
				}
			}
		})
	}
	all.Wait()
	close(todo)
	people.Wait()

	s := m.state(t)
	main, _ := s.Ref("demo", memory.SharedMain)
	if len(main.Log) != 1+agents*rounds {
		t.Errorf("the reflog has %d entries, want %d", len(main.Log), 1+agents*rounds)
	}
	in := map[string]bool{}
	for _, c := range s.Log("demo", main.Head, 1000) {
		in[c.Name().String()] = true
	}
	n := 0
	committed.Range(func(name, _ any) bool {
		if n++; !in[name.(string)] {
			t.Errorf("changeset %s is lost", name)
		}
		return true
	})
	if memories := s.MemoryAt("demo", main.Head); n != agents*rounds || len(memories) != n {
		t.Errorf("%d changesets, %d memories, want %d of each", n, len(memories), agents*rounds)
	}
	for _, p := range s.Proposals("demo") {
		if p.Status != memory.ProposalMerged {
			t.Errorf("proposal %s is %s", p.ID, p.Status)
		}
	}
	m.audited(t)
	m.ledger(t, "audit")
	t.Logf("lost races: %v", lost)
}
