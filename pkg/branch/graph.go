package branch

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// graph is the part of a commit graph that a history visits, in visiting order.
type graph struct {
	commits  map[plumbing.Hash]commit
	baseline map[plumbing.Hash]bool
	children map[plumbing.Hash]int
	order    []plumbing.Hash
}

func newGraph(ctx context.Context, a *archive, head, since plumbing.Hash) (*graph, error) {
	g := &graph{commits: map[plumbing.Hash]commit{}, baseline: map[plumbing.Hash]bool{}, children: map[plumbing.Hash]int{}}
	if err := g.load(ctx, a, head); err != nil {
		return nil, err
	}
	if since != plumbing.ZeroHash {
		if _, ok := g.commits[since]; !ok {
			return nil, fmt.Errorf("%w: %s", ErrUnknownCommit, since)
		}
		g.begin(since)
	}
	for id, c := range g.commits {
		if g.baseline[id] {
			continue
		}
		for _, p := range c.parents {
			g.children[p]++
		}
	}
	g.sort()
	return g, nil
}

// load reads every commit that head descends from.
func (g *graph) load(ctx context.Context, a *archive, head plumbing.Hash) error {
	for todo := []plumbing.Hash{head}; len(todo) > 0; {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if _, ok := g.commits[id]; ok {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		data, err := a.object(plumbing.CommitObject, id)
		if err != nil {
			return err
		}
		c, err := parseCommit(id, data)
		if err != nil {
			return err
		}
		g.commits[id] = c
		todo = append(todo, c.parents...)
	}
	return nil
}

// begin drops the ancestors of since, except those that a remaining commit names
// as a parent: these become baselines, as since itself does.
func (g *graph) begin(since plumbing.Hash) {
	before := map[plumbing.Hash]bool{since: true}
	for todo := []plumbing.Hash{since}; len(todo) > 0; {
		id := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, p := range g.commits[id].parents {
			if !before[p] {
				before[p] = true
				todo = append(todo, p)
			}
		}
	}
	g.baseline[since] = true
	for id, c := range g.commits {
		if before[id] {
			continue
		}
		for _, p := range c.parents {
			if before[p] {
				g.baseline[p] = true
			}
		}
	}
	for id := range before {
		if !g.baseline[id] {
			delete(g.commits, id)
		}
	}
}

// sort orders parents before children; among those that are free to come next,
// the older first, then by id, so that the order is one and the same each time.
func (g *graph) sort() {
	kids := map[plumbing.Hash][]plumbing.Hash{}
	missing := map[plumbing.Hash]int{}
	ready := &queue{}
	for id, c := range g.commits {
		if !g.baseline[id] {
			for _, p := range c.parents {
				kids[p] = append(kids[p], id)
				missing[id]++
			}
		}
		if missing[id] == 0 {
			*ready = append(*ready, c)
		}
	}
	heap.Init(ready)
	for ready.Len() > 0 {
		c := heap.Pop(ready).(commit)
		g.order = append(g.order, c.id)
		for _, kid := range kids[c.id] {
			if missing[kid]--; missing[kid] == 0 {
				heap.Push(ready, g.commits[kid])
			}
		}
	}
}

// show prepares one commit for the visitor.
func (g *graph) show(id plumbing.Hash, d *differ) (Commit, error) {
	c := g.commits[id]
	shown := Commit{ID: id.String(), Time: time.Unix(c.seconds, 0).UTC(), Baseline: g.baseline[id], Children: g.children[id]}
	for _, p := range c.parents {
		shown.Parents = append(shown.Parents, p.String())
	}
	against := []plumbing.Hash{plumbing.ZeroHash}
	if len(c.parents) > 0 && !shown.Baseline {
		against = against[:0]
		for _, p := range c.parents {
			against = append(against, g.commits[p].tree)
		}
	}
	for _, old := range against {
		changes, err := d.diff(old, c.tree)
		if err != nil {
			return Commit{}, err
		}
		shown.Changes = append(shown.Changes, changes)
	}
	return shown, nil
}

// queue is a heap of commits, the older first.
type queue []commit

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(q[i].seconds, q[j].seconds), cmp.Compare(q[i].id.String(), q[j].id.String())) < 0
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(commit)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}
