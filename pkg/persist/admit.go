package persist

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// takeApart reads the lines of the staged shards that are not on the branch.
func (c *changer) takeApart() ([]stagedRecord, error) {
	var staged []stagedRecord
	apart := 0
	for _, e := range c.shards {
		item := Item{Kind: KindShard, Path: e.path}
		standing, there := c.snap.Files[e.path]
		what, irregular := c.snap.Irregular[e.path]
		switch {
		case there:
			c.report.reject(item, differs(standing, e.content))
			continue
		case irregular:
			c.report.reject(item, "the branch has a "+what+" of this name")
			continue
		case len(e.content) > c.options.Limits.MaxSegmentBytes:
			c.report.reject(item, fmt.Sprintf("shard is %d bytes, max-segment-kb allows %d", len(e.content), c.options.Limits.MaxSegmentBytes))
			continue
		case len(e.content) == 0:
			c.report.ignore(item, "empty")
			continue
		}
		// Scanning stops at the shard bound (specification, section 9).
		if apart++; apart > c.options.Limits.MaxShards {
			return nil, &LimitError{"max-shards", "staged shards that are not on the branch, or more", int64(apart), int64(c.options.Limits.MaxShards),
				"let one run stage fewer shards"}
		}
		if e.lines == nil {
			e.lines = readLines(e.path, e.content)
		}
		staged = append(staged, e.lines.records...)
		c.report.Rejected.join(e.lines.bad)
	}
	return staged, nil
}

// differs says where a staged shard and the one of the same name on the branch
// part (specification, section 9: a shard is never overwritten).
func differs(standing, staged []byte) string {
	line, offset := 1, 0
	for offset < min(len(standing), len(staged)) && standing[offset] == staged[offset] {
		if standing[offset] == '\n' {
			line++
		}
		offset++
	}
	return fmt.Sprintf("differs from the shard of this name on the branch at line %d (byte %d): shards on the branch never change", line, offset)
}

// admission is what became of the staged records.
type admission struct {
	admitted []stagedRecord  // in reconstruction order, to be added
	standing []stagedRecord  // on the branch already
	staged   []ledger.Record // all that this run staged, refused ones too
}

// admit judges the staged records as one whole by the ledger's own admission
// and reports those that are not added.
func (c *changer) admit(staged []stagedRecord) admission {
	staged = inOrder(staged)
	candidates := make([]ledger.Record, len(staged))
	for i, s := range staged {
		candidates[i] = s.record
	}
	base := c.baseWithout(c.published(candidates))
	judge := ledger.Admission{Base: base, Now: c.options.Now, Allow: c.allow, Payload: c.options.Payload}
	var a admission
	for i, refusal := range judge.Admit(candidates) {
		r := candidates[i]
		if base.Has(r.SHA()) {
			c.report.ignore(staged[i].item, "on the branch already")
			a.standing = append(a.standing, staged[i])
			continue
		}
		a.staged = append(a.staged, r)
		switch {
		case c.ledger.Has(r.SHA()):
			c.report.ignore(staged[i].item, "persisted from this staging already")
			a.standing = append(a.standing, staged[i])
		case refusal != nil:
			c.refuse(staged[i], refusal)
		default:
			a.admitted = append(a.admitted, staged[i])
		}
	}
	return a
}

func (c *changer) refuse(s stagedRecord, refusal *ledger.Refusal) {
	if c.report.Refused == nil {
		c.report.Refused = map[ledger.Rule]int{}
	}
	c.report.Refused[refusal.Rule]++
	item, reason := s.item, refusal.Error()
	item.Rule = refusal.Rule
	if isMemoryRecord(s) {
		c.report.Memory.Rejected++
	}
	if refusal.Rule == ledger.RuleReserved {
		reason = cmp.Or(c.whyReserved(s.record.Type()), reason)
	}
	c.report.reject(item, reason)
}

// inOrder puts staged records into reconstruction order, parents before children
// and equal ones side by side.
func inOrder(staged []stagedRecord) []stagedRecord {
	at := make(map[ledger.Hash][]int, len(staged))
	var lines []byte
	for i, s := range staged {
		sha := s.record.SHA()
		if at[sha] == nil {
			lines = append(append(lines, s.record.Line()...), '\n')
		}
		at[sha] = append(at[sha], i)
	}
	const name = ledger.ShardDir + "/00000000-0000-4000-8000-000000000000" + ledger.ShardExt
	l := ledger.OpenSnapshot(ledger.Snapshot{Files: map[string][]byte{name: lines}},
		ledger.Limits{MaxShards: 1, MaxSegmentBytes: math.MaxInt32, MaxRecordBytes: math.MaxInt32})
	ordered := make([]stagedRecord, 0, len(staged))
	for r := range l.Records() {
		for _, i := range at[r.SHA()] {
			ordered = append(ordered, staged[i])
		}
	}
	return ordered
}

// published finds the shards on the branch that an earlier run, or a push whose
// answer was lost, made from this very staging: shards of the runtime's own form
// whose records were all staged now, and which are not part of what was restored.
func (c *changer) published(candidates []ledger.Record) []string {
	staged := make(map[ledger.Hash]bool, len(candidates))
	files := map[string]bool{}
	for _, r := range candidates {
		staged[r.SHA()] = true
		if file, _, ok := c.ledger.Location(r.SHA()); ok {
			files[ledger.ShardDir+"/"+file] = true
		}
	}
	for _, e := range c.entries {
		delete(files, e.path)
	}
	var paths []string
	for path := range files {
		if c.isOurs(path, staged) {
			paths = append(paths, path)
		}
	}
	return paths
}

func (c *changer) isOurs(path string, staged map[ledger.Hash]bool) bool {
	content := c.snap.Files[path]
	records, err := ledger.ReadSegment(content)
	if err != nil {
		return false
	}
	for _, r := range records {
		if !staged[r.SHA()] {
			return false
		}
	}
	segment, err := ledger.BuildSegment(records, metadata, len(content))
	return err == nil && ledger.ShardPath(segment.ID) == path && bytes.Equal(segment.Content, content)
}

// baseWithout is the ledger on the branch as it would be without those shards.
// The rules that look at a staging as a whole, such as how many heads it may
// add, so give the same verdicts however often it is persisted.
func (c *changer) baseWithout(paths []string) *ledger.Ledger {
	if len(paths) == 0 {
		return c.ledger
	}
	rest := c.snap
	rest.Files = maps.Clone(c.snap.Files)
	for _, path := range paths {
		delete(rest.Files, path)
	}
	return ledger.OpenSnapshot(rest, c.options.Limits)
}
