package persist

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/memory"
	"github.com/repo-memory/ledger/pkg/txlog"
)

// Change returns what the staging adds to the branch that snap was read from:
// new shards that hold the admitted records, and ordinary files. It deletes
// nothing and replaces no file below the ledger's folder. The Change depends on
// the staging, its options and snap alone; on a branch that holds it already it
// is empty. The Report is filled as far as the work came beside an error too.
//
// Errors: the ledger on the branch is not whole, a bound on the whole change is
// passed (*[LimitError]), what Base returned, wrapped, or what Validate returned.
func (s *Staged) Change(snap ledger.Snapshot) (ledger.Change, Report, error) {
	c := &changer{Staged: s, snap: snap, add: map[string][]byte{}}
	err := c.make()
	if err != nil {
		return ledger.Change{}, c.report, err
	}
	if len(c.add) == 0 {
		return ledger.Change{}, c.report, nil
	}
	return ledger.Change{Add: c.add, Message: c.message()}, c.report, nil
}

// changer makes one Change.
type changer struct {
	*Staged
	snap   ledger.Snapshot
	ledger *ledger.Ledger // of snap
	report Report
	add    map[string][]byte
	memory memoryRun

	shards []*entry // staged shards to be taken apart
	files  []*entry // ordinary files
}

func (c *changer) make() error {
	limits := c.options.Limits
	c.ledger = ledger.OpenSnapshot(c.snap, limits)
	if err := c.ledger.Whole(); err != nil {
		return err
	}
	r := &c.report
	r.Head, r.MaxShards = c.snap.Head, limits.MaxShards
	r.HeadsBefore, r.Diagnostics = c.ledger.Heads(), len(c.ledger.Diagnostics())
	r.HeadsAfter = r.HeadsBefore
	r.ShardsBefore = len(c.ledger.Shards())
	r.ShardsAfter = r.ShardsBefore
	r.Warnings = warnLimits(limits, c.options.Files)

	c.sort()
	records, err := c.addRecords()
	if err != nil {
		return err
	}
	if err := c.addFiles(); err != nil {
		return err
	}
	r.CompactionNeeded = r.ShardsAfter*4 >= r.MaxShards*3
	return c.validate(records)
}

// sort decides what needs no second look and puts the others into shards and
// files.
func (c *changer) sort() {
	r := &c.report
	for _, e := range c.entries {
		item := Item{Kind: kindOf(e), Path: e.path}
		what, own := c.options.Own[e.path]
		standing, there := c.snap.Files[e.path]
		switch {
		case own:
			r.ignore(item, what)
		case there && e.content != nil && bytes.Equal(standing, e.content):
			r.ignore(item, "on the branch as it is here")
		case e.fault != "":
			r.reject(item, e.fault)
		case item.Kind == KindShard:
			c.shards = append(c.shards, e)
		case isPendingPath(e.path):
			r.ignore(item, "a shard that its writer did not publish: nothing in it was acknowledged")
		case item.Kind == KindOther:
			r.reject(item, ledgerFault(e.path))
		default:
			c.files = append(c.files, e)
		}
	}
}

func kindOf(e *entry) Kind {
	switch {
	case e.content == nil:
		return KindOther
	case isShardPath(e.path):
		return KindShard
	case e.path == ledger.Dir, strings.HasPrefix(e.path, ledger.Dir+"/"):
		return KindOther
	}
	return KindFile
}

// addRecords admits the staged records and puts them into shards of our own,
// then what says which of those of Memory Git have effect.
func (c *changer) addRecords() ([]ledger.Record, error) {
	staged, err := c.takeApart()
	if err != nil {
		return nil, err
	}
	c.openMemory(staged)
	before := c.report.copy()
	a, segments, kept, err := c.admitAndPack(staged)
	if err != nil {
		return nil, err
	}
	verdicts, made, err := c.judgeMemory(kept)
	var refused *memory.Refusal
	if errors.As(err, &refused) {
		c.withoutMemory(before, refused)
		a, segments, kept, err = c.admitAndPack(staged)
	}
	if err != nil {
		return nil, err
	}
	records := make([]ledger.Record, len(kept))
	for i, s := range kept {
		records[i] = s.record
		c.report.accept(s.item, "added")
		c.report.RecordBytes += len(s.record.Line()) + 1
	}
	c.tellMemory(kept, a.standing, verdicts)
	if c.options.Log != nil {
		gaps := txlog.Compare(a.staged, c.options.Log.Events)
		c.report.Gaps = &gaps
	}
	extra, err := c.packMade(made)
	if err != nil {
		return nil, err
	}
	c.report.Records = len(records)
	return append(records, made...), c.addShards(append(segments, extra...), append(records, made...))
}

func (c *changer) admitAndPack(staged []stagedRecord) (admission, []ledger.Segment, []stagedRecord, error) {
	a := c.admit(staged)
	segments, kept, err := c.pack(a)
	return a, segments, kept, err
}

// addShards puts shards into the change, within the bounds on the whole.
func (c *changer) addShards(segments []ledger.Segment, records []ledger.Record) error {
	r, limits := &c.report, c.options.Limits
	if r.RecordBytes > limits.MaxPatchBytes {
		return &LimitError{"max-patch-kb", "bytes of records", int64(r.RecordBytes), int64(limits.MaxPatchBytes),
			"raise max-patch-kb here and where the agent runs, or let one run record less"}
	}
	if r.ShardsAfter = r.ShardsBefore + len(segments); len(segments) > 0 && r.ShardsAfter > limits.MaxShards {
		return &LimitError{"max-shards", "shards in all", int64(r.ShardsAfter), int64(limits.MaxShards),
			"run maintenance to compact the ledger, then run this job again"}
	}
	for _, segment := range segments {
		c.add[ledger.ShardPath(segment.ID)] = segment.Content
	}
	r.HeadsAfter = c.headsAfter(records)
	return nil
}

// validate asks the workflow's own policy about what is about to be committed.
func (c *changer) validate(records []ledger.Record) error {
	if c.options.Validate == nil || len(c.add) == 0 {
		return nil
	}
	files := make([]File, 0, len(c.add))
	for _, path := range slices.Sorted(maps.Keys(c.add)) {
		files = append(files, File{path, string(c.add[path])})
	}
	return c.options.Validate(files, records)
}

// message is the commit message. Of the staging it holds counts, and in Run the
// transaction id of its manifest, which the caller has checked for its form.
func (c *changer) message() string {
	var parts []string
	if n := c.report.Records; n > 0 {
		parts = append(parts, plural(n, "record"))
	}
	if m := c.report.Memory; m != nil && m.Made > 0 {
		parts = append(parts, plural(m.Made, "record")+" that admit memory")
	}
	if n := c.report.Files; n > 0 {
		parts = append(parts, plural(n, "file"))
	}
	m := "persist: add " + strings.Join(parts, " and ")
	if c.options.Ledger != "" {
		m += " to " + c.options.Ledger
	}
	if c.options.Run != "" {
		m += "\n\n" + c.options.Run
	}
	return m + "\n"
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
