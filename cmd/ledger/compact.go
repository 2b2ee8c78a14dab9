package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strings"
	"time"

	"github.com/repo-memory/ledger/pkg/compaction"
	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/regular"
)

// compactFlags are the settings that the compact commands share, named like the
// inputs of the maintenance actions.
type compactFlags struct {
	*source
	settings map[string]*string
	created  *string
}

func declareCompact(flags *flag.FlagSet) compactFlags {
	return compactFlags{
		source: sourceFlags(flags),
		settings: map[string]*string{
			"schedule":     flags.String("schedule", "", "daily, weekly or manual (default daily)"),
			"min-segments": flags.String("min-segments", "", "segments needed before anything is compacted, 2 to 256 (default 32)"),
			"max-segments": flags.String("max-segments", "", "sources of one plan at most, up to 256 (default 128)"),
		},
		created: flags.String("created-at", "", "the `TIME` of the plan or of applying it, as in a record (default: now)"),
	}
}

func (f compactFlags) config() (compaction.Config, error) {
	limits, err := parseLimits(f.limits)
	if err != nil {
		return compaction.Config{}, err
	}
	config, err := compaction.ParseConfig(*f.name, f.branchName(), limits, func(name string) string { return *f.settings[name] })
	if err != nil {
		return config, usageError{err}
	}
	return config, nil
}

func (f compactFlags) now() (time.Time, error) {
	if *f.created == "" {
		return time.Now(), nil
	}
	t, ok := ledger.ParseTime(*f.created)
	if !ok {
		return t, usagef("--created-at must be a time like 2026-01-02T03:04:05.678Z")
	}
	return t, nil
}

// read returns the snapshot that the flags and the last argument name.
func (f compactFlags) read(ctx context.Context, args []string) (ledger.Snapshot, error) {
	if err := f.check(args); err != nil {
		return ledger.Snapshot{}, err
	}
	if *f.remote != "" {
		return f.snapshot(ctx)
	}
	return ledger.SnapshotFolder(args[0])
}

// noCommit stands for the base commit of a folder.
var noCommit = strings.Repeat("0", 40)

var compactPlanCommand = command{"compact plan", "[--json] DIR", "print the plan that maintenance would make; writes nothing",
	func(flags *flag.FlagSet) func(context.Context, streams, []string) error {
		f := declareCompact(flags)
		trigger := flags.String("trigger", "", "scheduled or requested (default scheduled)")
		base := flags.String("base-commit", "", "the `COMMIT` that the plan names (default: the branch's head)")
		asJSON := flags.Bool("json", false, "print the plan itself, or null when there is nothing to do")
		return func(ctx context.Context, s streams, args []string) error {
			config, err := f.config()
			if err != nil {
				return err
			}
			now, err := f.now()
			if err != nil {
				return err
			}
			why, err := compaction.ParseTrigger(*trigger)
			if err != nil {
				return usageError{err}
			}
			snap, err := f.read(ctx, args)
			if err != nil {
				return err
			}
			commit := *base
			if commit == "" {
				if commit = snap.Head; commit == "" {
					commit = noCommit
				}
			}
			inventory, err := compaction.Load(snap, config)
			if err != nil {
				return err
			}
			selection := inventory.Select()
			var plan *compaction.Plan
			if len(selection.Sources) > 0 {
				if plan, err = inventory.Plan(selection.Sources, why, commit, now); err != nil {
					return err
				}
			}
			for _, skipped := range inventory.Skipped() {
				fmt.Fprintf(s.err, "left alone: %s: %s\n", skipped.ID, skipped.Reason)
			}
			switch {
			case *asJSON && plan == nil:
				fmt.Fprintln(s.out, "null")
			case *asJSON:
				_, err = s.out.Write(plan.Text())
			case plan == nil:
				fmt.Fprintf(s.out, "nothing to compact: %s\n", selection.Reason)
			default:
				into := plan.Replacement()
				fmt.Fprintf(s.out, "plan %s\n%d segments become %s: %d records, %d bytes\n", plan.ID(), len(plan.Sources()), into.Segment, len(into.Records), into.Bytes)
			}
			return err
		}
	}}

// verdict is what becomes of a plan.
type verdict struct {
	Status compaction.Status `json:"status"`
	Reason string            `json:"reason"`
}

var compactCheckCommand = command{"compact check", "--plan FILE [--json] DIR", "say what applying a plan would come to; writes nothing",
	func(flags *flag.FlagSet) func(context.Context, streams, []string) error {
		f := declareCompact(flags)
		file := flags.String("plan", "", "the plan `FILE`")
		asJSON := flags.Bool("json", false, "print one JSON value")
		return func(ctx context.Context, s streams, args []string) error {
			if *file == "" {
				return usagef("which plan? give --plan")
			}
			config, err := f.config()
			if err != nil {
				return err
			}
			now, err := f.now()
			if err != nil {
				return err
			}
			plan, err := readPlan(*file, config)
			v := verdict{}
			var rejected *compaction.RejectedError
			switch {
			case errors.As(err, &rejected):
				v = verdict{compaction.Rejected, err.Error()}
			case err != nil:
				return err
			default:
				snap, err := f.read(ctx, args)
				if err != nil {
					return err
				}
				result, err := compaction.Prepare(plan, snap, config, now)
				if err != nil {
					return err
				}
				v = verdict{result.Status, result.Reason}
			}
			if *asJSON {
				err = printJSON(s.out, v)
			} else {
				_, err = fmt.Fprintf(s.out, "%s: %s\n", v.Status, v.Reason)
			}
			if err == nil && v.Status == compaction.Rejected {
				err = errSilent
			}
			return err
		}
	}}

// readPlan reads a plan file that anyone may have written.
func readPlan(file string, config compaction.Config) (*compaction.Plan, error) {
	text, err := regular.ReadFile(file, compaction.MaxPlanBytes)
	if err != nil {
		return nil, fmt.Errorf("failed to read the plan: %w", err)
	}
	return compaction.ParsePlan(text, config)
}
