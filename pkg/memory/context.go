package memory

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// ContextVersion is that of a context.
const ContextVersion = "memory-context/v1"

// Reasons for which memory is not in a context.
const (
	ExcludedRetired    = "retired"     // replaced, or marked as a duplicate
	ExcludedConflict   = "conflict"    // in an open conflict of which the head holds both sides
	ExcludedUnreviewed = "unreviewed"  // a plain record of the baseline, not asked for
	ExcludedCount      = "over-count"  // ranked after the most memories asked for
	ExcludedTokens     = "over-tokens" // would pass the estimated tokens
	ExcludedPins       = "over-pins"   // its id would not fit the manifest
)

// ContextQuery says what of a ref's memory a context shall hold.
type ContextQuery struct {
	Project, Ref string
	Head         Name   // zero is the ref's head
	Query        string // words to rank by; at most MaxNoteBytes
	MaxMemories  int    // 1 to MaxContextMemories, 0 is that
	MaxTokens    int    // 1 to MaxContextTokens, 0 is DefaultContextTokens
	Baseline     bool   // with the unreviewed records of the baseline
}

// ContextMemory is one memory of a context.
type ContextMemory struct {
	ID         string         `json:"id"`
	Content    string         `json:"content"`
	Kind       string         `json:"kind"`
	EventType  string         `json:"event_type,omitzero"`
	Scope      string         `json:"scope"`
	Visibility string         `json:"visibility"`
	Tags       []string       `json:"tags,omitzero"`
	Confidence jsontext.Value `json:"confidence,omitzero"`
	FactKey    string         `json:"fact_key,omitzero"`
	Subject    string         `json:"subject,omitzero"`
	ValidFrom  string         `json:"valid_from,omitzero"`
	ValidTo    string         `json:"valid_to,omitzero"`
	Protected  bool           `json:"protected,omitzero"`
	Unreviewed bool           `json:"unreviewed,omitzero"`
	Changeset  Name           `json:"changeset_id"`
	Author     string         `json:"author"`
	Reason     string         `json:"reason"`
}

// ContextConflict is an open conflict that a context names.
type ContextConflict struct {
	ID       string       `json:"conflict_id"`
	Type     ConflictType `json:"type"`
	Identity string       `json:"identity"`
	Left     []string     `json:"left_memories,omitzero"`
	Right    []string     `json:"right_memories,omitzero"`
}

// Context is the memory accepted at an exact head of a ref. Everything in it
// follows from the pins of its manifest.
type Context struct {
	Version   string            `json:"version"`
	Project   string            `json:"project_id"`
	Ref       string            `json:"ref_name"`
	Head      Name              `json:"head_changeset_id"`
	Memories  []ContextMemory   `json:"memories"`
	Conflicts []ContextConflict `json:"open_conflicts"`
	Count     int               `json:"open_conflict_count"` // all, listed or not
	Excluded  []Exclusion       `json:"excluded"`
}

// Text is the context as canonical text.
func (c *Context) Text() []byte { return canonicalJSON(c) }

// Tokens estimates what a text of so many bytes costs a model.
func Tokens(bytes int) int { return (bytes + bytesPerToken - 1) / bytesPerToken }

// ContextAt selects the memory for a context and returns it with its input
// manifest; the manifest's id, author and time are the caller's to set. The head
// must be reachable from the ref.
func (s *State) ContextAt(q ContextQuery) (*Context, *Manifest, error) {
	q.MaxMemories, q.MaxTokens = cmp.Or(q.MaxMemories, MaxContextMemories), cmp.Or(q.MaxTokens, DefaultContextTokens)
	if q.MaxMemories < 1 || q.MaxMemories > MaxContextMemories || q.MaxTokens < 1 || q.MaxTokens > MaxContextTokens || len(q.Query) > MaxNoteBytes {
		return nil, nil, refuse(ReasonBound, "a context has 1 to %d memories, 1 to %d tokens and a query up to %d bytes", MaxContextMemories, MaxContextTokens, MaxNoteBytes)
	}
	p := s.projects[q.Project]
	if p == nil {
		return nil, nil, refuse(ReasonProject, "project %s has no root yet", quoted(q.Project))
	}
	head, fault := p.headOn(q.Ref, q.Head)
	if fault != nil {
		return nil, nil, fault
	}
	m := &Manifest{Kind: InputManifest, Project: p.id, Ref: q.Ref, Head: head.Name(), Baseline: q.Baseline}
	p.choose(head, q, m)
	c, fault := p.rebuild(m)
	if fault != nil {
		return nil, nil, fault
	}
	m.ContentDigest = contentDigest(c.Text())
	return c, m, nil
}

// ContextOf rebuilds the context that an input manifest pins: the same bytes, as
// long as the records are there.
func (s *State) ContextOf(m *Manifest) (*Context, error) {
	p := s.projects[m.Project]
	if p == nil || m.Kind != InputManifest {
		return nil, refuse(ReasonProject, "the manifest is no input manifest of a project here")
	}
	c, fault := p.rebuild(m)
	if fault != nil {
		return nil, fault
	}
	if contentDigest(c.Text()) != m.ContentDigest {
		return nil, refuse(ReasonPins, "the pins do not give the content that the manifest names")
	}
	return c, nil
}

// headOn returns a changeset that is reachable from a ref.
func (p *project) headOn(name string, head Name) (*set, *Refusal) {
	ref := p.refs[name]
	if ref == nil {
		return nil, refuse(ReasonUnknown, "there is no ref %s", quoted(name))
	}
	if head == (Name{}) {
		return ref.head, nil
	}
	t, known := p.known(head)
	if !known || !ref.head.view.has(t.index) {
		return nil, &Refusal{ReasonAncestry, "head is not reachable from the ref", ref.head.Name().String()}
	}
	return t, nil
}

// ranked is one candidate for a context.
type ranked struct {
	m       *Memory
	overlap int
}

// bytes estimates what a memory takes in a context's text.
func (m *Memory) bytes() int {
	const names = 320 // of the members, with the changeset and the author
	n := names + len(m.ID) + len(m.Content) + len(m.EventType) + len(m.Scope) + len(m.FactKey) + len(m.Subject) + len(m.ValidFrom) + len(m.ValidTo)
	for _, tag := range m.Tags {
		n += len(tag) + 3
	}
	return n
}

// choose ranks and bounds the memory at a head, and pins the choice.
func (p *project) choose(head *set, q ContextQuery, m *Manifest) {
	excluded := map[string][]string{}
	withheld := p.conflictsAt(head, m)
	words := wordsOf(q.Query)
	var list []ranked
	consider := func(e *Memory) {
		switch {
		case e == nil:
		case !e.Active:
			excluded[ExcludedRetired] = append(excluded[ExcludedRetired], e.ID)
		case withheld[e.ID]:
			excluded[ExcludedConflict] = append(excluded[ExcludedConflict], e.ID)
		case e.Unreviewed && !q.Baseline:
			excluded[ExcludedUnreviewed] = append(excluded[ExcludedUnreviewed], e.ID)
		default:
			list = append(list, ranked{m: e, overlap: overlap(words, e)})
		}
	}
	head.view.mem.each(func(_ int32, e *Memory) { consider(e) })
	p.readBaseline()
	if p.baseline != nil {
		for _, e := range p.baseline.order {
			if i, known := p.memoryIndex[e.ID]; !known || head.view.mem.get(i) == nil {
				consider(e)
			}
		}
	}
	slices.SortFunc(list, func(a, b ranked) int {
		return cmp.Or(b.overlap-a.overlap, int(b.m.revised.set-a.m.revised.set), int(b.m.revised.ordinal-a.m.revised.ordinal), strings.Compare(a.m.ID, b.m.ID))
	})
	bytes, pins := 0, 0
	for _, r := range list {
		reason := ""
		cost := r.m.bytes()
		switch {
		case len(m.Memories) == q.MaxMemories:
			reason = ExcludedCount
		case Tokens(bytes+cost) > q.MaxTokens:
			reason = ExcludedTokens
		case pins+len(r.m.ID) > maxPinBytes:
			reason = ExcludedPins
		}
		if reason != "" {
			excluded[reason] = append(excluded[reason], r.m.ID)
			continue
		}
		bytes, pins = bytes+cost, pins+len(r.m.ID)
		m.Memories = append(m.Memories, Pin{r.m.ID, reasonFor(r.overlap)})
	}
	m.Excluded = exclusions(excluded)
}

func reasonFor(overlap int) string {
	if overlap > 0 {
		return fmt.Sprintf("shares %d words with the query", overlap)
	}
	return "recent"
}

// exclusionReasons are in the order in which they stand in a context.
var exclusionReasons = []string{ExcludedConflict, ExcludedCount, ExcludedPins, ExcludedTokens, ExcludedRetired, ExcludedUnreviewed}

func exclusions(by map[string][]string) []Exclusion {
	var list []Exclusion
	named := 0
	for _, reason := range exclusionReasons {
		ids := by[reason]
		if len(ids) == 0 {
			continue
		}
		slices.Sort(ids)
		e := Exclusion{Reason: reason, Count: len(ids)}
		for _, id := range ids {
			if len(e.IDs) == MaxExcludedIDs || named+len(id) > maxPinBytes {
				break
			}
			named += len(id)
			e.IDs = append(e.IDs, id)
		}
		list = append(list, e)
	}
	return list
}
