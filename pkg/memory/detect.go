package memory

import (
	"fmt"
	"slices"
	"strings"
)

// comparison is what the detectors look at: two heads and the base that the
// work on the right declares.
type comparison struct {
	p                 *project
	base, left, right *set
	target            string // ref
	rights            []*set // what the right adds to base and left, in order
	work              []*set // the proposal's own changesets; rights, where no ops are picked
	head              *set   // the proposal's
	touched           map[int32]bool
	found             map[int32]*Memory // what the first of the work that touches a memory found
	list              []*Conflict
	seen              map[finding]bool
}

// finding is what makes a conflict the same one.
type finding struct {
	typ      ConflictType
	identity string
}

// detect runs the detectors for a proposal against the target's head as it is
// now. It changes nothing and gives the same result for the same heads.
func (p *project) detect(t *proposalState) []*Conflict {
	target := p.refs[t.TargetRef].head
	c := &comparison{p: p, base: t.base, left: target, right: t.head, head: t.head, target: t.TargetRef}
	c.work = p.setsOf(t.head, t.base.view, target.view)
	if len(t.Selected) > 0 {
		picked, fault := p.prepared(t, CherryPick)
		if fault != nil {
			c.note(StaleBase, Blocks, "selected ops", "", nil, nil)
			return c.finish(t.ID, t.head.Name())
		}
		c.right, c.rights = picked, []*set{picked}
	} else {
		if !t.head.view.has(target.index) {
			c.note(StaleBase, Tells, target.Name().String(), "", nil, nil)
		}
		c.rights = c.work
	}
	c.run()
	return c.finish(t.ID, t.head.Name())
}

func (p *project) setsOf(to *set, not ...view) []*set {
	list, _ := p.delta(to.index, len(p.sets), not...)
	sets := make([]*set, len(list))
	for i, j := range list {
		sets[i] = p.sets[j]
	}
	return sets
}

// note keeps a finding once.
func (c *comparison) note(typ ConflictType, severity Severity, identity string, label Label, left, right []string) {
	key := finding{typ, identity}
	if c.seen[key] {
		return
	}
	if c.seen == nil {
		c.seen = map[finding]bool{}
	}
	c.seen[key] = true
	c.list = append(c.list, &Conflict{Project: c.p.id, Base: c.base.Name(), Left: c.left.Name(), Type: typ, Severity: severity,
		Identity: identity, Label: label, LeftMemories: left, RightMemories: right, Status: ConflictOpen})
}

var severities = []Severity{Blocks, Asks, Tells}

// finish orders the findings, bounds them and gives them their ids.
func (c *comparison) finish(proposal string, right Name) []*Conflict {
	slices.SortFunc(c.list, func(a, b *Conflict) int {
		if a.Severity != b.Severity {
			return slices.Index(severities, a.Severity) - slices.Index(severities, b.Severity)
		}
		if a.Type != b.Type {
			return strings.Compare(string(a.Type), string(b.Type))
		}
		return strings.Compare(a.Identity, b.Identity)
	})
	if n := len(c.list); n > MaxConflicts {
		c.list = c.list[:MaxConflicts]
		c.note(TooManyConflicts, Blocks, fmt.Sprintf("%d conflicts", n), "", nil, nil)
	}
	for _, found := range c.list {
		found.Proposal, found.Right = proposal, right
		found.identify()
	}
	return c.list
}

// run applies the detectors.
func (c *comparison) run() {
	c.touched = c.touchedBy(c.rights)
	c.fork()
	var changed []*Memory        // by the right, still active there
	replaced := map[int32]bool{} // by the right, in any way
	for i := range c.touched {
		left, right := c.left.view.mem.get(i), c.right.view.mem.get(i)
		if right == nil {
			continue
		}
		base := c.before(i, left)
		c.diverge(base, left, right)
		c.flow(left, right)
		if sameMeaning(base, right) {
			continue
		}
		replaced[i] = true
		if right.Active {
			changed = append(changed, right)
		}
	}
	for _, s := range c.rights {
		for n := range s.Ops {
			c.op(s, n)
		}
	}
	sortMemories(changed)
	accepted := newKeyIndex(c.p.id)
	c.left.view.mem.each(func(i int32, m *Memory) {
		// What the right replaced is no contradiction of it; where both changed it,
		// that was found above. What it only marked stays what it was.
		if m != nil && m.Active && !replaced[i] {
			accepted.add(m)
		}
	})
	c.contradictions(changed, accepted)
	own := newKeyIndex(c.p.id)
	for _, m := range changed {
		own.add(m)
	}
	c.contradictions(changed, own)
	c.copies(changed)
}

// touchedBy returns the numbers of the memories that ops name or create.
func (c *comparison) touchedBy(sets []*set) map[int32]bool {
	touched := map[int32]bool{}
	for _, s := range sets {
		for n := range s.Ops {
			for _, i := range c.p.touches(s, n) {
				if i >= 0 {
					touched[i] = true
				}
			}
		}
	}
	return touched
}

// touches are the numbers of the memories that an op names or creates; -1 is none.
func (p *project) touches(s *set, n int) (numbers [2]int32) {
	op := &s.Ops[n]
	id, _ := op.identify()
	if id.result == "" && (op.Type == AddMemory || op.Type == SupersedeMemory) {
		id.result = defaultID(s.ID, n)
	}
	for at, name := range [...]string{id.target, id.result} {
		if i, known := p.memoryIndex[name]; known {
			numbers[at] = i
		} else {
			numbers[at] = -1
		}
	}
	return numbers
}

// sameMeaning reports whether nothing that a reader relies on differs; marks
// such as evidence do not count.
func sameMeaning(a, b *Memory) bool {
	if a == nil || b == nil || a == b {
		return a == b
	}
	return a.Active == b.Active && a.RetiredFor == b.RetiredFor && a.Kind == b.Kind && a.Scope == b.Scope && a.Visibility == b.Visibility &&
		a.FactKey == b.FactKey && a.Subject == b.Subject && a.ValidFrom == b.ValidFrom && a.ValidTo == b.ValidTo &&
		a.Protected == b.Protected && a.Approval == b.Approval && a.EventType == b.EventType && a.Confidence == b.Confidence &&
		a.Topic == b.Topic && a.Actor == b.Actor && slices.Equal(a.Tags, b.Tags) && normalize(a.Content) == normalize(b.Content)
}

// diverge finds a memory that both sides changed, each in its way, or that both
// created under one identity.
func (c *comparison) diverge(base, left, right *Memory) {
	if left == nil || sameMeaning(left, right) || sameMeaning(base, left) || sameMeaning(base, right) {
		return
	}
	label := TemporalUpdate
	if base == nil {
		label = DirectContradiction
	}
	typ := IncompatibleFact
	if left.Kind == KindDecision || right.Kind == KindDecision {
		if typ = ContradictoryDecision; left.Protected {
			typ = ProtectedDecision
		}
	}
	c.note(typ, Blocks, "memory:"+left.ID, label, []string{left.ID}, []string{right.ID})
}

func leftIDs(m *Memory) []string {
	if m == nil {
		return nil
	}
	return []string{m.ID}
}

// op finds what one op of the right does that its author may not do lightly. What
// it changes is read from the left's projection, never from the op.
func (c *comparison) op(s *set, n int) {
	op := &s.Ops[n]
	id, _ := op.identify()
	at := fmt.Sprintf("%s#%d", s.ID, n)
	left := c.left.view.active(c.p, id.target)
	replaces := op.Type == CorrectMemory || op.Type == SupersedeMemory || op.Type == MarkDuplicate
	user := s.user
	if source := op.Text("cherrypicked_from"); source != "" && s.ID == virtualID {
		// A picked op is its author's, whoever picked it. On a branch of its own an
		// op says of itself what it likes.
		if picked, ok := c.p.pickedSource(source); ok {
			user, s = picked.user, picked
		}
	}
	if left != nil && replaces {
		if c.p.approved(left) && (!user || isInference(op.Text("source_trust"))) {
			c.note(TrustDowngrade, Blocks, "memory:"+left.ID, TemporalUpdate, []string{left.ID}, rightIDs(id))
		}
		if left.Kind == KindDecision && left.Protected {
			c.note(ProtectedDecision, Blocks, "memory:"+left.ID, TemporalUpdate, []string{left.ID}, rightIDs(id))
		}
	}
	c.declared(op, id, left, at)
	c.more(op, id, s, n)
	if project := op.Text("project_id"); project != "" && project != c.p.id {
		c.note(BoundaryViolation, Blocks, "project:"+at, "", leftIDs(left), rightIDs(id))
	}
	topic := s.Topic
	if ref, ok := ParseRef(s.Ref); ok && ref.Kind == TopicRef {
		topic = ref.Name
	}
	if t := op.Text("topic_id"); t != "" && t != topic || replaces && left != nil && left.Topic != "" && left.Topic != topic {
		c.note(BoundaryViolation, Asks, "topic:"+at, "", leftIDs(left), rightIDs(id))
	}
	if a := op.Text("actor_id"); a != "" && a != s.Author.Actor || replaces && left != nil && left.Actor != "" && left.Actor != s.Author.Actor {
		c.note(BoundaryViolation, Asks, "actor:"+at, "", leftIDs(left), rightIDs(id))
	}
	if scope := op.Text("scope"); scope != "" && replaces && left != nil && scope != left.Scope {
		c.note(BoundaryViolation, Asks, "namespace:"+at, "", leftIDs(left), rightIDs(id))
	}
}

func rightIDs(id identities) []string {
	if id.result != "" {
		return []string{id.result}
	}
	if id.target != "" {
		return []string{id.target}
	}
	return nil
}

// pickedSource returns the changeset that a picked op names.
func (p *project) pickedSource(from string) (*set, bool) {
	name, _, _ := strings.Cut(from, "#")
	n, ok := ParseName(name)
	if !ok {
		return nil, false
	}
	return p.known(n)
}
