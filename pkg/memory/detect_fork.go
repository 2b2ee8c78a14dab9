package memory

// fork notes, for each memory that the right touches, what the first of the
// proposal's changesets that touches it found. The base that a proposal declares
// may be any older one, where the memory had another value.
func (c *comparison) fork() {
	c.found = make(map[int32]*Memory, len(c.touched))
	for _, s := range c.work {
		for n := range s.Ops {
			for _, i := range c.p.touches(s, n) {
				if _, noted := c.found[i]; noted || !c.touched[i] {
					continue
				}
				c.found[i] = nil
				if len(s.parents) > 0 {
					c.found[i] = c.p.sets[s.parents[0]].view.mem.get(i)
				}
			}
		}
	}
}

// before is what the right's memory is compared with: what the left says, where
// the proposal builds on that, else what the proposal found.
func (c *comparison) before(i int32, left *Memory) *Memory {
	if left != nil && c.head.view.has(left.revised.set) {
		return left
	}
	return c.found[i]
}
