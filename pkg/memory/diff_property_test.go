package memory

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestNothingReachesAContextThatNoDiffShowed makes branches of random ops and looks
// for each new text of what is active at their end in the diff of the branch.
func TestNothingReachesAContextThatNoDiffShowed(t *testing.T) {
	w := newWorld(t)
	r := rand.New(rand.NewPCG(11, 12))
	root := w.root()
	names, n := []string{"a", "b", "c", "d"}, 0
	text := func() string { n++; return fmt.Sprintf("text-%d-", n) }
	pick := func() string { return names[r.IntN(len(names))] }
	payload := func(content bool) string {
		fields := []string{fmt.Sprintf(`"tags":[%q]`, text())}
		if content || r.IntN(2) == 0 {
			fields = append(fields, fmt.Sprintf(`"content":%q`, text()))
		}
		for _, name := range []string{"subject", "fact_key", "scope", "event_type", "topic_id", "actor_id"} {
			if r.IntN(4) == 0 {
				fields = append(fields, fmt.Sprintf("%q:%q", name, text()))
			}
		}
		if r.IntN(2) == 0 {
			fields = append(fields, fmt.Sprintf(`"kind":%q`, kinds[r.IntN(len(kinds))]))
		}
		return "{" + strings.Join(fields, ",") + "}"
	}
	s, head, compared := w.fold(), root, 0
	p := s.projects["demo"]
	by := w.principal(one)
	heads := []Name{root}
	for range 600 {
		c := &Changeset{ID: w.uuid7(), Project: "demo", Ref: session("one", "a"), Parents: []Name{head}, Author: by.author(), Message: "m", CreatedAt: "2026-11-30T08:00:00.000Z", Key: nextKey()}
		for range 1 + r.IntN(3) {
			switch r.IntN(6) {
			case 0, 1:
				c.Ops = append(c.Ops, named(pick(), payload(true)))
			case 2:
				c.Ops = append(c.Ops, op(CorrectMemory, pick(), "", payload(false)))
			case 3:
				c.Ops = append(c.Ops, op(CorrectMemory, pick(), pick(), payload(false)))
			case 4:
				c.Ops = append(c.Ops, op(SupersedeMemory, pick(), pick(), payload(true)))
			case 5:
				c.Ops = append(c.Ops, op(SupersedeMemory, pick(), "", `{}`))
			}
		}
		c, fault := ParseChangeset(c.Seal())
		if fault != nil {
			t.Fatal(fault)
		}
		made, fault := p.build(by, c, &link{})
		if fault != nil {
			continue // an op that does not apply
		}
		p.add(made)
		head, heads = made.Name(), append(heads, made.Name())
		base, _ := p.known(heads[max(0, len(heads)-1-r.IntN(5))])
		shown := p.diff(base, made).Markdown()
		made.view.mem.each(func(_ int32, m *Memory) {
			if m == nil || !m.Active {
				return
			}
			was := &Memory{}
			if old := base.view.find(p, m.ID); old != nil && old.Active {
				was = old
			}
			for name, texts := range map[string][2]string{"content": {was.Content, m.Content}, "tags": {strings.Join(was.Tags, ""), strings.Join(m.Tags, "")},
				"subject": {was.Subject, m.Subject}, "fact_key": {was.FactKey, m.FactKey}, "scope": {was.Scope, m.Scope}, "event_type": {was.EventType, m.EventType},
				"topic_id": {was.Topic, m.Topic}, "actor_id": {was.Actor, m.Actor}} {
				if texts[0] == texts[1] || texts[1] == "demo" || texts[1] == "" {
					continue
				}
				if compared++; !strings.Contains(shown, texts[1]) {
					t.Fatalf("%s %q of %s is not shown; %+v\n%s", name, texts[1], m.ID, c.Ops, shown)
				}
			}
		})
	}
	if compared < 400 {
		t.Errorf("only %d texts were compared", compared)
	}
}
