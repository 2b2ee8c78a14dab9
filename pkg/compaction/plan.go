package compaction

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/ledger"
)

const (
	// PlanVersion is the version of a plan.
	PlanVersion = "gh-aw/ledger-compaction-plan/v1"

	// segmentMetadata is the metadata of every replacement, canonical text.
	segmentMetadata = `{"compaction":"` + PlanVersion + `"}`
)

var commitForm = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// Identity names a segment by what it holds.
type Identity struct {
	Segment string        // its id
	SHA256  ledger.Hash   // of its bytes
	Bytes   int           // their number
	Records []ledger.Hash // ascending, each once
}

// Plan is a compaction that is well-formed for one configuration: made by
// [Inventory.Plan] or read by [ParsePlan], and by nothing else.
type Plan struct {
	ledger, branch        string
	trigger               Trigger
	createdAt, baseCommit string
	sources               []Identity
	replacement           Identity
	id                    ledger.Hash
}

// ID returns the plan's id.
func (p *Plan) ID() ledger.Hash { return p.id }

// Trigger returns why the plan was made.
func (p *Plan) Trigger() Trigger { return p.trigger }

// BaseCommit returns the commit that the plan was made at, 40 or 64 hex digits.
func (p *Plan) BaseCommit() string { return p.baseCommit }

// Sources returns the segments to retire, ascending.
func (p *Plan) Sources() []Identity { return slices.Clone(p.sources) }

// Replacement returns the segment that stands for them.
func (p *Plan) Replacement() Identity { return p.replacement }

// Merge returns the segment that holds every record of the named segments, and
// those of them that it makes superfluous, ascending: all but itself. An unknown
// segment, one that cannot be written again, or too much for one segment is an
// error. It is also what an operator's run on a directory writes and retires.
func (inv *Inventory) Merge(sources []string) (replacement ledger.Segment, retired []string, err error) {
	var records []ledger.Record
	for _, id := range sources {
		s, ok := inv.segment(id)
		if !ok || s.flaw != "" {
			return ledger.Segment{}, nil, fmt.Errorf("a selected segment is not there or cannot be written again")
		}
		records = append(records, s.Records...)
	}
	replacement, err = ledger.BuildSegment(records, segmentMetadata, inv.config.MaxSegmentBytes)
	if err != nil {
		return ledger.Segment{}, nil, err
	}
	retired = slices.Compact(slices.Sorted(slices.Values(sources)))
	return replacement, slices.DeleteFunc(retired, func(id string) bool { return id == replacement.ID }), nil
}

// Plan makes the plan that compacts the selected segments. It is nil when they
// are the replacement already.
func (inv *Inventory) Plan(sources []string, trigger Trigger, baseCommit string, now time.Time) (*Plan, error) {
	if !commitForm.MatchString(baseCommit) {
		return nil, fmt.Errorf("base commit must be 40 or 64 lower-case hexadecimal digits")
	}
	replacement, retired, err := inv.Merge(sources)
	if err != nil || len(retired) == 0 {
		return nil, err
	}
	p := &Plan{ledger: inv.config.Ledger, branch: inv.config.Branch, trigger: trigger,
		createdAt: ledger.FormatTime(now), baseCommit: baseCommit, replacement: identify(replacement)}
	for _, id := range retired {
		s, _ := inv.segment(id)
		p.sources = append(p.sources, Identity{Segment: id, SHA256: s.SHA256, Bytes: s.Bytes, Records: s.hashes()})
	}
	p.id = p.computeID()
	return p, nil
}

// PlanFromSources makes the plan of a selection that somebody else made, once
// [Inventory.Propose] accepts it; it is nil when there is nothing to do, and the
// Selection says why.
func (inv *Inventory) PlanFromSources(sources []string, trigger Trigger, baseCommit string, now time.Time) (*Plan, Selection, error) {
	selection, err := inv.Propose(sources)
	if err != nil || len(selection.Sources) == 0 {
		return nil, selection, err
	}
	p, err := inv.Plan(selection.Sources, trigger, baseCommit, now)
	if err == nil && p == nil {
		selection.Reason = "the selected segments are compacted already"
	}
	return p, selection, err
}

func identify(s ledger.Segment) Identity {
	id := Identity{Segment: s.ID, SHA256: sha256.Sum256(s.Content), Bytes: len(s.Content), Records: make([]ledger.Hash, len(s.Records))}
	for i, r := range s.Records {
		id.Records[i] = r.SHA()
	}
	return id
}

// computeID is the digest of what the plan would do.
func (p *Plan) computeID() ledger.Hash {
	b := canonical.AppendString(append([]byte{}, `{"branch":`...), p.branch)
	b = canonical.AppendString(append(b, `,"ledger":`...), p.ledger)
	b = p.replacement.appendName(append(b, `,"replacement":`...))
	b = append(b, `,"sources":[`...)
	for i, s := range p.sources {
		if i > 0 {
			b = append(b, ',')
		}
		b = s.appendName(b)
	}
	b = canonical.AppendString(append(b, `],"version":`...), PlanVersion)
	return sha256.Sum256(append(b, '}'))
}

// appendName appends what of an identity goes into the plan's id.
func (id Identity) appendName(b []byte) []byte {
	b = canonical.AppendString(append(b, `{"segment":`...), id.Segment)
	b = append(append(append(b, `,"sha256":"`...), id.SHA256.String()...), `"}`...)
	return b
}

// append appends the identity as it stands in a plan.
func (id Identity) append(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"bytes":`...), int64(id.Bytes), 10)
	b = appendHashes(append(b, `,"records":`...), id.Records)
	b = canonical.AppendString(append(b, `,"segment":`...), id.Segment)
	return append(append(append(b, `,"sha256":"`...), id.SHA256.String()...), `"}`...)
}

// Text returns the plan file: canonical text and a line feed.
func (p *Plan) Text() []byte {
	b := canonical.AppendString(append([]byte{}, `{"base_commit":`...), p.baseCommit)
	b = canonical.AppendString(append(b, `,"branch":`...), p.branch)
	b = canonical.AppendString(append(b, `,"created_at":`...), p.createdAt)
	b = canonical.AppendString(append(b, `,"ledger":`...), p.ledger)
	b = append(append(append(b, `,"plan_id":"`...), p.id.String()...), '"')
	b = p.replacement.append(append(b, `,"replacement":`...))
	b = append(b, `,"sources":[`...)
	for i, s := range p.sources {
		if i > 0 {
			b = append(b, ',')
		}
		b = s.append(b)
	}
	b = canonical.AppendString(append(b, `],"trigger":`...), string(p.trigger))
	b = canonical.AppendString(append(b, `,"version":`...), PlanVersion)
	return append(b, '}', '\n')
}
