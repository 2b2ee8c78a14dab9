package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/memory"
	"github.com/repo-memory/ledger/pkg/memoryrun"
)

const (
	benchProject  = "demo"
	benchAgent    = ".github/workflows/bench.yml"
	benchReviewer = "1"
	benchPolicy   = `version: memory-policy/v1
principals:
  - {workflow: .github/workflows/bench.yml, actor: bench, scopes: [memory.read, memory.branch, memory.commit, memory.propose], projects: [demo]}
  - {user: 1, actor: reviewer, scopes: [memory.read, memory.review, memory.merge, memory.write], projects: [demo]}
`
	memoryRuns    = 5 // of each measurement
	memoryBatch   = 1000
	createdRuns   = 101
	foldedSmall   = 10_000
	foldedLarge   = 2 * foldedSmall
	detectedSmall = 5_000
	detectedLarge = 2 * detectedSmall
)

// remembered is a ledger with reviewed memory that grows as the roles let it grow.
type remembered struct {
	snap   ledger.Snapshot
	limits ledger.Limits
	policy *memory.Policy
	keys   *memory.KeyRing
}

func newRemembered(limits ledger.Limits) (*remembered, error) {
	limits.MaxShards = 1024
	m := &remembered{snap: ledger.Snapshot{Files: map[string][]byte{}}, limits: limits}
	var err error
	if m.policy, err = memory.ParsePolicy([]byte(benchPolicy)); err != nil {
		return nil, err
	}
	if m.keys, err = memory.ParseKeyRing("bench=" + fmt.Sprintf("%064x", 7)); err != nil {
		return nil, err
	}
	return m, m.trusted(func(s *memory.State, c memory.Clerk) ([]ledger.Record, error) { return s.Init(c, benchProject) })
}

func (m *remembered) job(principal string) (memoryrun.Job, error) {
	entry, refusal := m.policy.Principal(principal)
	if refusal != nil {
		return memoryrun.Job{}, refusal
	}
	return memoryrun.Job{Role: "bench", Ledger: "memory", Limits: m.limits, Policy: m.policy, Principal: entry, Now: time.Now()}, nil
}

// trusted adds what a job of the reviewer makes.
func (m *remembered) trusted(do func(*memory.State, memory.Clerk) ([]ledger.Record, error)) error {
	job, err := m.job(benchReviewer)
	if err != nil {
		return err
	}
	change, err := job.Change(m.snap, "bench", do)
	maps.Copy(m.snap.Files, change.Add)
	return err
}

// commit adds n changesets of the agent to a ref, which it creates at a head; ops
// gives those of the nth. It returns the last one.
func (m *remembered) commit(ref string, start memory.Name, n int, ops func(int) []memory.Op) (head memory.Name, err error) {
	job, err := m.job(benchAgent)
	if err != nil {
		return head, err
	}
	for at := 0; at < n; at += memoryBatch {
		l := ledger.OpenSnapshot(m.snap, m.limits)
		s := memory.Fold(l)
		var made []ledger.Record
		parents := l.Heads()
		agent := memory.Agent{Principal: job.Principal, Now: job.Now, Random: rand.Reader, Limits: m.limits, Parents: 1}
		for i := at; i < min(n, at+memoryBatch); i++ {
			q := memory.Commit{Project: benchProject, Ref: ref, Message: "work in the session", Key: fmt.Sprint(ref, i), Ops: ops(i), Expected: head}
			if i == 0 {
				q.Create, q.Parents = true, []memory.Name{start}
			}
			request, err := s.Commit(agent, q)
			if err != nil {
				return head, err
			}
			head = request.Name
			for _, d := range request.Records {
				uuid, err := ledger.NewUUID(rand.Reader)
				if err != nil {
					return head, err
				}
				r, err := ledger.Seal(ledger.Draft{ID: "ldg-" + uuid, Parents: parents, Payload: d.Payload, Timestamp: ledger.FormatTime(job.Now), Type: d.Type})
				if err != nil {
					return head, err
				}
				made, parents = append(made, r), []ledger.Hash{r.SHA()}
				if err := s.Stage(job.Principal, r); err != nil {
					return head, err
				}
			}
		}
		change, err := job.Change(m.snap, "bench", func(s *memory.State, c memory.Clerk) ([]ledger.Record, error) {
			j, err := s.Judge(c, m.policy, made)
			return append(made, j.Records...), err
		})
		if err != nil {
			return head, err
		}
		maps.Copy(m.snap.Files, change.Add)
	}
	return head, nil
}

func (m *remembered) head(ref string) memory.Name {
	r, _ := memoryrun.Fold(m.snap, m.limits).Ref(benchProject, ref)
	return r.Head
}

// fastest is the shortest of several runs.
func fastest(run func() error) (time.Duration, error) {
	best := time.Duration(1 << 62)
	for range memoryRuns {
		d, err := timed(run)
		if err != nil {
			return 0, err
		}
		best = min(best, d)
	}
	return best, nil
}

// reviewed measures reviewed memory: a fold with a context at its head against
// opening the same ledger, its growth, an append over MCP, and the detectors.
func (b *bench) reviewed() error {
	const ref = "refs/sessions/bench/long"
	shop, err := newWorkshop(b.ctx, b.dir, "agent-ledger")
	if err != nil {
		return err
	}
	b.shop = shop
	folds, creates := map[int]time.Duration{}, map[int]time.Duration{}
	for _, n := range []int{foldedSmall, foldedLarge} {
		m, err := newRemembered(b.limits)
		if err != nil {
			return err
		}
		if _, err := m.commit(ref, m.head(memory.SharedMain), n, func(i int) []memory.Op {
			return []memory.Op{benchFact(fmt.Sprintf("key.%d", i), fmt.Sprintf("The value of key number %d is what it was set to in the configuration.", i), "")}
		}); err != nil {
			return err
		}
		var l *ledger.Ledger
		open, _ := fastest(func() error { l = ledger.OpenSnapshot(m.snap, m.limits); return nil })
		folds[n], err = fastest(func() error {
			_, _, err := memory.Fold(l).ContextAt(memory.ContextQuery{Project: benchProject, Ref: ref, Query: "key number 77"})
			return err
		})
		if err != nil {
			return err
		}
		if n == foldedLarge {
			b.against(fmt.Sprintf("fold %d changesets, context at the head / open", n), folds[n], open, 6)
		}
		if creates[n], err = b.creating(m, n); err != nil {
			return err
		}
	}
	b.against("fold and context, twice the changesets / once", folds[foldedLarge], folds[foldedSmall], 2.4)
	b.against("memory_changeset_create, twice the changesets / once", creates[foldedLarge], creates[foldedSmall], 1.5)
	for _, kind := range []string{"spread", "all on one key"} {
		small, err := b.detecting(detectedSmall, kind != "spread")
		if err != nil {
			return err
		}
		large, err := b.detecting(detectedLarge, kind != "spread")
		if err != nil {
			return err
		}
		b.against("detect, "+kind+", twice the memories on each side / once", large, small, 2.5)
		b.within(fmt.Sprintf("detect, %s, %d x %d changed memories", kind, detectedLarge, detectedLarge), large, 2000)
	}
	return nil
}

// benchFact is an op that adds a fact; more are further members of its payload.
func benchFact(key, content, more string) memory.Op {
	op, refusal := memory.NewOp(memory.AddMemory, "", "", fmt.Appendf(nil, `{"kind":"fact","fact_key":%q,"content":%q%s}`, key, content, more))
	if refusal != nil {
		panic(refusal)
	}
	return op
}

// creating measures one call of memory_changeset_create on a ledger, once the
// server has read it.
func (b *bench) creating(m *remembered, n int) (time.Duration, error) {
	dir, err := b.folder(fmt.Sprintf("create-%d/memory", n))
	if err != nil {
		return 0, err
	}
	defer removeAll(dir)
	if err := write(m.snap, dir); err != nil {
		return 0, err
	}
	policy := filepath.Join(b.dir, "policy.yml")
	if err := os.WriteFile(policy, []byte(benchPolicy), 0o644); err != nil {
		return 0, err
	}
	config := filepath.Join(b.dir, fmt.Sprintf("create-%d.json", n))
	text, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"ledger": map[string]any{"command": b.shop.binary("agent-ledger"), "args": []string{"serve"},
		"env": map[string]string{"INPUT_DIRECTORY": dir, "INPUT_MAX_PATCH_KB": "10240", "INPUT_MEMORY_POLICY": policy, "INPUT_MEMORY_PROJECT": benchProject, "INPUT_MEMORY_PRINCIPAL": benchAgent}}}})
	if err == nil {
		err = os.WriteFile(config, text, 0o644)
	}
	if err != nil {
		return 0, err
	}
	a, err := newAgent(b.ctx, config)
	if err != nil {
		return 0, err
	}
	defer a.close()
	if _, err := a.call("memory_status", map[string]any{}); err != nil {
		return 0, err
	}
	var times []time.Duration
	for i := range createdRuns {
		d, err := timed(func() error {
			_, err := a.call("memory_changeset_create", map[string]any{"ref_name": fmt.Sprintf("refs/sessions/bench/new-%d", i), "create_ref": true, "message": "m", "idempotency_key": fmt.Sprint(i),
				"operations": []any{map[string]any{"op_type": "add_memory", "payload": map[string]any{"content": "The build is green."}}}})
			return err
		})
		if err != nil {
			return 0, err
		}
		times = append(times, d)
	}
	return median(times), nil
}
