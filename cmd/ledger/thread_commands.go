package main

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/regular"
	"github.com/repo-memory/ledger/pkg/thread"
)

var threadShowCommand = command{"thread show", "[--from FILE] DIR", "print who said what in a thread, its kind, and why it is trusted or not",
	func(flags *flag.FlagSet) func(context.Context, streams, []string) error {
		src := threadFlags(flags)
		return func(ctx context.Context, s streams, args []string) error {
			t, err := src.open(ctx, args, false)
			if err != nil {
				return err
			}
			defer t.ledger.Close()
			records := t.fold.Records
			if t.r != nil {
				records = t.r.Records
			}
			for _, r := range records {
				fmt.Fprintf(s.out, "%s %s by %s (%s), %s: %s\n", r.Kind, r.Ref(), who(r), orDash(r.AuthorAssociation), r.CreatedAt, trustOf(t, r))
			}
			for _, step := range t.fold.Steps {
				fmt.Fprintf(s.out, "step %s of run %s: %d inputs\n", action.Quote(step.Step, 200), orDash(step.Run), len(step.Inputs))
			}
			for _, i := range t.fold.Ignored {
				fmt.Fprintf(s.out, "ignored %s: %s\n", i.SHA, i.Reason)
			}
			if n := t.fold.IgnoredCount - len(t.fold.Ignored); n > 0 {
				fmt.Fprintf(s.out, "ignored %d more\n", n)
			}
			warn(s, t)
			return nil
		}
	}}

// who names an account, in text that a stranger may have chosen.
func who(r thread.Record) string {
	if r.UserID == 0 && r.UserLogin == "" {
		return "a deleted account"
	}
	return action.Quote(r.UserLogin, 200) + " " + strconv.FormatInt(r.UserID, 10)
}

func trustOf(t *seen, r thread.Record) string {
	switch {
	case t.r == nil && r.Deleted:
		return string(thread.ReasonVanished)
	case t.r == nil:
		return "recorded; give --from and --trigger to see whether it is trusted"
	case r.Trusted:
		return "trusted"
	}
	return "unverified, " + string(t.r.Reason(r.Ref()))
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return action.Quote(text, 200)
}

func warn(s streams, t *seen) {
	if t.r != nil {
		for _, warning := range t.r.Warnings {
			fmt.Fprintf(s.err, "ledger thread: warning: %s\n", warning)
		}
	}
}

var threadRenderCommand = command{"thread render", "--from FILE DIR", "print the context that an agent is given",
	func(flags *flag.FlagSet) func(context.Context, streams, []string) error {
		src := threadFlags(flags)
		count := flags.Int("history-comment-count", 0, "how many of the newest relevant items are shown in full; 0 is all")
		pinned := flags.String("pinned-comments", "", "`IDS` of comments that are shown besides")
		budget := flags.Int("token-budget", 0, fmt.Sprintf("most tokens, %d to %d (default the most)", thread.MinTokens, thread.MaxTokens))
		return func(ctx context.Context, s streams, args []string) error {
			refs, err := thread.ParseRefs(*pinned)
			if err != nil {
				return usagef("--pinned-comments %w", err)
			}
			options := thread.Options{HistoryCount: *count, Pinned: refs, TokenBudget: *budget}
			if err := options.Check(); err != nil {
				return usageError{fmt.Errorf("--%w", err)}
			}
			t, err := src.open(ctx, args, true)
			if err != nil {
				return err
			}
			defer t.ledger.Close()
			out, err := t.r.Render(options)
			if err != nil {
				return err
			}
			warn(s, t)
			_, err = fmt.Fprint(s.out, out.Text)
			return err
		}
	}}

var threadExportCommand = command{"thread export", "[--from FILE] DIR", "print the workflow state of a thread as JSON",
	func(flags *flag.FlagSet) func(context.Context, streams, []string) error {
		src := threadFlags(flags)
		return func(ctx context.Context, s streams, args []string) error {
			t, err := src.open(ctx, args, false)
			if err != nil {
				return err
			}
			defer t.ledger.Close()
			var state thread.WorkflowState
			if t.r != nil {
				state = t.r.State(t.fold, thread.WorkflowState{})
			} else {
				var history []thread.HistoryEntry
				for _, step := range t.fold.Steps {
					history = append(history, step.Entry())
				}
				state = thread.BuildState(thread.WorkflowState{}, history, t.fold.Records)
			}
			text, err := thread.FormatState(state)
			if err != nil {
				return err
			}
			warn(s, t)
			_, err = s.out.Write(text)
			return err
		}
	}}

var threadReconcileCommand = command{"thread reconcile", "--from FILE [--staged NEW-DIR] DIR", "print what a listing adds to the ledger, one record a line, or stage it",
	func(flags *flag.FlagSet) func(context.Context, streams, []string) error {
		src := threadFlags(flags)
		staged := flags.String("staged", "", "`FOLDER` to be made, with the records for persist; their digest is printed")
		return func(ctx context.Context, s streams, args []string) error {
			t, err := src.open(ctx, args, true)
			if err != nil {
				return err
			}
			defer t.ledger.Close()
			entries, err := t.r.Entries()
			if err != nil {
				return err
			}
			warn(s, t)
			if *staged == "" {
				for _, e := range entries {
					fmt.Fprintf(s.out, "%s %s\n", e.Type, e.Payload)
				}
				return nil
			}
			staging, err := thread.Stage(t.ledger, entries, time.Now(), rand.Reader)
			if err != nil {
				return err
			}
			if err := writeStaging(*staged, staging); err != nil {
				return err
			}
			_, err = fmt.Fprintln(s.out, staging.Digest)
			return err
		}
	}}

// writeStaging makes a folder that did not exist.
func writeStaging(dir string, s *thread.Staging) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return fmt.Errorf("the folder of the staging cannot be made: %w", regular.Cause(err))
	}
	for path, content := range s.Files {
		file := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return fmt.Errorf("the staging cannot be written: %w", regular.Cause(err))
		}
		if err := os.WriteFile(file, content, 0o644); err != nil {
			return fmt.Errorf("the staging cannot be written: %w", regular.Cause(err))
		}
	}
	return nil
}
