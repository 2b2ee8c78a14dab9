package actions_test

import (
	"bytes"
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/memory"
)

// forgery is one of twelve records that an agent of actor one writes into its folder
// by itself, each wrong in its own way and right in all others.
func forgery(t testing.TB, s *memory.State, kind int, ref, head, key string) (typ, payload string) {
	t.Helper()
	now := time.Now()
	id := func() string {
		text, err := memory.NewUUIDv7(now, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	op := func(typ memory.OpType, target, payload string) []memory.Op {
		o, fault := memory.NewOp(typ, target, "", []byte(payload))
		if fault != nil {
			t.Fatal(fault)
		}
		return []memory.Op{o}
	}
	at, ok := memory.ParseName(head)
	if !ok {
		t.Fatalf("%q is no name", head)
	}
	main, _ := s.Ref("demo", memory.SharedMain)
	author := memory.Author{Principal: agentOne, Actor: "one"}
	c := &memory.Changeset{ID: id(), Project: "demo", Ref: ref, Parents: []memory.Name{at}, Author: author, Message: "m", CreatedAt: ledger.FormatTime(now),
		Key: key, Expected: at, Ops: op(memory.AddMemory, "", `{"content":"forged"}`)}
	move := &memory.Movement{Project: "demo", Ref: ref, Author: author, Expected: at, Head: main.Head, Key: key, CreatedAt: c.CreatedAt}
	switch kind {
	case 0: // somebody else's ref
		c.Ref = "refs/sessions/two/x"
	case 1: // somebody else's name
		c.Author = memory.Author{Principal: agentTwo, Actor: "two"}
	case 2:
		c.Ops = op(memory.CorrectMemory, "nowhere", `{"content":"x"}`)
	case 3:
		c.Ref = memory.SharedMain
	case 4:
		c.Project = "secret"
	case 5:
		c.Ops = op(memory.AddMemory, "", `{"content":"x","evil":"y"}`)
	case 6: // a digest that is not its own
		return memory.TypeChangeset, string(bytes.Replace(c.Seal(), []byte("forged"), []byte("forger"), 1))
	case 7:
		move.Ref, move.Expected, move.Head = memory.SharedMain, main.Head, at
		return memory.TypeRef, string(move.Seal())
	case 8: // a head that is none
		move.Head.Digest[0] ^= 1
		return memory.TypeRef, string(move.Seal())
	case 9: // back
		return memory.TypeRef, string(move.Seal())
	case 10:
		p := &memory.Proposal{ID: id(), Project: "demo", Kind: memory.BranchProposal, TargetRef: ref, Base: main.Head, Head: at, Author: author, Message: "m", CreatedAt: c.CreatedAt, Key: key}
		return memory.TypeProposal, string(p.Seal())
	case 11: // pins that do not give its content
		f := &memory.Manifest{ID: id(), Kind: memory.InputManifest, Project: "demo", Ref: memory.SharedMain, Head: main.Head, Author: author, CreatedAt: c.CreatedAt,
			ContentDigest: "sha256:" + strings.Repeat("0", 64)}
		return memory.TypeManifest, string(f.Seal())
	default:
		t.Fatalf("there is no forgery %d", kind)
	}
	return memory.TypeChangeset, string(c.Seal())
}
