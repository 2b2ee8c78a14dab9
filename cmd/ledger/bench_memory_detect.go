package main

import (
	"crypto/rand"
	"fmt"
	"time"

	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/memory"
	"github.com/repo-memory/ledger/pkg/memoryrun"
)

const (
	factsPerSet  = 100 // what fits a record of the default size
	setsPerMerge = 10  // what a reviewer can be shown whole
)

// detecting measures the detectors on two branches that changed n memories each:
// the accepted one, and one that is proposed and says something else of each.
func (b *bench) detecting(n int, oneKey bool) (time.Duration, error) {
	m, err := newRemembered(b.limits)
	if err != nil {
		return 0, err
	}
	root := m.head(memory.SharedMain)
	ops := func(side string, from int) []memory.Op {
		list := make([]memory.Op, factsPerSet)
		for i := range list {
			k := from + i
			key, more := fmt.Sprintf("key.%d", k), ""
			if oneKey {
				// Each is true for a second of its own, and only its like contradicts it.
				at := time.Date(2026, 1, 1, 0, 0, 2*k, 0, time.UTC)
				key, more = "key", fmt.Sprintf(`,"valid_from":%q,"valid_to":%q`, at.Format(time.RFC3339), at.Add(time.Second).Format(time.RFC3339))
			}
			list[i] = benchFact(key, fmt.Sprintf("%s says %d", side, k), more)
		}
		return list
	}
	for at := 0; at < n/factsPerSet; at += setsPerMerge {
		head, err := m.commit(fmt.Sprintf("refs/sessions/bench/left-%d", at), m.head(memory.SharedMain), min(setsPerMerge, n/factsPerSet-at),
			func(i int) []memory.Op { return ops("left", (at+i)*factsPerSet) })
		if err != nil {
			return 0, err
		}
		if err := m.land(head, fmt.Sprint("left", at)); err != nil {
			return 0, err
		}
	}
	head, err := m.commit("refs/sessions/bench/right", root, n/factsPerSet, func(i int) []memory.Op { return ops("right", i*factsPerSet) })
	if err != nil {
		return 0, err
	}
	proposal, err := m.propose(head, "right")
	if err != nil {
		return 0, err
	}
	s := memoryrun.Fold(m.snap, m.limits)
	return fastest(func() error {
		found, err := s.Detect(benchProject, proposal)
		if err == nil && found[len(found)-1].Type != memory.TooManyConflicts {
			err = fmt.Errorf("the detectors found %d conflicts of %d", len(found), n)
		}
		return err
	})
}

func (m *remembered) propose(head memory.Name, key string) (string, error) {
	job, err := m.job(benchAgent)
	if err != nil {
		return "", err
	}
	made, change, err := job.Submit(m.snap, "bench", func(s *memory.State, a memory.Agent) (memory.Request, error) {
		return s.Propose(a, memory.Proposal{Project: benchProject, Head: head, Message: "please", Key: key})
	})
	for path, content := range change.Add {
		m.snap.Files[path] = content
	}
	return made.ID, err
}

// land takes a head through review and merge.
func (m *remembered) land(head memory.Name, key string) error {
	proposal, err := m.propose(head, key)
	if err != nil {
		return err
	}
	binding := memory.Binding{Server: "localhost", Repository: "1", Ledger: "memory", Branch: "ledgers/memory"}
	var token *memory.Token
	if err := m.trusted(func(s *memory.State, c memory.Clerk) (records []ledger.Record, err error) {
		shown, err := s.Present(benchProject, proposal)
		if err != nil {
			return nil, err
		}
		review, err := memory.NewUUIDv7(c.Now, rand.Reader)
		if err != nil {
			return nil, err
		}
		nonce := make([]byte, 32)
		if _, err := rand.Read(nonce); err != nil {
			return nil, err
		}
		records, token, err = s.Approve(c, memory.ApproveRequest{Project: benchProject, Proposal: proposal, ReviewID: review, StateDigest: shown.StateDigest, Life: memory.MaxEnvelopeLife,
			Nonce: nonce, Keys: m.keys, Binding: binding, Run: memory.RunFacts{Attempt: 1, Actor: benchReviewer, TriggeringActor: benchReviewer, WorkflowOnDefaultBranch: true}})
		return records, err
	}); err != nil {
		return err
	}
	return m.trusted(func(s *memory.State, c memory.Clerk) ([]ledger.Record, error) {
		uuid, err := ledger.NewUUID(rand.Reader)
		if err != nil {
			return nil, err
		}
		return s.Merge(c, memory.MergeRequest{Token: token, Keys: m.keys, Binding: binding, RecordID: "ldg-" + uuid})
	})
}
