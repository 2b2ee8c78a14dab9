package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/repo-memory/ledger/pkg/branch"
	"github.com/repo-memory/ledger/pkg/github"
	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/memory"
	"github.com/repo-memory/ledger/pkg/memoryrun"
	"github.com/repo-memory/ledger/pkg/publish"
)

// memoryWriter writes to a branch for a user.
type memoryWriter struct {
	*memorySource
	policy, user, way *string

	remoteTo branch.Remote
	options  publish.Options
	job      memoryrun.Job
}

func writerFlags(flags *flag.FlagSet) *memoryWriter {
	return &memoryWriter{memorySource: memoryFlags(flags),
		policy: flags.String("policy", memory.PolicyPath, "memory policy `FILE`"),
		user:   flags.String("user", "", "numeric user `ID` to act for; the policy must know it"),
		way:    flags.String("publish", string(publish.Auto), "how the commit is made: "+strings.Join(publish.Modes, ", "))}
}

// start reads what the flags name.
func (w *memoryWriter) start(role string) error {
	switch {
	case *w.remote == "":
		return usagef("writing needs --remote")
	case *w.user == "":
		return usagef("writing needs --user, the numeric id of a user whom the policy knows")
	}
	var err error
	if w.remoteTo, _, err = w.remoteOf(); err != nil {
		return err
	}
	if w.options, err = (publish.Options{}).Choose(publish.Mode(*w.way), w.remoteTo, os.Getenv, github.Options{}); err != nil {
		return usageError{err}
	}
	w.job = memoryrun.Job{Role: "ledger memory " + role, Ledger: *w.name, Now: time.Now()}
	if w.job.Limits, err = parseLimits(w.limits); err != nil {
		return err
	}
	if w.job.Policy, err = memoryrun.ReadPolicy(*w.policy); err != nil {
		return err
	}
	entry, refusal := w.job.Policy.Principal(*w.user)
	if refusal != nil {
		return refusal
	}
	w.job.Principal = entry
	return nil
}

// update publishes what a function makes of the branch.
func (w *memoryWriter) update(ctx context.Context, change func(ledger.Snapshot) (ledger.Change, error)) error {
	_, err := publish.Update(ctx, w.remoteTo, w.branchName(), w.options, change)
	return err
}

// clerk publishes the records that a trusted job makes.
func (w *memoryWriter) clerk(ctx context.Context, what string, do func(*memory.State, memory.Clerk, string) ([]ledger.Record, error)) error {
	return w.update(ctx, func(snap ledger.Snapshot) (ledger.Change, error) {
		return w.job.Change(snap, what, func(s *memory.State, c memory.Clerk) ([]ledger.Record, error) {
			project, err := w.choose(s)
			if err != nil {
				return nil, err
			}
			return do(s, c, project)
		})
	})
}

// request publishes what an agent could ask for.
func (w *memoryWriter) request(ctx context.Context, what string, do func(*memory.State, memory.Agent, string) (memory.Request, error)) (memory.Request, error) {
	var made memory.Request
	err := w.update(ctx, func(snap ledger.Snapshot) (change ledger.Change, err error) {
		q, change, err := w.job.Submit(snap, what, func(s *memory.State, a memory.Agent) (memory.Request, error) {
			project, err := w.choose(s)
			if err != nil {
				return memory.Request{}, err
			}
			return do(s, a, project)
		})
		// A lost answer is read again as a replay of what was made.
		made = q
		return change, err
	})
	return made, err
}

// printMade prints what a request made as JSON.
func printMade(s streams, q memory.Request) error {
	answer := map[string]any{"replay": q.Replay != ""}
	if q.Name != (memory.Name{}) {
		answer["changeset"] = q.Name
	}
	if q.ID != "" {
		answer["id"] = q.ID
	}
	return printJSON(s.out, answer)
}

// selection reads "<changeset>#<ordinal>,...".
func selection(s *memory.State, project, text string) ([]memory.Selection, error) {
	var list []memory.Selection
	for part := range strings.SplitSeq(text, ",") {
		if part == "" {
			continue
		}
		id, digits, found := strings.Cut(part, "#")
		n, err := strconv.Atoi(digits)
		if !found || err != nil || n < 0 {
			return nil, usagef("--select takes CHANGESET#ORDINAL between commas")
		}
		name, err := named(s, project, id)
		if err != nil {
			return nil, err
		}
		list = append(list, memory.Selection{Changeset: name, Ordinal: n})
	}
	return list, nil
}

var errKey = errors.New("--key names the request, so that it can be made again without being done twice")

func needKey(key string) error {
	if key == "" {
		return usageError{errKey}
	}
	return nil
}

// writing makes a command that writes for a user.
func writing(name, arguments, summary string, operands int, setup func(*flag.FlagSet) func(context.Context, streams, *memoryWriter, []string) error) command {
	return command{"memory " + name, arguments + " --remote URL --user ID", summary, func(flags *flag.FlagSet) func(context.Context, streams, []string) error {
		w := writerFlags(flags)
		do := setup(flags)
		return func(ctx context.Context, s streams, args []string) error {
			if len(args) != operands {
				return usagef("takes %d arguments: %s", operands, arguments)
			}
			if err := w.start(name); err != nil {
				return err
			}
			return do(ctx, s, w, args)
		}
	}}
}

var memoryInitCommand = writing("init", "", "start a project, with what the branch holds as its baseline", 0,
	func(*flag.FlagSet) func(context.Context, streams, *memoryWriter, []string) error {
		return func(ctx context.Context, s streams, w *memoryWriter, _ []string) error {
			if !memory.IsSegment(*w.project) {
				return usagef("--project names the project to start")
			}
			if err := w.clerk(ctx, "start project "+*w.project, func(s *memory.State, c memory.Clerk, project string) ([]ledger.Record, error) {
				return s.Init(c, project)
			}); err != nil {
				return err
			}
			_, err := fmt.Fprintf(s.out, "project %s has its root\n", *w.project)
			return err
		}
	})
