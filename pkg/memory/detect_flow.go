package memory

import "slices"

// flow finds private memory on its way to a ref that others read, declared or
// not, retired on the way or not: the history that is merged holds it.
func (c *comparison) flow(left, right *Memory) {
	if IsProtected(c.target) && right.EverPrivate && (left == nil || !left.EverPrivate || rank(right.Visibility) > rank(left.Visibility)) ||
		left != nil && rank(right.Visibility) > rank(left.Visibility) {
		c.note(ScopeFlow, Asks, "memory:"+right.ID, "", leftIDs(left), []string{right.ID})
	}
}

func rank(visibility string) int { return slices.Index(visibilities, visibility) }

// declared finds an op that says itself that it makes something broader.
func (c *comparison) declared(op *Op, id identities, left *Memory, at string) {
	if from, to := rank(op.Text("from_visibility")), rank(op.Text("to_visibility")); from >= 0 && to > from {
		c.note(ScopeFlow, Asks, "declared:"+at, "", leftIDs(left), rightIDs(id))
	}
}

// more finds an op that says something new in a memory that was private once, also
// where that memory is accepted already, or says something else by now.
func (c *comparison) more(op *Op, id identities, s *set, n int) {
	if !IsProtected(c.target) || !op.writes() || !slices.ContainsFunc(contentKeys, op.has) {
		return
	}
	if m := c.right.view.find(c.p, op.written(id, s.ID, n)); m != nil && m.EverPrivate {
		c.note(ScopeFlow, Asks, "memory:"+m.ID, "", leftIDs(c.left.view.find(c.p, m.ID)), []string{m.ID})
	}
}

// writes reports whether an op of this type gives a memory its content.
func (o *Op) writes() bool {
	return o.Type == AddMemory || o.Type == CorrectMemory || o.Type == SupersedeMemory
}

// written is the memory that the content of an op goes to.
func (o *Op) written(id identities, changeset string, n int) string {
	switch {
	case id.result != "":
		return id.result
	case o.Type == CorrectMemory:
		return id.target
	}
	return defaultID(changeset, n)
}

// copies finds changed memory that says what a private one says and is no longer
// private itself: one of either side, of what the picked ops leave behind, or of
// any other branch that those who wrote the changes work on.
func (c *comparison) copies(changed []*Memory) {
	if !IsProtected(c.target) {
		return
	}
	private := map[string]*Memory{}
	keep := func(content string, m *Memory) {
		if m == nil || !m.EverPrivate {
			return
		}
		text := normalize(content)
		if first := private[text]; first == nil || m.ID < first.ID {
			private[text] = m
		}
	}
	for _, s := range []*set{c.left, c.right, c.head} {
		s.view.mem.each(func(_ int32, m *Memory) {
			if m != nil {
				keep(m.Content, m)
			}
		})
	}
	actors, topics := map[string]bool{}, []string{}
	for _, s := range c.work {
		actors[s.Author.Actor] = true
		topics = append(topics, s.topics...)
	}
	slices.Sort(topics)
	topics = slices.Compact(topics)
	for _, s := range c.p.sets {
		if !actors[s.Author.Actor] && !c.p.onTopic(topics, s) {
			continue
		}
		for n := range s.Ops {
			if op := &s.Ops[n]; op.has("content") {
				id, _ := op.identify()
				keep(op.Text("content"), s.view.find(c.p, op.written(id, s.ID, n)))
			}
		}
	}
	for _, m := range changed {
		if source := private[normalize(m.Content)]; source != nil && source.ID != m.ID && !m.EverPrivate {
			c.note(ScopeFlow, Asks, pair(source.ID, m.ID), "", []string{source.ID}, []string{m.ID})
		}
	}
}
