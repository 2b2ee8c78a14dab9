package memory

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// conflictsOf lands left on main, proposes right from the same root, and returns
// what the detectors say of it.
func conflictsOf(t *testing.T, before, left, right []Op) (*world, []Conflict) {
	t.Helper()
	w := newWorld(t)
	w.root()
	land := func(id, ref string, ops []Op) {
		v := w.show(ada, w.propose(id, w.commit(id, ref, ops...)))
		w.settle(v)
		w.land(v.Proposal.ID)
	}
	if before != nil {
		land(one, session("one", "before"), before)
	}
	head := w.commit(two, session("two", "right"), right...)
	if left != nil {
		land(one, session("one", "left"), left)
	}
	proposal := w.propose(two, head)
	list, err := w.fold().Detect("demo", proposal)
	if err != nil {
		t.Fatal(err)
	}
	return w, list
}

// settle resolves all that blocks.
func (w *world) settle(v *Presentation) {
	w.t.Helper()
	for _, c := range v.Conflicts {
		if c.Severity == Blocks {
			records, err := w.fold().Settle(w.clerk(ben), ConflictRequest{"demo", v.Proposal.ID, c.ID, ConflictResolved, "meant so"})
			if err != nil {
				w.t.Fatal(err)
			}
			w.publish(records)
		}
	}
}

func summary(list []Conflict) string {
	var s []string
	for _, c := range list {
		if c.Type != StaleBase {
			s = append(s, strings.TrimSpace(fmt.Sprintf("%s/%s %s", c.Type, c.Severity, c.Label)))
		}
	}
	slices.Sort(s)
	return strings.Join(slices.Compact(s), ", ")
}

func add(payload string) Op { return op(AddMemory, "", "", payload) }

func named(id, payload string) Op { return op(AddMemory, "", id, payload) }

func ops(list ...Op) []Op { return list }

func TestDetectors(t *testing.T) {
	const contradiction = " direct_contradiction"
	tests := map[string]struct {
		before, left, right []Op
		want                string
	}{
		"facts of one key with different content": {nil, ops(fact("port", "1")), ops(fact("port", "2")), "incompatible_fact/blocks" + contradiction},
		"facts of one subject":                    {nil, ops(add(`{"kind":"fact","subject":"s","content":"1"}`)), ops(add(`{"kind":"fact","subject":"s","content":"2"}`)), "incompatible_fact/blocks" + contradiction},
		"a key and a subject of one name":         {nil, ops(fact("s", "1")), ops(add(`{"kind":"fact","subject":"s","content":"2"}`)), "incompatible_fact/blocks" + contradiction},
		"facts of different keys":                 {nil, ops(fact("a", "1")), ops(fact("b", "2")), ""},
		"facts of different scopes":               {nil, ops(fact("a", "1")), ops(add(`{"kind":"fact","fact_key":"a","scope":"x","content":"2"}`)), ""},
		"a scope that is the project by name":     {nil, ops(fact("a", "1")), ops(add(`{"kind":"fact","fact_key":"a","scope":"demo","content":"2"}`)), "incompatible_fact/blocks" + contradiction},
		"observations of one key":                 {nil, ops(add(`{"fact_key":"a","content":"1"}`)), ops(add(`{"fact_key":"a","content":"2"}`)), ""},
		"the same fact twice":                     {nil, ops(fact("a", "the same")), ops(fact("a", "the same")), "duplicate_content/informs"},
		"the same but for spaces and forms":       {nil, ops(fact("a", "caf\u00e9 \u2460")), ops(fact("a", " cafe\u0301\t 1\u200b")), "duplicate_content/informs"},
		"times that do not meet": {nil, ops(add(`{"kind":"fact","fact_key":"a","content":"1","valid_to":"2026-01-01T00:00:00Z"}`)),
			ops(add(`{"kind":"fact","fact_key":"a","content":"2","valid_from":"2026-01-01T00:00:01Z"}`)), ""},
		"times that meet in one instant of two zones": {nil, ops(add(`{"kind":"fact","fact_key":"a","content":"1","valid_to":"2026-01-01T02:00:00+02:00"}`)),
			ops(add(`{"kind":"fact","fact_key":"a","content":"2","valid_from":"2026-01-01T00:00:00.000Z"}`)), "incompatible_fact/blocks" + contradiction},
		"a time far away among many": {nil, ops(add(`{"kind":"fact","fact_key":"a","content":"1","valid_from":"1900-01-01T00:00:00Z","valid_to":"1901-01-01T00:00:00Z"}`),
			add(`{"kind":"fact","fact_key":"a","content":"2","valid_from":"1902-01-01T00:00:00Z","valid_to":"9000-01-01T00:00:00Z"}`),
			add(`{"kind":"fact","fact_key":"a","content":"3","valid_from":"9001-01-01T00:00:00Z"}`)),
			ops(add(`{"kind":"fact","fact_key":"a","content":"4","valid_from":"1901-06-01T00:00:00Z","valid_to":"1901-07-01T00:00:00Z"}`)), ""},
		"decisions of one subject":                     {nil, ops(decision("cache", "yes")), ops(decision("cache", "no")), "contradictory_decision/blocks" + contradiction},
		"decisions without a key":                      {nil, ops(add(`{"kind":"decision","content":"yes"}`)), ops(add(`{"kind":"decision","content":"no"}`)), "contradictory_decision/blocks" + contradiction},
		"one decision with a key and one without":      {nil, ops(decision("cache", "yes")), ops(add(`{"kind":"decision","content":"no"}`)), ""},
		"a fact and a decision":                        {nil, ops(fact("a", "yes")), ops(decision("a", "no")), ""},
		"a decision that is protected":                 {nil, ops(add(`{"kind":"decision","subject":"c","content":"yes","protected":true}`)), ops(decision("c", "no")), "protected_decision/blocks" + contradiction},
		"a protected decision among others":            {nil, ops(add(`{"kind":"decision","subject":"c","content":"a"}`), add(`{"kind":"decision","subject":"c","content":"b","protected":true}`)), ops(decision("c", "no")), "protected_decision/blocks" + contradiction},
		"a protected decision that is replaced":        {ops(named("d", `{"kind":"decision","subject":"c","content":"yes","protected":true}`)), nil, ops(op(SupersedeMemory, "d", "", `{"kind":"decision","subject":"c","content":"no"}`)), "protected_decision/blocks temporal_update"},
		"a fact that is replaced":                      {ops(named("f", `{"kind":"fact","fact_key":"a","content":"1"}`)), nil, ops(op(SupersedeMemory, "f", "", `{"kind":"fact","fact_key":"a","content":"2"}`)), ""},
		"a fact that is replaced in two steps":         {ops(named("f", `{"kind":"fact","fact_key":"a","content":"1"}`)), nil, ops(op(CorrectMemory, "f", "g", `{"content":"2"}`), op(CorrectMemory, "g", "h", `{"content":"3"}`)), ""},
		"a value that a later op replaced":             {nil, ops(fact("a", "1")), ops(named("x", `{"kind":"fact","fact_key":"a","content":"2"}`), op(CorrectMemory, "x", "", `{"content":"1"}`)), "duplicate_content/informs"},
		"a value that a later op took back":            {nil, ops(fact("a", "1")), ops(named("x", `{"kind":"fact","fact_key":"a","content":"2"}`), op(SupersedeMemory, "x", "", `{}`)), ""},
		"one memory changed by both":                   {ops(named("f", `{"content":"1"}`)), ops(op(CorrectMemory, "f", "", `{"content":"2"}`)), ops(op(CorrectMemory, "f", "", `{"content":"3"}`)), "incompatible_fact/blocks temporal_update"},
		"one memory changed by both to the same":       {ops(named("f", `{"content":"1"}`)), ops(op(CorrectMemory, "f", "", `{"content":"2"}`)), ops(op(CorrectMemory, "f", "", `{"content":"2"}`)), ""},
		"tags changed by both":                         {ops(named("f", `{"content":"1"}`)), ops(op(CorrectMemory, "f", "", `{"tags":["a"]}`)), ops(op(CorrectMemory, "f", "", `{"tags":["b"]}`)), "incompatible_fact/blocks temporal_update"},
		"one decision replaced by both":                {ops(named("d", `{"kind":"decision","content":"1"}`)), ops(op(SupersedeMemory, "d", "e", `{"kind":"decision","subject":"x","content":"2"}`)), ops(op(SupersedeMemory, "d", "g", `{"kind":"decision","subject":"y","content":"3"}`)), "contradictory_decision/blocks temporal_update"},
		"one id for two memories":                      {nil, ops(named("m", `{"content":"1"}`)), ops(named("m", `{"content":"2"}`)), "incompatible_fact/blocks" + contradiction},
		"a contradiction within the branch":            {nil, nil, ops(fact("a", "1"), fact("a", "2")), "incompatible_fact/blocks" + contradiction},
		"private memory":                               {nil, nil, ops(add(`{"content":"1","visibility":"private"}`)), "scope_flow/acknowledge"},
		"private memory that was retired again":        {nil, nil, ops(named("p", `{"content":"1","visibility":"private"}`), op(SupersedeMemory, "p", "", `{}`)), "scope_flow/acknowledge"},
		"private memory that became public":            {nil, nil, ops(named("p", `{"content":"1","visibility":"private"}`), op(CorrectMemory, "p", "q", `{"visibility":"public"}`)), "scope_flow/acknowledge"},
		"private memory that was made public in place": {nil, nil, ops(named("p", `{"content":"1","visibility":"private"}`), op(CorrectMemory, "p", "", `{"visibility":"public"}`)), "scope_flow/acknowledge"},
		"a copy of private memory":                     {ops(named("p", `{"content":"the secret","visibility":"private"}`)), nil, ops(add(`{"content":"the  secret","visibility":"shared"}`)), "duplicate_content/informs, scope_flow/acknowledge"},
		"memory made broader":                          {ops(named("m", `{"content":"1","visibility":"internal"}`)), nil, ops(op(CorrectMemory, "m", "", `{"visibility":"public"}`)), "scope_flow/acknowledge"},
		"memory made narrower":                         {ops(named("m", `{"content":"1","visibility":"public"}`)), nil, ops(op(CorrectMemory, "m", "", `{"visibility":"internal"}`)), ""},
		"a declared flow":                              {nil, nil, ops(add(`{"content":"1","from_visibility":"private","to_visibility":"shared"}`)), "scope_flow/acknowledge"},
		"what a user approved, by an agent":            {ops(named("u", `{"content":"1","approval":"user_approved"}`)), nil, ops(op(SupersedeMemory, "u", "", `{"content":"2"}`)), "trust_downgrade/blocks temporal_update"},
		"what a user approved, by claims":              {ops(named("u", `{"content":"1","approval":"user_approved"}`)), nil, ops(op(CorrectMemory, "u", "", `{"content":"2","source_trust":"user","target_trust":"inference"}`)), "trust_downgrade/blocks temporal_update"},
		"what a user approved, as a duplicate":         {ops(named("u", `{"content":"1","approval":"user_approved"}`), named("v", `{"content":"2"}`)), nil, ops(op(MarkDuplicate, "", "", `{"duplicate_id":"u","duplicate_of":"v"}`)), "trust_downgrade/blocks temporal_update"},
		"another project":                              {nil, nil, ops(add(`{"content":"1","project_id":"other"}`)), "boundary_violation/blocks"},
		"another topic":                                {nil, nil, ops(add(`{"content":"1","topic_id":"t"}`)), "boundary_violation/acknowledge"},
		"another actor":                                {nil, nil, ops(add(`{"content":"1","actor_id":"one"}`)), "boundary_violation/acknowledge"},
		"one's own actor":                              {nil, nil, ops(add(`{"content":"1","actor_id":"two"}`)), ""},
		"an actor's memory":                            {ops(named("m", `{"content":"1","actor_id":"one"}`)), nil, ops(op(CorrectMemory, "m", "", `{"content":"2"}`)), "boundary_violation/acknowledge"},
		"another namespace":                            {ops(named("m", `{"content":"1"}`)), nil, ops(op(CorrectMemory, "m", "", `{"scope":"x"}`)), "boundary_violation/acknowledge"},
		"nothing":                                      {nil, ops(fact("a", "1")), ops(fact("b", "2")), ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w, list := conflictsOf(t, test.before, test.left, test.right)
			if got := summary(list); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			stale := slices.ContainsFunc(list, func(c Conflict) bool { return c.Type == StaleBase })
			if stale != (test.left != nil) {
				t.Errorf("stale: %v", stale)
			}
			w.clean()
		})
	}
}

func TestConflictsAreFoundAgainAsTheSame(t *testing.T) {
	w, list := conflictsOf(t, nil, ops(fact("a", "1")), ops(fact("a", "2")))
	s := w.clean()
	kept := s.Conflicts("demo")
	if len(kept) != len(list) {
		t.Fatalf("kept %d of %d", len(kept), len(list))
	}
	for i := range list {
		if !slices.ContainsFunc(kept, func(c Conflict) bool { return c.ID == list[i].ID && c.Status == ConflictOpen }) {
			t.Errorf("%s %s is not kept", list[i].Type, list[i].ID)
		}
	}
	before := len(w.lines)
	w.show(ada, kept[0].Proposal)
	grown := len(w.lines) - before
	w.show(ada, kept[0].Proposal)
	if len(w.lines)-before != grown {
		t.Error("showing again writes again")
	}
}

func TestResolvingAConflictSettlesEveryEqualOne(t *testing.T) {
	w, _ := conflictsOf(t, nil, ops(fact("a", "1")), ops(fact("a", "2")))
	first := w.fold().Proposals("demo")[1]
	second := w.propose(two, first.Head) // the same work again
	v := w.show(ada, second)
	w.settle(v)
	blocking := func(id string) (n int) {
		p, _ := w.fold().Proposal("demo", id)
		for _, c := range p.Conflicts {
			if c.Severity == Blocks && c.Status == ConflictOpen {
				n++
			}
		}
		return n
	}
	if blocking(second) != 0 || blocking(first.ID) != 0 {
		t.Error("an equal conflict is still open")
	}
	for _, c := range v.Conflicts {
		if c.Severity == Blocks {
			_, err := w.fold().Settle(w.clerk(ben), ConflictRequest{"demo", second, c.ID, ConflictDeferred, "later"})
			wantReason(t, err, ReasonState)
		}
	}
	w.clean()
}

func TestConflictsNotFoundAtANewHeadAreSuperseded(t *testing.T) {
	w, _ := conflictsOf(t, nil, ops(named("x", `{"kind":"fact","fact_key":"a","content":"1"}`)), ops(fact("a", "2")))
	proposal := w.fold().Proposals("demo")[1].ID
	v := w.show(ada, w.propose(one, w.commit(one, session("one", "fix"), op(SupersedeMemory, "x", "", `{}`))))
	w.settle(v)
	w.land(v.Proposal.ID)
	// Approving what was found at the old head is not possible.
	stale, _ := w.fold().Present("demo", proposal)
	_, _, err := w.fold().Approve(w.clerk(ada), acknowledge(w.approval(ada, stale), stale))
	wantReason(t, err, ReasonStale)
	for _, c := range w.show(ada, proposal).Conflicts {
		if c.Severity == Blocks {
			t.Errorf("%s is still there", c.Type)
		}
	}
	p, _ := w.fold().Proposal("demo", proposal)
	if !slices.ContainsFunc(p.Conflicts, func(c Conflict) bool { return c.Type == IncompatibleFact && c.Status == ConflictSuperseded }) {
		t.Error("the old conflict is not superseded")
	}
	w.land(proposal)
	w.clean()
}

func TestTheAuthorSettlesNoConflictOfTheirs(t *testing.T) {
	w := newWorld(t)
	w.root()
	v := w.show(ben, w.propose(ada, w.commit(ada, session("ada", "a"), fact("a", "1"), fact("a", "2"))))
	_, err := w.fold().Settle(w.clerk(ada), ConflictRequest{"demo", v.Proposal.ID, v.Conflicts[0].ID, ConflictResolved, "fine"})
	wantReason(t, err, ReasonReviewer)
	_, err = w.fold().Settle(w.clerk(one), ConflictRequest{"demo", v.Proposal.ID, v.Conflicts[0].ID, ConflictResolved, "fine"})
	wantReason(t, err, ReasonScope)
}

func TestTooManyConflictsBecomeOneThatBlocks(t *testing.T) {
	p, q := branches(t, MaxConflicts+100, false)
	list := p.detect(q)
	if last := list[len(list)-1]; len(list) != MaxConflicts+1 || last.Type != TooManyConflicts || last.Severity != Blocks {
		t.Errorf("%d conflicts, the last %s", len(list), last.Type)
	}
}

func TestDetectionOfManyOnOneKeyLooksAtNoPairs(t *testing.T) {
	p, q := branches(t, 3000, true)
	if list := p.detect(q); len(list) != MaxConflicts+1 {
		t.Errorf("%d conflicts", len(list))
	}
}

// TestTheIndexFindsWhatAllPairsFind compares the index with looking at all pairs.
func TestTheIndexFindsWhatAllPairsFind(t *testing.T) {
	w := newWorld(t)
	at := func() instant { return instant{seconds: int64(w.random.Uint64() % 20)} }
	for range 2000 {
		x := newKeyIndex("demo")
		k := claimKey{scope: "demo", key: "k"}
		c := x.claims(k)
		for i := range w.random.Uint64() % 8 {
			from, to := at(), at()
			c.list = append(c.list, claim{&Memory{ID: fmt.Sprint(i)}, fmt.Sprint(w.random.Uint64() % 3), from, to})
		}
		q := claim{&Memory{ID: "q"}, fmt.Sprint(w.random.Uint64() % 3), at(), at()}
		if q.from.compare(q.to) > 0 {
			continue
		}
		want := false
		for _, e := range c.list {
			want = want || e.value != q.value && e.from.compare(q.to) <= 0 && e.to.compare(q.from) >= 0 && e.from.compare(e.to) <= 0
		}
		list := slices.DeleteFunc(c.list, func(e claim) bool { return e.from.compare(e.to) > 0 })
		c.list = list
		if got := x.against(k, q) != nil; got != want {
			t.Fatalf("%v, want %v: %+v against %+v", got, want, q, c.list)
		}
	}
}
