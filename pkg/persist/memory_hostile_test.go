package persist

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/memory"
)

// afterwards is the state of a branch with a change on it, which has to be the one
// that the report names.
func afterwards(t testing.TB, s ledger.Snapshot, c ledger.Change, r Report) *memory.State {
	t.Helper()
	state := foldOf(t, apply(s, c))
	if r.Memory != nil && r.Memory.State != state.Digest() {
		t.Error("the report names another state than the branch has")
	}
	return state
}

// fields are those of payloads that other parts take over.
func (a *agent) movement(ref string, expected, head memory.Name, author memory.Author, key string) []byte {
	m := memory.Movement{Project: "demo", Ref: ref, Author: author, Expected: expected, Head: head, Create: expected == memory.Name{}, Key: key, CreatedAt: ledger.FormatTime(now)}
	return m.Seal()
}

func (a *agent) changeset(ref string, author memory.Author, content, key string) *memory.Changeset {
	op, _ := memory.NewOp(memory.AddMemory, "", "", fmt.Appendf(nil, `{"content":%q}`, content))
	id, _ := memory.NewUUIDv7(now, a.random)
	c := &memory.Changeset{ID: id, Project: "demo", Ref: ref, Parents: []memory.Name{a.head(memory.SharedMain)}, Author: author, Message: "m",
		CreatedAt: ledger.FormatTime(now), Key: key, Create: true, Ops: []memory.Op{op}}
	return c
}

func TestAForgeryHasNoEffectAndCostsNothingElse(t *testing.T) {
	mine := memory.Author{Principal: agentWorkflow, Actor: "one"}
	for _, test := range []struct {
		name, want string
		forge      func(a *agent) (typ string, payload []byte)
	}{
		{"another author's changeset", "author", func(a *agent) (string, []byte) {
			return memory.TypeChangeset, a.changeset("refs/sessions/two/x", memory.Author{Principal: ".github/workflows/two.yml", Actor: "two"}, "c", "f").Seal()
		}},
		{"another actor under the own principal", "author", func(a *agent) (string, []byte) {
			return memory.TypeChangeset, a.changeset("refs/sessions/two/x", memory.Author{Principal: agentWorkflow, Actor: "two"}, "c", "f").Seal()
		}},
		{"a changeset for a ref of somebody else", "owner", func(a *agent) (string, []byte) {
			return memory.TypeChangeset, a.changeset("refs/sessions/two/x", mine, "c", "f").Seal()
		}},
		{"a changeset for a protected ref", "protected-ref", func(a *agent) (string, []byte) {
			return memory.TypeChangeset, a.changeset(memory.SharedMain, mine, "c", "f").Seal()
		}},
		{"a changeset whose digest is not its own", "digest", func(a *agent) (string, []byte) {
			text := string(a.changeset("refs/sessions/one/x", mine, "content", "f").Seal())
			return memory.TypeChangeset, []byte(strings.Replace(text, `"content":"content"`, `"content":"CONTENT"`, 1))
		}},
		{"a movement of a protected ref", "protected-ref", func(a *agent) (string, []byte) {
			return memory.TypeRef, a.movement(memory.SharedMain, a.head(memory.SharedMain), a.head("refs/sessions/one/s"), mine, "f")
		}},
		{"a movement of a ref of somebody else", "owner", func(a *agent) (string, []byte) {
			return memory.TypeRef, a.movement("refs/agents/two/main", memory.Name{}, a.head(memory.SharedMain), mine, "f")
		}},
		{"another root", "trusted-only", func(a *agent) (string, []byte) {
			c := a.changeset(memory.SharedMain, mine, "c", memory.RootID)
			c.ID, c.Parents, c.Ops, c.Create = memory.RootID, nil, nil, false
			return memory.TypeChangeset, c.Seal()
		}},
		{"an output manifest", "trusted-only", func(a *agent) (string, []byte) {
			id, _ := memory.NewUUIDv7(now, a.random)
			m := memory.Manifest{ID: id, Kind: memory.OutputManifest, Project: "demo", Author: mine, CreatedAt: ledger.FormatTime(now), Base: a.head(memory.SharedMain)}
			return memory.TypeManifest, m.Seal()
		}},
		{"a used key with another request", "key-reused", func(a *agent) (string, []byte) {
			return memory.TypeChangeset, a.changeset("refs/sessions/one/x", mine, "other", "one-1").Seal()
		}},
		{"a changeset of another project", "project", func(a *agent) (string, []byte) {
			c := a.changeset("refs/sessions/one/x", mine, "c", "f")
			c.Project = "other"
			return memory.TypeChangeset, c.Seal()
		}},
		{"an op over its bound", "operation: op 0 (add_memory): content has 16385 bytes", func(a *agent) (string, []byte) {
			return memory.TypeChangeset, a.changeset("refs/sessions/one/x", mine, strings.Repeat("x", memory.MaxContentBytes+1), "f").Seal()
		}},
		{"a parent that nobody accepted", "unknown", func(a *agent) (string, []byte) {
			c := a.changeset("refs/sessions/one/x", mine, "c", "f")
			c.Parents = []memory.Name{{ID: c.ID, Digest: ledger.Hash{1}}}
			return memory.TypeChangeset, c.Seal()
		}},
		{"a proposal without what it proposes", "unknown", func(a *agent) (string, []byte) {
			id, _ := memory.NewUUIDv7(now, a.random)
			p := memory.Proposal{ID: id, Project: "demo", Kind: memory.BranchProposal, TargetRef: memory.SharedMain, Base: a.head(memory.SharedMain),
				Head: memory.Name{ID: id, Digest: ledger.Hash{1}}, Message: "m", Author: mine, CreatedAt: ledger.FormatTime(now), Key: "f"}
			return memory.TypeProposal, p.Seal()
		}},
		{"no changeset at all", "shape", func(*agent) (string, []byte) { return memory.TypeChangeset, []byte(`[{"changeset_id":1}]`) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := begun(t)
			a := newAgent(t, s, agentWorkflow, 1)
			before := a.commit("s", "the port is 80")
			typ, payload := test.forge(a)
			forged := a.record(typ, payload)
			after := a.commit("s", "the host is up")
			plain := a.record("note", []byte(`1`))
			c, r := run(t, a.staging(), s, remembering(t, agentWorkflow))
			wantMemory(t, r, 4, 1)
			wantCounts(t, r, 6, 0, 0)
			wantWithout(t, r, forged, test.want)
			state := afterwards(t, s, c, r)
			if ref, _ := state.Ref("demo", "refs/sessions/one/s"); ref.Head != after {
				t.Errorf("the honest ref is at %v, want %v after %v", ref.Head, after, before)
			}
			if refs := state.Refs("demo"); len(refs) != 2 {
				t.Errorf("there are %d refs", len(refs))
			}
			if main, _ := state.Ref("demo", memory.SharedMain); len(main.Log) != 1 {
				t.Error("shared main moved")
			}
			if !ledger.OpenSnapshot(apply(s, c), ledger.DefaultLimits()).Has(plain.SHA()) {
				t.Error("the plain record is lost")
			}
		})
	}
}

func TestTypesOfTrustedJobsNeverReachTheBranch(t *testing.T) {
	s := begun(t)
	chain := memory.Fold(ledger.OpenSnapshot(s, ledger.DefaultLimits()))
	var link []byte
	for r := range ledger.OpenSnapshot(s, ledger.DefaultLimits()).Records() {
		if r.Type() == memory.TypeAdmission {
			link = r.Payload()
		}
	}
	for _, typ := range []string{memory.TypeAdmission, memory.TypeMerge, memory.TypeReview, memory.TypeConflict, "memory.else", "thread.artifact"} {
		a := newAgent(t, s, agentWorkflow, 1)
		name := a.commit("s", "the port is 80")
		// In a shard of its own, on the heads of the branch, as a stranger would.
		forger := newAgent(t, s, agentWorkflow, 9)
		forged := forger.record(typ, link)
		files := a.staging()
		files[shard(3)] = lines(forged)
		c, r := run(t, files, s, remembering(t, agentWorkflow))
		wantMemory(t, r, 2, 0)
		want := "trusted-only"
		if typ == "thread.artifact" {
			want = "reserved-type"
		}
		wantRejected(t, r, shard(3), 1, want)
		l := ledger.OpenSnapshot(apply(s, c), ledger.DefaultLimits())
		if l.Has(forged.SHA()) {
			t.Errorf("a forged %s is on the branch", typ)
		}
		state := afterwards(t, s, c, r)
		if ref, _ := state.Ref("demo", "refs/sessions/one/s"); ref.Head != name {
			t.Errorf("beside a forged %s the honest ref is at %v", typ, ref.Head)
		}
	}
	if seq, _ := chain.Seq(); seq != 1 {
		t.Errorf("the chain has %d links", seq)
	}
}

func TestAPrincipalWithoutTheScopeHasNoEffect(t *testing.T) {
	s := begun(t)
	a := newAgent(t, s, ".github/workflows/reader.yml", 1)
	forged := a.record(memory.TypeChangeset, a.changeset("refs/sessions/reader/x", memory.Author{Principal: a.entry.ID, Actor: "reader"}, "c", "f").Seal())
	moved := a.record(memory.TypeRef, a.movement("refs/sessions/reader/y", memory.Name{}, a.head(memory.SharedMain), memory.Author{Principal: a.entry.ID, Actor: "reader"}, "g"))
	c, r := run(t, a.staging(), s, remembering(t, a.entry.ID))
	wantMemory(t, r, 0, 2)
	wantWithout(t, r, forged, "scope: needs the scope memory.commit")
	wantWithout(t, r, moved, "scope: needs the scope memory.branch")
	afterwards(t, s, c, r)
}

func TestMemoryIsRefusedAsAWholeAndOtherRecordsPass(t *testing.T) {
	readOnly := strings.Replace(memoryPolicy, "principals:", "read-only: true\nprincipals:", 1)
	for _, test := range []struct {
		name, want string
		change     func(o *Options)
	}{
		{"no policy", "policy: there is no memory policy", func(o *Options) { o.Memory.Policy = nil }},
		{"no entry", "policy: the memory policy has no entry", func(o *Options) { o.Memory.Principal = ".github/workflows/unknown.yml" }},
		{"no principal", "policy: the memory policy has no entry", func(o *Options) { o.Memory.Principal = "" }},
		{"a read-only policy", "read-only", func(o *Options) { o.Memory.Policy = policy(t, readOnly) }},
		{"a run that is not bound", "run: elsewhere", func(o *Options) { o.Memory.Refused = &memory.Refusal{Reason: memory.ReasonRun, Detail: "elsewhere"} }},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := begun(t)
			a := newAgent(t, s, agentWorkflow, 1)
			plain := a.record("note", []byte(`1`))
			a.commit("s", "the port is 80")
			o := remembering(t, agentWorkflow)
			test.change(&o)
			files := a.staging()
			files[shard(3)] = lines(record(t, 7, s0(s)))
			c, r := run(t, files, s, o)
			wantCounts(t, r, 2, 0, 2)
			wantRejected(t, r, shard(2), 2, test.want)
			if r.Memory == nil || r.Memory.Refused == nil || r.Memory.Rejected != 2 || r.Memory.Made != 0 {
				t.Errorf("memory is %+v", r.Memory)
			}
			l := ledger.OpenSnapshot(apply(s, c), ledger.DefaultLimits())
			if !l.Has(plain.SHA()) || !l.Has(record(t, 7, s0(s)).SHA()) {
				t.Error("a plain record is lost")
			}
			afterwards(t, s, c, r)
		})
	}
}

// s0 is a head of a branch.
func s0(s ledger.Snapshot) ledger.Hash {
	return ledger.OpenSnapshot(s, ledger.DefaultLimits()).Heads()[0]
}

func TestABrokenChainRefusesMemoryAndOtherRecordsPass(t *testing.T) {
	s := begun(t)
	a := newAgent(t, s, agentWorkflow, 1)
	plain := a.record("note", []byte(`1`))
	a.commit("s", "the port is 80")
	// A second first link, by a writer that makes shards as these roles do.
	forger := newAgent(t, s, agentWorkflow, 9)
	for r := range ledger.OpenSnapshot(s, ledger.DefaultLimits()).Records() {
		if r.Type() == memory.TypeAdmission {
			forger.record(memory.TypeAdmission, r.Payload())
		}
	}
	segment, err := ledger.BuildSegment(forger.records, metadata, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	s = apply(s, ledger.Change{Add: map[string][]byte{ledger.ShardPath(segment.ID): segment.Content}})
	c, r := run(t, a.staging(), s, remembering(t, agentWorkflow))
	wantCounts(t, r, 1, 0, 2)
	wantRejected(t, r, shard(2), 2, "chain: the admission chain forks")
	if !ledger.OpenSnapshot(apply(s, c), ledger.DefaultLimits()).Has(plain.SHA()) {
		t.Error("the plain record is lost")
	}
}

func TestABranchThatSomebodyElseWritesToTakesNoMemory(t *testing.T) {
	foreign := func(r ledger.Record) map[string][]byte { return map[string][]byte{shard(77): []byte(lines(r))} }
	s := begun(t)
	old := apply(ledger.Snapshot{}, ledger.Change{Add: foreign(record(t, 3))})
	for _, test := range []struct {
		name  string
		on    ledger.Snapshot
		extra map[string][]byte
		taken bool
	}{
		{"a shard of another writer from before memory began", old, nil, true},
		{"a shard of another writer that follows on an admission", s, foreign(record(t, 3, s0(s))), false},
		{"a shard of another writer that follows on nothing", s, foreign(record(t, 3)), true},
		{"a record of memory in a shard of another writer", s, foreign(newAgent(t, s, agentWorkflow, 9).record(memory.TypeRef, []byte(`{}`))), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			on := test.on
			if memory.Fold(ledger.OpenSnapshot(on, ledger.DefaultLimits())).Projects() == nil || len(test.extra) == 0 {
				c, r := run(t, map[string]string{shard(1): lines(record(t, 1))}, on, remembering(t, agentWorkflow))
				if r.Memory != nil {
					on = apply(on, c)
				}
			}
			a := newAgent(t, on, agentWorkflow, 1)
			a.commit("s", "the port is 80")
			on.Files = maps.Clone(on.Files)
			maps.Copy(on.Files, test.extra)
			_, r := run(t, a.staging(), on, remembering(t, agentWorkflow))
			if taken := r.Memory.Refused == nil; taken != test.taken {
				t.Errorf("memory is taken: %v, want %v (%v)", taken, test.taken, r.Memory.Refused)
			}
			if !test.taken {
				wantRejected(t, r, shard(2), 1, "chain: another writer")
			}
		})
	}
}

func TestWhatTheAdmissionAddsCountsToNoBoundOfTheAgents(t *testing.T) {
	s := begun(t)
	a := newAgent(t, s, agentWorkflow, 1)
	var last memory.Name
	for i := range 20 {
		last = a.add("s", fmt.Sprintf(`{"visibility":"private","content":"secret %d"}`, i))
	}
	proposal := a.propose(last)
	o := remembering(t, agentWorkflow)
	c, r := run(t, a.staging(), s, o)
	if r.Memory.Accepted != 41 || r.Memory.Made < 22 {
		t.Errorf("memory is %+v", r.Memory)
	}
	if p, _ := afterwards(t, s, c, r).Proposal("demo", proposal); len(p.Conflicts) < 20 || p.Conflicts[0].Type != memory.ScopeFlow {
		t.Errorf("%d conflicts", len(p.Conflicts))
	}
	o.Limits.MaxPatchBytes = r.RecordBytes
	if _, r = run(t, a.staging(), s, o); r.Memory.Accepted != 41 {
		t.Errorf("memory is %+v", r.Memory)
	}
	o.Limits.MaxPatchBytes--
	if _, _, err := prepare(t, tree(t, a.staging()), o).Change(s); err == nil || !strings.Contains(err.Error(), "max-patch-kb") {
		t.Errorf("over the patch bound: %v", err)
	}
}
