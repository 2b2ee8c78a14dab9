package memoryrun

import (
	"crypto/rand"

	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/memory"
)

// Submit makes the records of a request as an agent's server does, and judges them
// as persist does: in one commit, for whoever writes to the branch directly. What
// is refused is an error, and nothing is written then; a request that stands gives
// no change.
func (j *Job) Submit(snap ledger.Snapshot, what string, request func(*memory.State, memory.Agent) (memory.Request, error)) (memory.Request, ledger.Change, error) {
	l := ledger.OpenSnapshot(snap, j.Limits)
	heads := l.Heads()
	agent := memory.Agent{Principal: j.Principal, Surface: j.Role, Now: j.Now, Random: rand.Reader, Limits: j.Limits, Parents: len(heads)}
	q, err := request(memory.Fold(l), agent)
	if err != nil || len(q.Records) == 0 {
		return q, ledger.Change{}, err
	}
	var made []ledger.Record
	parents := heads[:min(len(heads), ledger.MaxParents)]
	for _, d := range q.Records {
		uuid, err := ledger.NewUUID(rand.Reader)
		if err != nil {
			return q, ledger.Change{}, err
		}
		r, err := ledger.Seal(ledger.Draft{ID: "ldg-" + uuid, Parents: parents, Payload: d.Payload, Timestamp: ledger.FormatTime(j.Now), Type: d.Type})
		if err != nil {
			return q, ledger.Change{}, err
		}
		made, parents = append(made, r), []ledger.Hash{r.SHA()}
	}
	change, err := j.Change(snap, what, func(s *memory.State, c memory.Clerk) ([]ledger.Record, error) {
		judged, err := s.Judge(c, j.Policy, made)
		if err != nil {
			return nil, err
		}
		for _, v := range judged.Verdicts {
			if !v.Accepted {
				return nil, v.Refusal()
			}
		}
		return append(made, judged.Records...), nil
	})
	return q, change, err
}
