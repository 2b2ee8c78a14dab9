package memory

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"
)

func sortMemories(list []*Memory) {
	slices.SortFunc(list, func(a, b *Memory) int { return strings.Compare(a.ID, b.ID) })
}

// instant is a time that can be compared over all years of RFC 3339.
type instant struct {
	seconds int64
	nanos   int
}

func (a instant) compare(b instant) int {
	return cmp.Or(cmp.Compare(a.seconds, b.seconds), cmp.Compare(a.nanos, b.nanos))
}

func parseInstant(text string, absent int64) instant {
	if text == "" {
		return instant{seconds: absent}
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return instant{seconds: absent}
	}
	return instant{t.Unix(), t.Nanosecond()}
}

const unbounded = 1 << 62

// claim is what a memory says of a key, and when that is so; both ends belong.
type claim struct {
	m        *Memory
	value    string
	from, to instant
}

// claimKey is what facts, and decisions, are compared by: scope and key.
type claimKey struct {
	decision, protected bool
	scope, key          string
}

// keyIndex finds, for a claim, one that contradicts it, without looking at all
// pairs: claims of a key in the order in which they start, and for each beginning
// of that order the two claims of different values that last longest.
type keyIndex struct {
	project string
	keys    map[claimKey]*claims
	content map[string]*Memory // by normalized content, the one with the first id
}

type claims struct {
	list    []claim
	longest [][2]int // after list was sorted; -1 is none
}

func newKeyIndex(project string) *keyIndex {
	return &keyIndex{project, map[claimKey]*claims{}, map[string]*Memory{}}
}

// claimOf returns the key and claim of a fact with a key or of a decision.
func claimOf(m *Memory) (claimKey, claim, bool) {
	k := claimKey{decision: m.Kind == KindDecision, scope: normalize(m.Scope)}
	switch {
	case m.Kind == KindFact:
		k.key = normalize(cmp.Or(m.FactKey, m.Subject))
	case k.decision:
		k.key = normalize(cmp.Or(m.Subject, m.FactKey))
	}
	if !k.decision && k.key == "" {
		return k, claim{}, false
	}
	return k, claim{m, normalize(m.Content), parseInstant(m.ValidFrom, -unbounded), parseInstant(m.ValidTo, unbounded)}, true
}

func (x *keyIndex) add(m *Memory) {
	text := normalize(m.Content)
	if first := x.content[text]; first == nil || m.ID < first.ID {
		x.content[text] = m
	}
	k, c, ok := claimOf(m)
	if !ok {
		return
	}
	x.claims(k).list = append(x.claims(k).list, c)
	if k.decision && m.Protected {
		k.protected = true
		x.claims(k).list = append(x.claims(k).list, c)
	}
}

func (x *keyIndex) claims(k claimKey) *claims {
	c := x.keys[k]
	if c == nil {
		c = &claims{}
		x.keys[k] = c
	}
	return c
}

func (c *claims) prepare() {
	slices.SortFunc(c.list, func(a, b claim) int { return cmp.Or(a.from.compare(b.from), strings.Compare(a.m.ID, b.m.ID)) })
	c.longest = make([][2]int, len(c.list))
	best := [2]int{-1, -1}
	for i, e := range c.list {
		switch {
		case best[0] < 0:
			best[0] = i
		case e.to.compare(c.list[best[0]].to) > 0:
			if e.value != c.list[best[0]].value {
				best[1] = best[0]
			}
			best[0] = i
		case e.value != c.list[best[0]].value && (best[1] < 0 || e.to.compare(c.list[best[1]].to) > 0):
			best[1] = i
		}
		c.longest[i] = best
	}
}

// against returns a claim of the same key with another value at the same time.
func (x *keyIndex) against(k claimKey, q claim) *Memory {
	c := x.keys[k]
	if c == nil {
		return nil
	}
	if c.longest == nil {
		c.prepare()
	}
	n := sort.Search(len(c.list), func(i int) bool { return c.list[i].from.compare(q.to) > 0 })
	if n == 0 {
		return nil
	}
	for _, i := range c.longest[n-1] {
		if i >= 0 && c.list[i].value != q.value {
			if c.list[i].to.compare(q.from) >= 0 {
				return c.list[i].m
			}
			return nil // the others of other values end earlier still
		}
	}
	return nil
}

// contradictions compares changed memories with an index.
func (c *comparison) contradictions(changed []*Memory, x *keyIndex) {
	for _, m := range changed {
		if twin := x.content[normalize(m.Content)]; twin != nil && twin.ID != m.ID {
			c.note(DuplicateContent, Tells, pair(twin.ID, m.ID), "", []string{twin.ID}, []string{m.ID})
		}
		k, q, ok := claimOf(m)
		if !ok || q.from.compare(q.to) > 0 {
			continue
		}
		typ := IncompatibleFact
		var other *Memory
		if k.decision {
			typ, k.protected = ProtectedDecision, true
			if other = x.against(k, q); other == nil {
				typ, k.protected = ContradictoryDecision, false
			}
		}
		if other == nil {
			other = x.against(k, q)
		}
		if other == nil {
			continue
		}
		label := DirectContradiction
		if other.Lineage == m.Lineage {
			label = TemporalUpdate
		}
		c.note(typ, Blocks, pair(other.ID, m.ID), label, []string{other.ID}, []string{m.ID})
	}
}

// pair names two memories, in one order. Ids may hold any character, so the
// length of the first says where it ends.
func pair(a, b string) string {
	if b < a {
		a, b = b, a
	}
	return fmt.Sprintf("pair:%d:%s %s", len(a), a, b)
}
