package memory

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// TestManyWritersOnOneBranchLoseNothing lets six agents and two people work on
// copies of the branch that are behind at random; a commit on a head that moved is
// made again on the branch as it is, as the guarded publication does.
func TestManyWritersOnOneBranchLoseNothing(t *testing.T) {
	w := newWorld(t)
	text := "version: memory-policy/v1\nprincipals:\n"
	for i := range 6 {
		text += fmt.Sprintf("  - workflow: .github/workflows/a%d.yml\n    actor: a%d\n    scopes: [memory.read, memory.branch, memory.commit, memory.propose]\n    projects: [demo]\n", i, i)
	}
	for i := range 2 {
		text += fmt.Sprintf("  - user: %d\n    actor: u%d\n    scopes: [memory.read, memory.review, memory.merge, memory.write]\n    projects: [demo]\n", 11+i, i)
	}
	var err error
	if w.policy, err = ParsePolicy([]byte(text)); err != nil {
		t.Fatal(err)
	}
	w.root()
	r := rand.New(rand.NewPCG(5, 5))
	made := map[Name]bool{}
	merges := 0
	// publish runs work on a copy of the branch; while it runs others may commit.
	publish := func(work func() ([]ledger.Record, error)) error {
		for {
			head := len(w.lines)
			records, err := work()
			if r.IntN(3) == 0 {
				w.publish(w.stage(RecordDraft{"note", []byte(`{"content":"another writer"}`)}))
			}
			if len(w.lines) == head {
				w.publish(records)
				return err
			}
		}
	}
	for range 50 {
		if i := r.IntN(8); i < 6 {
			id := fmt.Sprintf(".github/workflows/a%d.yml", i)
			ref := session(fmt.Sprint("a", i), "s")
			s := w.fold()
			q := Commit{Project: "demo", Ref: ref, Message: "m", Key: nextKey(), Ops: ops(fact(nextKey(), "v"))}
			if there, ok := s.Ref("demo", ref); ok {
				q.Expected = there.Head
			} else {
				q.Create, q.Parents = true, []Name{w.ref(SharedMain)}
			}
			request, err := s.Commit(w.agent(id), q)
			if err != nil {
				t.Fatal(err)
			}
			staged := w.stage(request.Records...)
			if err := publish(func() ([]ledger.Record, error) {
				j, err := w.fold().Judge(w.clerk(id), w.policy, staged)
				return append(append([]ledger.Record{}, staged...), j.Records...), err
			}); err != nil {
				t.Fatal(err)
			}
			made[request.Name] = true
			if p, err := w.fold().Propose(w.agent(id), Proposal{Project: "demo", Head: request.Name, Message: "m", Key: nextKey()}); err == nil {
				w.persist(id, w.stage(p.Records...)...)
			}
			continue
		}
		open := ""
		for _, p := range w.fold().Proposals("demo") {
			if p.Status == ProposalOpen {
				open = p.ID
			}
		}
		if open == "" {
			continue
		}
		// Two people approve and merge at the same time: exactly one wins.
		first, second := w.approve(ada, open), (*Token)(nil)
		if r.IntN(2) == 0 {
			second = w.approve(ben, open)
		}
		wins := 0
		for id, token := range map[string]*Token{ada: first, ben: second} {
			if token == nil {
				continue
			}
			m := MergeRequest{Token: token, Keys: testRing(t), Binding: testBinding, RecordID: w.recordID()}
			err := publish(func() ([]ledger.Record, error) { return w.fold().Merge(w.clerk(id), m) })
			var refusal *Refusal
			if err == nil {
				wins++
			} else if !errors.As(err, &refusal) {
				t.Fatal(err)
			}
		}
		if wins != 1 {
			t.Fatalf("%d merges won", wins)
		}
		merges++
		w.now = w.now.Add(time.Minute)
	}
	s := w.clean()
	for name := range made {
		if _, ok := s.Changeset("demo", name); !ok {
			t.Errorf("%s is lost", name)
		}
	}
	if log, _ := s.Ref("demo", SharedMain); len(log.Log) != merges+1 || merges < 5 {
		t.Errorf("%d movements of main, %d merges", len(log.Log), merges)
	}
}
