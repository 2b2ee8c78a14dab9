package main

import (
	"context"
	"flag"
	"fmt"
	"io"

	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/memory"
)

var memoryBranchCommand = writing("branch", "[--at CHANGESET|REF] [--expect CHANGESET] --key KEY REF", "create a ref, or move one that has the expected head", 1,
	func(flags *flag.FlagSet) func(context.Context, streams, *memoryWriter, []string) error {
		at := flags.String("at", memory.SharedMain, "`CHANGESET` or ref that it starts from or moves to")
		expect := flags.String("expect", "", "move it, if it has this `CHANGESET` as head")
		key := flags.String("key", "", "idempotency `KEY`")
		return func(ctx context.Context, s streams, w *memoryWriter, args []string) error {
			if err := needKey(*key); err != nil {
				return err
			}
			q, err := w.request(ctx, "move a ref", func(s *memory.State, a memory.Agent, project string) (memory.Request, error) {
				head, err := named(s, project, *at)
				var expected memory.Name
				if err == nil && *expect != "" {
					expected, err = named(s, project, *expect)
				}
				if err != nil {
					return memory.Request{}, err
				}
				return s.Branch(a, project, args[0], head, expected, *key)
			})
			if err != nil {
				return err
			}
			return printMade(s, q)
		}
	})

// maxOpsBytes bounds standard input of commit: more fits no record.
const maxOpsBytes = 1 << 20

// readOps reads a JSON array of ops as a changeset has them, without ordinals.
func readOps(r io.Reader) ([]memory.Op, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxOpsBytes+1))
	if err != nil {
		return nil, fmt.Errorf("failed to read standard input: %w", err)
	}
	if len(text) > maxOpsBytes {
		return nil, fmt.Errorf("standard input is over %d bytes", maxOpsBytes)
	}
	v, err := canonical.ParseStrict(text, ledger.MaxPayloadDepth)
	if err != nil || v.Kind != canonical.Array {
		return nil, usagef("standard input is no JSON array of ops: {op_type, target_event_id?, resulting_event_id?, payload}")
	}
	var ops []memory.Op
	for i, item := range v.Items {
		var typ, target, result string
		payload := canonical.Value{Kind: canonical.Object}
		for _, m := range item.Members {
			switch m.Name {
			case "op_type":
				typ = m.Value.Str
			case "target_event_id":
				target = m.Value.Str
			case "resulting_event_id":
				result = m.Value.Str
			case "payload":
				payload = m.Value
			default:
				return nil, usagef("op %d has an unknown member %q", i, m.Name)
			}
		}
		text, err := payload.Text()
		if err != nil {
			return nil, usagef("op %d: %v", i, err)
		}
		op, refusal := memory.NewOp(memory.OpType(typ), target, result, text)
		if refusal != nil {
			return nil, usagef("op %d: %v", i, refusal)
		}
		ops = append(ops, op)
	}
	return ops, nil
}

// maxReplayed is how far back a request is looked for that is made again.
const maxReplayed = 10_000

// commitTo fills in where a commit starts: where it started when it was made
// before under this key, else on the ref's head, else, where there is no such ref,
// as a new one on a changeset.
func commitTo(s *memory.State, project, user, expect, start string, q *memory.Commit) error {
	var err error
	r, there := s.Ref(project, q.Ref)
	if there {
		for _, c := range s.Log(project, r.Head, maxReplayed) {
			if c.Key == q.Key && c.Author.Principal == user && c.Ref == q.Ref {
				q.Expected, q.Create, q.Parents = c.Expected, c.Create, c.Parents
				return nil
			}
		}
	}
	if there || expect != "" {
		q.Expected = r.Head
		if expect != "" {
			q.Expected, err = named(s, project, expect)
		}
		return err
	}
	head, err := named(s, project, start)
	q.Create, q.Parents = true, []memory.Name{head}
	return err
}

var memoryCommitCommand = writing("commit", "[--at CHANGESET|REF] [--expect CHANGESET] --message TEXT --key KEY REF < OPS", "commit ops, a JSON array on standard input, to a ref of one's own", 1,
	func(flags *flag.FlagSet) func(context.Context, streams, *memoryWriter, []string) error {
		at := flags.String("at", memory.SharedMain, "`CHANGESET` or ref that a new ref starts from")
		expect := flags.String("expect", "", "fail unless the ref has this `CHANGESET` as head (default: whatever it has)")
		message := flags.String("message", "", "what the changeset is for")
		key := flags.String("key", "", "idempotency `KEY`")
		return func(ctx context.Context, s streams, w *memoryWriter, args []string) error {
			if err := needKey(*key); err != nil {
				return err
			}
			ops, err := readOps(s.in)
			if err != nil {
				return err
			}
			made, err := w.request(ctx, "commit a changeset", func(s *memory.State, a memory.Agent, project string) (memory.Request, error) {
				q := memory.Commit{Project: project, Ref: args[0], Message: *message, Key: *key, Ops: ops}
				if err := commitTo(s, project, a.Principal.ID, *expect, *at, &q); err != nil {
					return memory.Request{}, err
				}
				return s.Commit(a, q)
			})
			if err != nil {
				return err
			}
			return printMade(s, made)
		}
	})

var memoryProposeCommand = writing("propose", "[--target REF] [--select CHANGESET#N,...] --message TEXT --key KEY CHANGESET|REF", "propose a changeset, or selected ops of it, for a shared ref", 1,
	func(flags *flag.FlagSet) func(context.Context, streams, *memoryWriter, []string) error {
		target := flags.String("target", memory.SharedMain, "shared `REF`")
		selected := flags.String("select", "", "`OPS` to pick, as CHANGESET#ORDINAL between commas")
		message := flags.String("message", "", "what it is for")
		key := flags.String("key", "", "idempotency `KEY`")
		return func(ctx context.Context, s streams, w *memoryWriter, args []string) error {
			if err := needKey(*key); err != nil {
				return err
			}
			made, err := w.request(ctx, "propose a merge", func(s *memory.State, a memory.Agent, project string) (memory.Request, error) {
				head, err := named(s, project, args[0])
				if err != nil {
					return memory.Request{}, err
				}
				q := memory.Proposal{Project: project, TargetRef: *target, Head: head, Message: *message, Key: *key}
				if q.Selected, err = selection(s, project, *selected); err != nil {
					return memory.Request{}, err
				}
				if len(q.Selected) > 0 {
					q.Kind = memory.ChangesetProposal
				}
				return s.Propose(a, q)
			})
			if err != nil {
				return err
			}
			return printMade(s, made)
		}
	})

var memoryRevertCommand = writing("revert", "--ref REF [--at REF] --key KEY CHANGESET", "commit what takes a changeset back, as a new one that can be proposed", 1,
	func(flags *flag.FlagSet) func(context.Context, streams, *memoryWriter, []string) error {
		at := flags.String("at", memory.SharedMain, "`REF` or changeset that holds it")
		ref := flags.String("ref", "", "`REF` of one's own to commit to; new, or at that head")
		key := flags.String("key", "", "idempotency `KEY`")
		return func(ctx context.Context, s streams, w *memoryWriter, args []string) error {
			if err := needKey(*key); err != nil {
				return err
			}
			made, err := w.request(ctx, "revert a changeset", func(s *memory.State, a memory.Agent, project string) (memory.Request, error) {
				what, err := named(s, project, args[0])
				if err != nil {
					return memory.Request{}, err
				}
				q := memory.Commit{Project: project, Ref: *ref, Message: "revert of " + what.ID, Key: *key}
				if err := commitTo(s, project, a.Principal.ID, "", *at, &q); err != nil {
					return memory.Request{}, err
				}
				head := q.Expected
				if q.Create {
					head = q.Parents[0]
				}
				if q.Ops, err = s.RevertOps(project, head, what); err != nil {
					return memory.Request{}, err
				}
				return s.Commit(a, q)
			})
			if err != nil {
				return err
			}
			return printMade(s, made)
		}
	})
