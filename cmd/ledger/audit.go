package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"path"

	"github.com/repo-memory/ledger/pkg/branch"
	"github.com/repo-memory/ledger/pkg/ledger"
)

// maxLosses bounds what is remembered of a branch that somebody rewrote whole.
const maxLosses = 1000

// audit proves that no record ever disappeared from a branch: what a commit's
// parent held must stand in the commit, wherever compaction moved it. It walks
// the history once and keeps, for each commit that others still build on, how
// many shards hold each record.
type audit struct {
	held map[string]*holding

	Head    string `json:"head"`
	Commits int    `json:"commits"`
	Records int    `json:"records"` // at the head
	Lost    []loss `json:"lost"`
}

// holding is what a commit holds while others still build on it.
type holding struct {
	shards   map[ledger.Hash]int32
	children int
}

// loss is a record that a commit made disappear.
type loss struct {
	Commit string      `json:"commit"`
	Parent string      `json:"parent"`
	SHA    ledger.Hash `json:"sha"`
}

func newAudit() *audit { return &audit{held: map[string]*holding{}, Lost: []loss{}} }

// visit looks at one commit; its parents were visited before.
func (a *audit) visit(c branch.Commit) error {
	a.Commits++
	a.Head = c.ID
	shards := map[ledger.Hash]int32{}
	gone := make([][]ledger.Hash, len(c.Changes))
	for j, changes := range c.Changes {
		if j < len(c.Parents) && !c.Baseline {
			inherited := a.take(c.Parents[j], j == 0)
			if j == 0 {
				shards = inherited
			}
		}
		for _, change := range changes {
			old, err := records(change.Path, change.Old)
			if err != nil {
				return err
			}
			gone[j] = append(gone[j], old...)
			if j > 0 {
				continue
			}
			for _, sha := range old {
				shards[sha]--
			}
			added, err := records(change.Path, change.New)
			if err != nil {
				return err
			}
			for _, sha := range added {
				shards[sha]++
			}
		}
	}
	for j := range gone {
		reported := map[ledger.Hash]bool{}
		for _, sha := range gone[j] {
			if shards[sha] > 0 || reported[sha] {
				continue
			}
			if len(a.Lost) == maxLosses {
				return fmt.Errorf("more than %d records disappeared: the branch was rewritten, last at commit %s", maxLosses, c.ID)
			}
			reported[sha] = true
			a.Lost = append(a.Lost, loss{c.ID, c.Parents[j], sha})
		}
	}
	maps.DeleteFunc(shards, func(_ ledger.Hash, n int32) bool { return n <= 0 })
	a.Records = len(shards)
	if c.Children > 0 {
		a.held[c.ID] = &holding{shards, c.Children}
	}
	return nil
}

// take counts one child of a commit as visited and returns what it holds, if
// wanted, for the child to change.
func (a *audit) take(commit string, wanted bool) map[ledger.Hash]int32 {
	h := a.held[commit]
	if h == nil {
		return map[ledger.Hash]int32{}
	}
	if h.children--; h.children == 0 {
		delete(a.held, commit)
		return h.shards
	}
	if !wanted {
		return nil
	}
	return maps.Clone(h.shards)
}

// records returns the digests of the valid records in a shard, each once; other
// files have none.
func records(file string, blob branch.Blob) ([]ledger.Hash, error) {
	if blob.ID == "" || path.Dir(file) != ledger.ShardDir {
		return nil, nil
	}
	content, err := blob.Bytes()
	if err != nil {
		return nil, err
	}
	limits := ledger.DefaultLimits()
	limits.MaxSegmentBytes = max(limits.MaxSegmentBytes, len(content))
	l := ledger.OpenSnapshot(ledger.Snapshot{Files: map[string][]byte{file: content}}, limits)
	found := make([]ledger.Hash, 0, l.Len())
	for r := range l.Added(0) {
		found = append(found, r.SHA())
	}
	return found, nil
}

var auditCommand = command{"audit", "[--since COMMIT] --remote URL --ledger NAME", "prove from git history that no record ever disappeared",
	func(flags *flag.FlagSet) func(context.Context, streams, []string) error {
		src := sourceFlags(flags)
		since := flags.String("since", "", "begin at this `COMMIT` of the branch")
		asJSON := flags.Bool("json", false, "print one JSON value")
		return func(ctx context.Context, s streams, args []string) error {
			if *src.remote == "" || len(args) > 0 {
				return usagef("an audit reads git history: give --remote and no folder")
			}
			remote, name, err := src.remoteOf()
			if err != nil {
				return err
			}
			a := newAudit()
			if err := branch.History(ctx, remote, name, *since, branch.Limits{}, a.visit); err != nil {
				return err
			}
			if a.Commits == 0 {
				return fmt.Errorf("the remote has no branch %s: give --ledger or --branch", name)
			}
			if *asJSON {
				err = printJSON(s.out, a)
			} else {
				for _, l := range a.Lost {
					fmt.Fprintf(s.out, "record %s disappeared in commit %s\n", l.SHA, l.Commit)
				}
				fmt.Fprintf(s.out, "%d commits up to %s: %d records, %d disappeared\n", a.Commits, a.Head, a.Records, len(a.Lost))
			}
			if err == nil && len(a.Lost) > 0 {
				err = errSilent
			}
			return err
		}
	}}
