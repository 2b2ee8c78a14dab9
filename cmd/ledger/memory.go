package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/memory"
)

// memoryCommands are those of Memory Git. The ones that read take a folder or a
// remote; the ones that write take a remote, and act for the user whose numeric id
// is given: whoever may push to the branch says who they are, as with git itself.
func memoryCommands() []command {
	return []command{
		memoryInitCommand, memoryStatusCommand, memoryLogCommand, memoryShowCommand, memoryRefsCommand, memoryBranchCommand, memoryDiffCommand,
		memoryCommitCommand, memoryProposeCommand, memoryReviewCommand, memoryMergeCommand, memoryCancelCommand, memoryRevertCommand,
		memoryContextCommand, memoryConflictsCommand, memoryVerifyCommand, memoryReconcileCommand,
	}
}

// view is a folded ledger and the project that was asked for.
type view struct {
	*memory.State
	ledger  *ledger.Ledger
	project string
}

// memorySource is a source with a project in it.
type memorySource struct {
	*source
	project *string
}

func memoryFlags(flags *flag.FlagSet) *memorySource {
	return &memorySource{sourceFlags(flags), flags.String("project", "", "`PROJECT` of the memory (default: the one that there is)")}
}

// open folds the ledger that the flags and the last argument name. Nothing needs
// closing that the end of the process does not close.
func (m *memorySource) open(ctx context.Context, args []string) (*view, error) {
	l, err := m.source.open(ctx, args)
	if err != nil {
		return nil, err
	}
	return &view{State: memory.Fold(l), ledger: l}, nil
}

// choose returns the project that the flags name, or the only one.
func (m *memorySource) choose(s *memory.State) (string, error) {
	all := s.Projects()
	switch {
	case *m.project != "" && !memory.IsSegment(*m.project):
		return "", usagef("--project needs letters, digits, dots, hyphens or underscores, at most 64")
	case *m.project != "":
		return *m.project, nil
	case len(all) == 1:
		return all[0], nil
	case len(all) == 0:
		return "", errors.New("the ledger holds no memory: ledger memory init starts a project")
	}
	return "", usagef("the ledger has %d projects, give one as --project: %s", len(all), strings.Join(all, ", "))
}

// named returns the changeset that text names: a ref, an id, or a whole name.
func (v *view) named(text string) (memory.Name, error) { return named(v.State, v.project, text) }

func named(s *memory.State, project, text string) (memory.Name, error) {
	if n, ok := memory.ParseName(text); ok {
		if _, known := s.Changeset(project, n); known {
			return n, nil
		}
		return n, fmt.Errorf("project %s has no changeset %s", project, text)
	}
	if r, ok := s.Ref(project, text); ok {
		return r.Head, nil
	}
	if c, ok := s.Find(project, text); ok {
		return c.Name(), nil
	}
	return memory.Name{}, fmt.Errorf("project %s has no ref or changeset %q: ledger memory refs lists the refs", project, text)
}

// operands splits what a command takes from the folder that may stand last.
func (m *memorySource) operands(args []string, least, most int) (taken, rest []string, err error) {
	n := len(args)
	if *m.remote == "" && n > 0 {
		n--
	}
	if n < least || n > most {
		return nil, nil, usagef("takes %d to %d arguments, then a folder or --remote", least, most)
	}
	return args[:n], args[n:], nil
}

// reading makes a command that folds and prints, with its flags.
func reading(name, arguments, summary string, least, most int, setup func(*flag.FlagSet) func(streams, *view, []string) error) command {
	return command{"memory " + name, arguments, summary, func(flags *flag.FlagSet) func(context.Context, streams, []string) error {
		src := memoryFlags(flags)
		do := setup(flags)
		return func(ctx context.Context, s streams, args []string) error {
			taken, rest, err := src.operands(args, least, most)
			if err != nil {
				return err
			}
			v, err := src.open(ctx, rest)
			if err != nil {
				return err
			}
			if name != "status" { // which is about all projects
				if v.project, err = src.choose(v.State); err != nil {
					return err
				}
			}
			return do(s, v, taken)
		}
	}}
}

// environmentKeys reads the merge keys, if there are any, and removes them from
// the environment.
func environmentKeys(variable string) (*memory.KeyRing, error) {
	text, there := os.LookupEnv(variable)
	if !there || text == "" {
		return nil, nil
	}
	if err := os.Unsetenv(variable); err != nil {
		return nil, err
	}
	return memory.ParseKeyRing(text, os.Getenv("GITHUB_TOKEN"))
}
