package memory

import (
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/ledger"
)

// reasons persists drafts and returns the verdicts' reasons, "" for accepted.
func (w *world) reasons(id string, drafts ...RecordDraft) string {
	w.t.Helper()
	var list []string
	for _, v := range w.persist(id, w.stage(drafts...)...).Verdicts {
		if !v.Accepted && v.Detail == "" {
			w.t.Errorf("%s has no detail", v.Reason)
		}
		list = append(list, string(v.Reason))
	}
	return strings.Join(list, ",")
}

func (w *world) move(author Author, ref string, from, to Name) RecordDraft {
	m := &Movement{Project: "demo", Ref: ref, Author: author, Expected: from, Head: to, Create: from == Name{}, Key: nextKey(), CreatedAt: ledger.FormatTime(w.now)}
	return RecordDraft{TypeRef, m.Seal()}
}

func (w *world) changeset(author Author, ref string, parents []Name, list ...Op) (RecordDraft, Name) {
	c := &Changeset{ID: w.uuid7(), Project: "demo", Ref: ref, Parents: parents, Author: author, Message: "m", CreatedAt: ledger.FormatTime(w.now), Key: nextKey(), Ops: list}
	payload := c.Seal()
	return RecordDraft{TypeChangeset, payload}, c.Name()
}

var (
	authorOne = Author{one, "", "one"}
	authorTwo = Author{two, "", "two"}
)

func TestRefNames(t *testing.T) {
	for name, want := range map[string]bool{
		"refs/shared/main": true, "refs/shared/a.b-c_d": true, "refs/agents/one/main": true, "refs/sessions/one/s": true, "refs/topics/t": true, "refs/repos/r/b": true,
		"refs/agents/one/other": false, "refs/shared/a/b": false, "refs/topics/a/b": false, "refs/sessions/one": false, "refs/heads/main": false, "shared/main": false,
		"refs/shared/": false, "refs/shared/.x": false, "refs/shared/a b": false, "refs/shared/ä": false, "refs/shared/main\n": false, "refs//main": false,
		"refs/shared/" + long(64): true, "refs/shared/" + long(65): false, "refs/sessions/one/two/three": false, "refs/shared/..": false, "": false,
	} {
		if _, ok := ParseRef(name); ok != want {
			t.Errorf("%q: %v", name, ok)
		}
	}
}

func TestMovementsAreRefused(t *testing.T) {
	w := newWorld(t)
	root := w.root()
	mine := w.commit(one, session("one", "a"), fact("a", "b"))
	theirs := w.commit(two, session("two", "b"), fact("c", "d"))
	topic := w.move(authorOne, "refs/topics/new", Name{}, root)
	if got := w.reasons(one, topic); got != "" {
		t.Fatalf("a topic: %s", got)
	}
	tests := map[string]struct {
		by    string
		draft RecordDraft
		want  Reason
	}{
		"a protected ref":               {one, w.move(authorOne, SharedMain, root, mine), ReasonProtected},
		"a new protected ref":           {one, w.move(authorOne, "refs/shared/other", Name{}, mine), ReasonProtected},
		"somebody's session":            {one, w.move(authorOne, session("two", "b"), theirs, mine), ReasonOwner},
		"somebody's new session":        {one, w.move(authorOne, session("two", "new"), Name{}, mine), ReasonOwner},
		"somebody's agent ref":          {one, w.move(authorOne, "refs/agents/two/main", Name{}, mine), ReasonOwner},
		"a repository ref":              {one, w.move(authorOne, "refs/repos/r/main", Name{}, mine), ReasonOwner},
		"a repository ref by operators": {ben, w.move(Author{ben, "", "ben"}, "refs/repos/r/main", Name{}, root), ""},
		"somebody's topic":              {two, w.move(authorTwo, "refs/topics/new", root, theirs), ReasonOwner},
		"a topic of the policy's":       {one, w.move(authorOne, "refs/topics/kept", Name{}, root), ReasonOwner},
		"one's topic of the policy's":   {two, w.move(authorTwo, "refs/topics/owned", Name{}, root), ""},
		"a forged author":               {one, w.move(authorTwo, session("two", "b"), theirs, mine), ReasonAuthor},
		"a forged actor":                {one, w.move(Author{one, "", "two"}, session("two", "b"), theirs, mine), ReasonAuthor},
		"a branch of somebody else":     {one, w.move(authorOne, session("one", "steal"), Name{}, theirs), ReasonUnreadable},
		"a head that there is not":      {one, w.move(authorOne, session("one", "x"), Name{}, Name{w.uuid7(), ledger.Hash{1}}), ReasonUnknown},
		"a head of another digest":      {one, w.move(authorOne, session("one", "x"), Name{}, Name{mine.ID, root.Digest}), ReasonUnknown},
		"a lost swap":                   {one, w.move(authorOne, session("one", "a"), root, mine), ReasonStaleHead},
		"a ref that is there":           {one, w.move(authorOne, session("one", "a"), Name{}, mine), ReasonStaleHead},
		"a ref that is not":             {one, w.move(authorOne, session("one", "no"), root, mine), ReasonUnknown},
		"back":                          {one, w.move(authorOne, session("one", "a"), mine, root), ReasonAncestry},
		"to where it is":                {one, w.move(authorOne, session("one", "a"), mine, mine), ReasonAncestry},
		"without a scope":               {".github/workflows/reader.yml", w.move(Author{".github/workflows/reader.yml", "", "reader"}, session("reader", "a"), Name{}, root), ReasonScope},
	}
	for name, test := range tests {
		j := w.persist(test.by, w.stage(test.draft)...)
		v := j.Verdicts[0]
		if v.Reason != test.want {
			t.Errorf("%s: %v, want %s", name, v.Refusal(), test.want)
		}
		if test.want == ReasonStaleHead && v.Head != mine.String() {
			t.Errorf("%s: the head is %q", name, v.Head)
		}
		if r, ok := w.ledger().Get(v.SHA); !ok || r.Type() != TypeRef {
			t.Errorf("%s: it is not on the branch", name)
		}
	}
	w.clean()
}

func TestChangesetsAreRefused(t *testing.T) {
	w := newWorld(t)
	root := w.root()
	theirs := w.commit(two, session("two", "b"), fact("c", "d"))
	draft := func(author Author, ref string, parents ...Name) RecordDraft {
		d, _ := w.changeset(author, ref, parents, fact("x", "y"))
		return d
	}
	broken := draft(authorOne, session("one", "a"), root)
	broken.Payload = []byte(strings.Replace(string(broken.Payload), `"message":"m"`, `"message":"n"`, 1))
	extra := draft(authorOne, session("one", "a"), root)
	extra.Payload = []byte(strings.Replace(string(extra.Payload), `"message":"m"`, `"message":"m","more":1`, 1))
	for name, test := range map[string]struct {
		by    string
		draft RecordDraft
		want  Reason
	}{
		"an altered one":             {one, broken, ReasonDigest},
		"an unknown member":          {one, extra, ReasonShape},
		"for a protected ref":        {one, draft(authorOne, SharedMain, root), ReasonProtected},
		"for somebody's session":     {one, draft(authorOne, session("two", "b"), root), ReasonOwner},
		"by a forged author":         {one, draft(authorTwo, session("two", "b"), root), ReasonAuthor},
		"on somebody's branch":       {one, draft(authorOne, session("one", "a"), theirs), ReasonUnreadable},
		"on what was never accepted": {one, draft(authorOne, session("one", "a"), Name{w.uuid7(), ledger.Hash{3}}), ReasonUnknown},
		"a forged root":              {one, RecordDraft{TypeChangeset, (&Changeset{ID: RootID, Project: "demo", Ref: SharedMain, Author: authorOne, Message: "m", CreatedAt: ledger.FormatTime(w.now), Key: "k"}).Seal()}, ReasonTrustedOnly},
		"without a scope":            {".github/workflows/reader.yml", draft(Author{".github/workflows/reader.yml", "", "reader"}, session("reader", "a"), root), ReasonScope},
	} {
		if got := w.reasons(test.by, test.draft); got != string(test.want) {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
	// An id is taken once it was accepted, with whatever content.
	first, name := w.changeset(authorOne, session("one", "a"), []Name{root}, fact("a", "1"))
	twin := &Changeset{ID: name.ID, Project: "demo", Ref: session("one", "a"), Parents: []Name{root}, Author: authorOne, Message: "twin", CreatedAt: ledger.FormatTime(w.now), Key: nextKey()}
	if got := w.reasons(one, first, RecordDraft{TypeChangeset, twin.Seal()}); got != ","+string(ReasonIdentity) {
		t.Errorf("a twin: %s", got)
	}
	w.clean()
}

func TestAChangesetStaysWhereItsMovementLost(t *testing.T) {
	w := newWorld(t)
	root := w.root()
	head := w.commit(one, session("one", "a"), fact("a", "1"))
	d, name := w.changeset(authorOne, session("one", "a"), []Name{root}, fact("b", "2"))
	if got := w.reasons(one, d, w.move(authorOne, session("one", "a"), root, name)); got != ","+string(ReasonStaleHead) {
		t.Errorf("verdicts %q", got)
	}
	s := w.clean()
	if c, ok := s.Changeset("demo", name); !ok || c.Landed {
		t.Error("the changeset is gone")
	}
	if w.ref(session("one", "a")) != head {
		t.Error("the ref moved")
	}
	// It can be merged in later.
	merge, joined := w.changeset(authorOne, session("one", "a"), []Name{head, name})
	if got := w.reasons(one, merge, w.move(authorOne, session("one", "a"), head, joined)); got != "," {
		t.Errorf("the merge: %q", got)
	}
	if memory := ids(w.clean().MemoryAt("demo", joined)); memory != "1 | 2" && memory != "2 | 1" {
		t.Errorf("memory %s", memory)
	}
}

func TestAnIdempotencyKeyIsOneRequests(t *testing.T) {
	w := newWorld(t)
	root := w.root()
	base := Commit{Project: "demo", Ref: session("one", "a"), Create: true, Parents: []Name{root}, Message: "m", Key: "the-key", Ops: ops(fact("a", "1"))}
	q, err := w.fold().Commit(w.agent(one), base)
	first := w.must(one, q, err)
	// At the agent: the same again is the first one, anything else fails closed.
	again, err := w.fold().Commit(w.agent(one), base)
	if err != nil || again.Replay != first.Name.String() || len(again.Records) > 0 {
		t.Errorf("again: %+v, %v", again, err)
	}
	for name, change := range map[string]func(*Commit){
		"another op":            func(q *Commit) { q.Ops = ops(fact("a", "2")) },
		"another message":       func(q *Commit) { q.Message = "n" },
		"another ref":           func(q *Commit) { q.Ref = session("one", "b") },
		"another expected head": func(q *Commit) { q.Create, q.Expected = false, first.Name },
		"without create":        func(q *Commit) { q.Create, q.Expected = false, root },
		"evidence":              func(q *Commit) { q.Evidence = []string{"e"} },
	} {
		changed := base
		change(&changed)
		_, err := w.fold().Commit(w.agent(one), changed)
		if reasonOf(err) != ReasonKeyReused {
			t.Errorf("%s: %v", name, err)
		}
	}
	// In persist, from a server that did not know.
	replay, _ := ParseChangeset(q.Records[0].Payload)
	replay.ID, replay.CreatedAt = w.uuid7(), ledger.FormatTime(w.now)
	same := RecordDraft{TypeChangeset, replay.Seal()}
	replay.Create = false
	replay.Expected = root
	other := RecordDraft{TypeChangeset, replay.Seal()}
	m, _ := ParseMovement(q.Records[1].Payload)
	sameMove := RecordDraft{TypeRef, m.Seal()}
	m.Ref = session("one", "other")
	otherMove := RecordDraft{TypeRef, m.Seal()}
	if got := w.reasons(one, same, other, sameMove, otherMove); got != "replay,key-reused,replay,key-reused" {
		t.Errorf("verdicts %s", got)
	}
	// Another principal's key is another key, and a key is one for all types.
	w.commit(two, session("two", "a"), fact("z", "z"))
	if _, err := w.fold().Branch(w.agent(one), "demo", session("one", "c"), root, Name{}, "the-key"); reasonOf(err) != ReasonKeyReused {
		t.Errorf("a branch under the key: %v", err)
	}
	if _, err := w.fold().Propose(w.agent(one), Proposal{Project: "demo", Head: first.Name, Message: "m", Key: "the-key"}); reasonOf(err) != ReasonKeyReused {
		t.Errorf("a proposal under the key: %v", err)
	}
	b, err := w.fold().Branch(w.agent(one), "demo", session("one", "c"), root, Name{}, "branch-key")
	w.must(one, b, err)
	if b, err = w.fold().Branch(w.agent(one), "demo", session("one", "c"), root, Name{}, "branch-key"); err != nil || b.Replay == "" {
		t.Errorf("the branch again: %+v, %v", b, err)
	}
	if b, err = w.fold().Branch(w.agent(one), "demo", session("one", "d"), root, Name{}, "branch-key"); reasonOf(err) != ReasonKeyReused {
		t.Errorf("another branch: %+v, %v", b, err)
	}
	p := Proposal{Project: "demo", Head: first.Name, Message: "m", Key: "proposal-key"}
	made, err := w.fold().Propose(w.agent(one), p)
	w.must(one, made, err)
	if again, err := w.fold().Propose(w.agent(one), p); err != nil || again.Replay != made.ID {
		t.Errorf("the proposal again: %+v, %v", again, err)
	}
	p.Message = "n"
	if _, err := w.fold().Propose(w.agent(one), p); reasonOf(err) != ReasonKeyReused {
		t.Errorf("another proposal: %v", err)
	}
	w.clean()
}

func TestProjectsAreApart(t *testing.T) {
	w := newWorld(t)
	w.root()
	head := w.commit(one, session("one", "a"), named("m", `{"content":"of demo"}`))
	c := &Changeset{ID: w.uuid7(), Project: "other", Ref: session("one", "a"), Parents: []Name{head}, Author: authorOne, Message: "m", CreatedAt: ledger.FormatTime(w.now), Key: "k",
		Ops: ops(op(CorrectMemory, "m", "", `{"content":"taken"}`))}
	if got := w.reasons(one, RecordDraft{TypeChangeset, c.Seal()}); got != string(ReasonUnknown) {
		t.Errorf("a parent of another project: %s", got)
	}
	s := w.clean()
	if len(s.Projects()) != 2 {
		t.Fatalf("projects %v", s.Projects())
	}
	root, _ := s.Ref("other", SharedMain)
	c.Parents = []Name{root.Head}
	if got := w.reasons(one, RecordDraft{TypeChangeset, c.Seal()}); got != string(ReasonOperation) {
		t.Errorf("a target of another project: %s", got)
	}
	c.Project, c.Author = "other", authorTwo
	if got := w.reasons(two, RecordDraft{TypeChangeset, c.Seal()}); got != string(ReasonProject) {
		t.Errorf("a project that is not the principal's: %s", got)
	}
	if list := s.Log("other", head, 10); len(list) > 0 {
		t.Error("a changeset is read in another project")
	}
}

func TestATrustedTypeIsNoAgents(t *testing.T) {
	w := newWorld(t)
	allow := Allow(w.policy, one)
	for _, typ := range []string{TypeAdmission, TypeMerge, TypeReview, TypeConflict, "memory.other", "thread.step", "memory."} {
		if allow(typ) {
			t.Errorf("%s is let through", typ)
		}
	}
	for _, typ := range stageable {
		if !allow(typ) || Allow(w.policy, "99")(typ) || Allow(nil, one)(typ) {
			t.Errorf("%s is judged wrongly", typ)
		}
	}
	w.root()
	w.now = w.now.Add(1)
	m := &Manifest{ID: w.uuid7(), Kind: OutputManifest, Project: "demo", Author: authorOne, CreatedAt: ledger.FormatTime(w.now), Base: w.ref(SharedMain)}
	if got := w.reasons(one, RecordDraft{TypeManifest, m.Seal()}, RecordDraft{TypeReview, []byte(`{"project_id":"demo"}`)}); got != "trusted-only,trusted-only" {
		t.Errorf("verdicts %s", got)
	}
	readOnly, err := ParsePolicy([]byte(strings.Replace(policyText, "principals:", "read-only: true\nprincipals:", 1)))
	if err != nil || Allow(readOnly, one)(TypeChangeset) {
		t.Errorf("read-only: %v", err)
	}
	_, err = w.fold().Judge(w.clerk(one), readOnly, nil)
	wantReason(t, err, ReasonReadOnly)
}
