package persist

import (
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/memory"
)

// Memory says under whom records of Memory Git are admitted. The zero value
// admits none, since there is no policy.
type Memory struct {
	// Policy is the memory policy of the default branch; nil when there is none.
	Policy *memory.Policy
	// Principal is the policy's id of whom the run acts for.
	Principal string
	// Project, unless it is empty, is the only one that the run has to do with. It
	// gets its root if it has none, so that agents have something to build on.
	Project string
	// Refused is why none is admitted whatever the policy says; nil when the policy
	// decides.
	Refused *memory.Refusal
	// Workflow and Run stand in the admission record; "persist" and "local" where
	// they are empty.
	Workflow, Run string
	// Seed makes the ids of the records that persistence adds; the zero value is a
	// random one. They stay the same however often a Change is made for a head.
	Seed [32]byte
}

// MemoryReport is what became of the staged records of Memory Git. Those that
// the ledger's admission refused are in Rejected of the Report, like any other.
type MemoryReport struct {
	// Refused is why no record of Memory Git was admitted at all, nil when records
	// were judged one by one.
	Refused *memory.Refusal
	// Accepted counts the records that have effect, Without lists those that stand
	// on the branch without any, each with its reason and the current head where
	// that helps. Both include what an earlier run admitted from this staging.
	Accepted int
	Without  List
	// Rejected counts those that the ledger's admission refused.
	Rejected int
	// Made is how many records persistence adds: root, conflicts, output manifest,
	// admission.
	Made int
	// State is the digest of what is folded from the branch with the Change on it
	// (memory.State.Digest).
	State ledger.Hash
}

// isMemory reports whether a type is one of Memory Git.
func isMemory(typ string) bool { return strings.HasPrefix(typ, "memory.") }

func isMemoryRecord(s stagedRecord) bool { return isMemory(s.record.Type()) }

// memoryRun is what one Change does about Memory Git.
type memoryRun struct {
	state   *memory.State // nil: nothing of Memory Git is staged
	refused *memory.Refusal
}

// openMemory folds the branch where the run has to do with Memory Git.
func (c *changer) openMemory(staged []stagedRecord) {
	o, m := c.options.Memory, &c.memory
	m.refused = o.Refused
	if m.refused == nil {
		_, m.refused = o.Policy.Writer(o.Principal)
	}
	isStaged := slices.ContainsFunc(staged, isMemoryRecord)
	if !isStaged && (m.refused != nil || o.Project == "") {
		return
	}
	m.state = memory.Fold(c.ledger)
	if !isStaged && slices.Contains(m.state.Projects(), o.Project) {
		return
	}
	c.report.Memory = &MemoryReport{}
	if m.refused == nil {
		m.refused = c.otherWriter()
	}
	if m.refused == nil {
		errors.As(m.state.Authorizes(), &m.refused)
	}
}

// allow admits the reserved types of this run.
func (c *changer) allow(typ string) bool {
	if isMemory(typ) {
		o := c.options.Memory
		return c.memory.state != nil && c.memory.refused == nil && memory.Allow(o.Policy, o.Principal)(typ)
	}
	return c.options.Allow != nil && c.options.Allow(typ)
}

// whyReserved is the reason for refusing a reserved type, where Memory Git has a
// better one than admission.
func (c *changer) whyReserved(typ string) string {
	switch {
	case !isMemory(typ):
		return ""
	case c.memory.refused != nil:
		return c.memory.refused.Error()
	}
	return string(memory.ReasonTrustedOnly) + ": only trusted jobs write records of this type"
}

// judgeMemory decides which of the records that are about to be published have
// effect, and returns the records that say so. A *memory.Refusal says that
// nothing can be authorized on this branch; no record of Memory Git may be
// published then.
func (c *changer) judgeMemory(admitted []stagedRecord) (map[ledger.Hash]memory.Verdict, []ledger.Record, error) {
	verdicts := map[ledger.Hash]memory.Verdict{}
	o, isStaged := c.options.Memory, slices.ContainsFunc(admitted, isMemoryRecord)
	if c.report.Memory == nil || c.memory.refused != nil || !isStaged && o.Project == "" {
		return verdicts, nil, nil
	}
	records := make([]ledger.Record, len(admitted))
	for i, s := range admitted {
		records[i] = s.record
	}
	clerk := memory.Clerk{Principal: memory.Principal{ID: o.Principal}, Workflow: o.Workflow, Run: o.Run,
		Now: c.options.Now, Random: rand.NewChaCha8(o.Seed), Limits: c.options.Limits}
	if !isStaged {
		made, err := c.memory.state.Begin(clerk, o.Policy, o.Project, records)
		return verdicts, made, err
	}
	j, err := c.memory.state.Judge(clerk, o.Policy, records)
	if err != nil {
		return nil, nil, err
	}
	for _, v := range j.Verdicts {
		verdicts[v.SHA] = v
	}
	return verdicts, j.Records, nil
}

// withoutMemory is the second try after a refusal of Memory Git as a whole: the
// report starts again from what it was, and the other records pass.
func (c *changer) withoutMemory(before Report, refused *memory.Refusal) {
	c.report = before
	c.report.Memory = &MemoryReport{}
	c.memory.refused = refused
	c.memory.state = memory.Fold(c.ledger) // judging changed it
}

func (r *Report) copy() Report {
	before := *r
	before.Refused = maps.Clone(r.Refused)
	for _, l := range []*List{&before.Accepted, &before.Ignored, &before.Rejected} {
		l.Items = slices.Clone(l.Items)
	}
	before.Warnings = slices.Clone(r.Warnings)
	return before
}

// tellMemory reports the verdicts on what is published now and on what stands
// from an earlier run.
func (c *changer) tellMemory(admitted, standing []stagedRecord, verdicts map[ledger.Hash]memory.Verdict) {
	r := c.report.Memory
	if r == nil {
		return
	}
	r.Refused, r.State = c.memory.refused, c.memory.state.Digest()
	for _, s := range slices.Concat(admitted, standing) {
		if !isMemoryRecord(s) {
			continue
		}
		v, judged := verdicts[s.record.SHA()]
		if !judged {
			v, judged = c.memory.state.Verdict(s.record.SHA())
		}
		item := s.item
		switch {
		case !judged:
			item.Reason = "no admission lists it"
		case v.Accepted:
			r.Accepted++
			continue
		default:
			item.Reason = v.Refusal().Error()
		}
		r.Without.add(item)
	}
}

// packMade puts the records that persistence makes into shards of their own, so
// that those made from the staging alone are known again (see published).
func (c *changer) packMade(made []ledger.Record) ([]ledger.Segment, error) {
	if len(made) == 0 {
		return nil, nil
	}
	c.report.Memory.Made = len(made)
	staged, size := make([]stagedRecord, len(made)), 0
	for i, r := range made {
		staged[i].record = r
		size += len(r.Line()) + 1
	}
	if size > maxMadeBytes {
		return nil, &LimitError{"admission of memory", "bytes of conflicts and admissions", int64(size), maxMadeBytes,
			"let one run propose less"}
	}
	segments, err := c.cut(staged)
	if err == nil && slices.ContainsFunc(segments, c.isTaken) {
		err = errors.New("a shard of the admission has its name on the branch with other content: run this job again")
	}
	return segments, err
}
