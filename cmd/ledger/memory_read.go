package main

import (
	"flag"
	"fmt"

	"github.com/repo-memory/ledger/pkg/memory"
)

var memoryStatusCommand = reading("status", "[--json] DIR", "print the projects, refs, proposals and the admission chain", 0, 0,
	func(flags *flag.FlagSet) func(streams, *view, []string) error {
		asJSON := flags.Bool("json", false, "print one JSON value: everything that the fold says")
		return func(s streams, v *view, _ []string) error {
			if *asJSON {
				return printJSON(s.out, stateOf(v.State))
			}
			seq, time := v.Seq()
			fmt.Fprintf(s.out, "%d admissions", seq)
			if time != "" {
				fmt.Fprintf(s.out, ", the last at %s", time)
			}
			fmt.Fprintf(s.out, "; state %s\n", v.Digest())
			for _, project := range v.Projects() {
				open := 0
				for _, p := range v.Proposals(project) {
					if isOpen(p.Status) {
						open++
					}
				}
				fmt.Fprintf(s.out, "project %s: %d refs, %d proposals of which %d open\n", project, len(v.Refs(project)), len(v.Proposals(project)), open)
			}
			if n := len(v.Diagnostics()); n > 0 {
				fmt.Fprintf(s.out, "%d records without effect: ledger memory verify names them\n", n)
			}
			if err := v.Authorizes(); err != nil {
				fmt.Fprintf(s.out, "nothing may be written: %v\n", err)
			}
			return nil
		}
	})

func isOpen(s memory.ProposalStatus) bool {
	return s == memory.ProposalOpen || s == memory.ProposalChanges || s == memory.ProposalApproved
}

// logged is a changeset in a log.
type logged struct {
	Name    memory.Name `json:"changeset"`
	Time    string      `json:"created_at"`
	Author  string      `json:"author"`
	Actor   string      `json:"actor"`
	Ref     string      `json:"ref_name"`
	Ops     int         `json:"operations"`
	Parents int         `json:"parents"`
	Shared  bool        `json:"accepted"` // reachable from a protected ref
	Message string      `json:"message"`
}

var memoryLogCommand = reading("log", "[--json] [--limit N] [--at TIME] [REF|CHANGESET] DIR", "print the changesets of a head, the newest first", 0, 1,
	func(flags *flag.FlagSet) func(streams, *view, []string) error {
		asJSON := flags.Bool("json", false, "print one JSON array")
		limit := flags.Int("limit", 100, "most changesets")
		at := flags.String("at", "", "the ref as it was at `TIME`, such as 2026-01-31T12:00:00.000Z")
		return func(s streams, v *view, args []string) error {
			if *limit < 1 {
				return usagef("--limit is at least 1")
			}
			what := memory.SharedMain
			if len(args) > 0 {
				what = args[0]
			}
			head, err := v.named(what)
			if *at != "" {
				var there bool
				if head, there = v.RefAt(v.project, what, *at); !there {
					err = fmt.Errorf("%s did not exist at %s", what, *at)
				}
			}
			if err != nil {
				return err
			}
			list := []logged{}
			for _, c := range v.Log(v.project, head, *limit) {
				list = append(list, logged{c.Name(), c.CreatedAt, c.Author.Principal, c.Author.Actor, c.Ref, len(c.Ops), len(c.Parents), c.Landed, c.Message})
			}
			if *asJSON {
				return printJSON(s.out, list)
			}
			for _, c := range list {
				fmt.Fprintf(s.out, "%s %s %s on %s, %d ops: %q\n", c.Name, c.Time, c.Author, c.Ref, c.Ops, c.Message)
			}
			return nil
		}
	})

var memoryRefsCommand = reading("refs", "[--json] [--log] DIR", "print the refs with their heads, or with their reflogs", 0, 0,
	func(flags *flag.FlagSet) func(streams, *view, []string) error {
		asJSON := flags.Bool("json", false, "print one JSON array, with the reflogs")
		withLog := flags.Bool("log", false, "print every movement, the oldest first")
		return func(s streams, v *view, _ []string) error {
			refs := v.Refs(v.project)
			if *asJSON {
				return printJSON(s.out, refs)
			}
			for _, r := range refs {
				fmt.Fprintf(s.out, "%s %s\n", r.Name, r.Head)
				for i := 0; *withLog && i < len(r.Log); i++ {
					e := r.Log[i]
					fmt.Fprintf(s.out, "  %d %s %s -> %s", e.Seq, e.Time, e.Principal, e.To)
					if e.Proposal != "" {
						fmt.Fprintf(s.out, " by proposal %s", e.Proposal)
					}
					fmt.Fprintln(s.out)
				}
			}
			return nil
		}
	})

var memoryShowCommand = reading("show", "CHANGESET|PROPOSAL|CONFLICT|MANIFEST|REF DIR", "print one of these as JSON, with what became of it", 1, 1,
	func(*flag.FlagSet) func(streams, *view, []string) error {
		return func(s streams, v *view, args []string) error {
			if p, ok := v.Proposal(v.project, args[0]); ok {
				return printJSON(s.out, proposalOf(p))
			}
			for _, c := range v.Conflicts(v.project) {
				if c.ID == args[0] {
					return printJSON(s.out, payload(c.Seal()))
				}
			}
			if m, ok := v.Manifest(v.project, args[0]); ok {
				return printJSON(s.out, payload(m.Seal()))
			}
			name, err := v.named(args[0])
			if err != nil {
				return err
			}
			c, _ := v.Changeset(v.project, name)
			r, _ := v.ledger.Get(c.Record)
			return printJSON(s.out, map[string]any{"changeset": payload(r.Payload()), "seq": c.Seq, "record": c.Record, "accepted": c.Landed})
		}
	})

var memoryDiffCommand = reading("diff", "[--markdown] BASE TARGET DIR", "print what changes in meaning from one changeset or ref to another", 2, 2,
	func(flags *flag.FlagSet) func(streams, *view, []string) error {
		markdown := flags.Bool("markdown", false, "print it for people instead of as JSON")
		return func(s streams, v *view, args []string) error {
			base, err := v.named(args[0])
			if err != nil {
				return err
			}
			target, err := v.named(args[1])
			if err != nil {
				return err
			}
			d, err := v.Diff(v.project, base, target)
			if err != nil {
				return err
			}
			if *markdown {
				_, err = fmt.Fprint(s.out, d.Markdown())
			} else {
				_, err = fmt.Fprintf(s.out, "%s\n", d.JSON())
			}
			return err
		}
	})

var memoryConflictsCommand = reading("conflicts", "[--detect] [--all] [PROPOSAL] DIR", "print conflicts as JSON, one a line: those that are open", 0, 1,
	func(flags *flag.FlagSet) func(streams, *view, []string) error {
		detect := flags.Bool("detect", false, "look for them again, as things stand, and keep nothing")
		all := flags.Bool("all", false, "also those that are settled")
		return func(s streams, v *view, args []string) error {
			list := v.Conflicts(v.project)
			if *detect {
				if len(args) == 0 {
					return usagef("--detect needs a proposal")
				}
				var err error
				if list, err = v.Detect(v.project, args[0]); err != nil {
					return err
				}
			}
			for _, c := range list {
				if len(args) > 0 && c.Proposal != args[0] || !*all && c.Status != memory.ConflictOpen && c.Status != memory.ConflictDeferred {
					continue
				}
				fmt.Fprintf(s.out, "%s\n", c.Seal())
			}
			return nil
		}
	})

var memoryContextCommand = reading("context", "[--ref REF] [--head CHANGESET] [--query WORDS] [--manifest ID] DIR", "print the memory accepted at a head, as an agent gets it", 0, 0,
	func(flags *flag.FlagSet) func(streams, *view, []string) error {
		ref := flags.String("ref", memory.SharedMain, "`REF` of the memory")
		head := flags.String("head", "", "`CHANGESET` that is reachable from it (default: its head)")
		query := flags.String("query", "", "`WORDS` to rank by")
		most := flags.Int("memories", 0, "most memories, up to 100")
		tokens := flags.Int("tokens", 0, "most estimated tokens (default 4000)")
		baseline := flags.Bool("include-baseline", false, "with the unreviewed records of the baseline")
		manifest := flags.String("manifest", "", "rebuild what the input manifest `ID` pins instead")
		return func(s streams, v *view, _ []string) error {
			if *manifest != "" {
				m, ok := v.Manifest(v.project, *manifest)
				if !ok {
					return fmt.Errorf("project %s has no manifest %q", v.project, *manifest)
				}
				c, err := v.ContextOf(m)
				if err == nil {
					_, err = fmt.Fprintf(s.out, "%s\n", c.Text())
				}
				return err
			}
			q := memory.ContextQuery{Project: v.project, Ref: *ref, Query: *query, MaxMemories: *most, MaxTokens: *tokens, Baseline: *baseline}
			if *head != "" {
				var err error
				if q.Head, err = v.named(*head); err != nil {
					return err
				}
			}
			c, _, err := v.ContextAt(q)
			if err == nil {
				_, err = fmt.Fprintf(s.out, "%s\n", c.Text())
			}
			return err
		}
	})
