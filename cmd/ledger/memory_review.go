package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"strings"
	"time"

	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/memory"
	"github.com/repo-memory/ledger/pkg/memoryrun"
)

// texts is a flag that may be given several times.
type texts []string

func (t *texts) String() string { return strings.Join(*t, ", ") }

// Set adds one.
func (t *texts) Set(s string) error {
	*t = append(*t, s)
	return nil
}

var memoryReviewCommand = writing("review", "[--operation OPERATION] PROPOSAL", "show a proposal with its digest, or record a verdict", 1,
	func(flags *flag.FlagSet) func(context.Context, streams, *memoryWriter, []string) error {
		operation := flags.String("operation", "show", "show, comment, request-changes, approve, reject, expire, resolve, dismiss or defer")
		prepare := flags.Bool("prepare", false, "show: prepare the merge or cherry-pick changeset where one is needed")
		digest := flags.String("state-digest", "", "approve: the `DIGEST` that show printed")
		merger := flags.String("merger", "", "approve: numeric user `ID` of who may merge (default: the reviewer)")
		envelope := flags.String("envelope", "", "approve: `FILE` for the authorization")
		server, repository := bindingFlags(flags)
		var findings, conflicts texts
		flags.Var(&findings, "finding", "what was found, or why a conflict is settled; can be repeated")
		flags.Var(&conflicts, "conflict", "`ID` of a conflict that is acknowledged or settled; can be repeated")
		return func(ctx context.Context, s streams, w *memoryWriter, args []string) error {
			r := &localReview{memoryWriter: w, proposal: args[0], findings: findings, conflicts: conflicts}
			switch *operation {
			case "show":
				return r.show(ctx, s, *prepare)
			case "approve":
				if *digest == "" || *envelope == "" || *repository == "" {
					return usagef("approve needs --state-digest, --envelope and --repository-id")
				}
				return r.approve(ctx, s, *digest, *merger, *envelope, memory.Binding{Server: *server, Repository: *repository, Ledger: *w.name, Branch: w.branchName()})
			case "resolve":
				return r.settle(ctx, s, memory.ConflictResolved)
			case "dismiss":
				return r.settle(ctx, s, memory.ConflictRejected)
			case "defer":
				return r.settle(ctx, s, memory.ConflictDeferred)
			case string(memory.Comment), string(memory.RequestChanges), string(memory.Reject), string(memory.Expire):
				return r.verdict(ctx, s, memory.Operation(*operation))
			}
			return usagef("no operation %q: see ledger memory review --help", *operation)
		}
	})

var memoryCancelCommand = writing("cancel", "PROPOSAL", "cancel a proposal of one's own, or as a reviewer", 1,
	func(*flag.FlagSet) func(context.Context, streams, *memoryWriter, []string) error {
		return func(ctx context.Context, s streams, w *memoryWriter, args []string) error {
			return (&localReview{memoryWriter: w, proposal: args[0]}).verdict(ctx, s, memory.Cancel)
		}
	})

// localReview is a review from the command line. There is no run whose facts could
// be checked: whoever holds the keys and may push answers for them.
type localReview struct {
	*memoryWriter
	proposal            string
	findings, conflicts []string
}

func (r *localReview) show(ctx context.Context, s streams, prepare bool) error {
	var shown *memory.Presentation
	err := r.clerk(ctx, "show a proposal", func(s *memory.State, c memory.Clerk, project string) (records []ledger.Record, err error) {
		records, shown, err = s.Show(c, project, r.proposal, prepare)
		return records, err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "proposal %s by %s: %s, %s into %s\n\n%s\n", r.proposal, shown.Proposal.Author.Principal, shown.Status, shown.Strategy, shown.Proposal.TargetRef, shown.Diff.Markdown())
	switch {
	case !shown.Whole:
		fmt.Fprintf(s.out, "the diff has over %d bytes: it cannot be approved\n", memory.MaxDiffBytes)
	case shown.NewHead == memory.Name{}:
		fmt.Fprintln(s.out, "it has to be prepared before it can be approved: give --prepare")
	default:
		fmt.Fprintf(s.out, "state-digest %s\n", shown.StateDigest)
	}
	return nil
}

func (r *localReview) verdict(ctx context.Context, s streams, o memory.Operation) error {
	id, err := memory.NewUUIDv7(r.job.Now, rand.Reader)
	if err != nil {
		return err
	}
	if err := r.clerk(ctx, string(o)+" a proposal", func(s *memory.State, c memory.Clerk, project string) ([]ledger.Record, error) {
		return s.Review(c, memory.ReviewRequest{Project: project, Proposal: r.proposal, ID: id, Operation: o, Findings: r.findings})
	}); err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "%s: proposal %s\n", o, r.proposal)
	return err
}

func (r *localReview) settle(ctx context.Context, s streams, status memory.ConflictStatus) error {
	if len(r.conflicts) == 0 || len(r.findings) == 0 {
		return usagef("settling needs --conflict, and --finding that says why")
	}
	for _, id := range r.conflicts {
		if err := r.clerk(ctx, "settle a conflict", func(s *memory.State, c memory.Clerk, project string) ([]ledger.Record, error) {
			return s.Settle(c, memory.ConflictRequest{Project: project, Proposal: r.proposal, Conflict: id, Status: status, Note: strings.Join(r.findings, "\n")})
		}); err != nil {
			return err
		}
		fmt.Fprintf(s.out, "%s: conflict %s\n", status, id)
	}
	return nil
}

func (r *localReview) approve(ctx context.Context, s streams, digest, merger, file string, binding memory.Binding) error {
	keys, err := environmentKeys(memoryrun.KeysVariable)
	if err == nil && keys == nil {
		_, err = memory.ParseKeyRing("")
	}
	if err != nil {
		return usageError{err}
	}
	id, err := memory.NewUUIDv7(r.job.Now, rand.Reader)
	if err != nil {
		return err
	}
	nonce := make([]byte, 32)
	if _, err := rand.Read(nonce); err != nil {
		return err
	}
	var token *memory.Token
	self := r.job.Principal.ID
	if err := r.clerk(ctx, "approve a proposal", func(s *memory.State, c memory.Clerk, project string) (records []ledger.Record, err error) {
		records, token, err = s.Approve(c, memory.ApproveRequest{Project: project, Proposal: r.proposal, ReviewID: id, StateDigest: digest, Acknowledged: r.conflicts,
			Findings: r.findings, Merger: merger, Life: memory.MaxEnvelopeLife, Nonce: nonce, Keys: keys, Binding: binding,
			Run: memory.RunFacts{Attempt: 1, Actor: self, TriggeringActor: self, WorkflowOnDefaultBranch: true}})
		if err == nil {
			err = r.job.MayMerge(cmp.Or(merger, self), project)
		}
		return records, err
	}); err != nil {
		return err
	}
	if err := memoryrun.WriteEnvelope(file, token); err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "approved: proposal %s, until %s\n", r.proposal, token.Envelope.Expires)
	return err
}

var memoryMergeCommand = writing("merge", "--repository-id ID ENVELOPE", "carry out an authorization that approve wrote", 1,
	func(flags *flag.FlagSet) func(context.Context, streams, *memoryWriter, []string) error {
		server, repository := bindingFlags(flags)
		return func(ctx context.Context, s streams, w *memoryWriter, args []string) error {
			keys, err := environmentKeys(memoryrun.KeysVariable)
			if err == nil && keys == nil {
				_, err = memory.ParseKeyRing("")
			}
			if err != nil {
				return usageError{err}
			}
			token, err := memoryrun.ReadEnvelope(args[0])
			if err != nil {
				return err
			}
			if *w.project == "" {
				*w.project = token.Envelope.Project
			}
			uuid, err := ledger.NewUUID(rand.Reader)
			if err != nil {
				return err
			}
			binding := memory.Binding{Server: *server, Repository: *repository, Ledger: *w.name, Branch: w.branchName()}
			if err := w.clerk(ctx, "merge a proposal", func(s *memory.State, c memory.Clerk, project string) ([]ledger.Record, error) {
				if project != token.Envelope.Project {
					return nil, &memory.Refusal{Reason: memory.ReasonProject, Detail: "the authorization is for another project"}
				}
				c.Now = time.Now()
				return s.Merge(c, memory.MergeRequest{Token: token, Keys: keys, Binding: binding, RecordID: "ldg-" + uuid})
			}); err != nil {
				return err
			}
			_, err = fmt.Fprintf(s.out, "merged: proposal %s, %s is at %s\n", token.Envelope.Proposal, token.Envelope.Ref, token.Envelope.NewHead)
			return err
		}
	})
