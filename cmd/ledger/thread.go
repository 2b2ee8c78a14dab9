package main

import (
	"context"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/listing"
	"github.com/repo-memory/ledger/pkg/regular"
	"github.com/repo-memory/ledger/pkg/thread"
)

// threadCommands are those of the thread ledger. They read a ledger and, where text
// or trust is asked for, a listing of the thread from a file; they reach no API.
func threadCommands() []command {
	return []command{threadShowCommand, threadRenderCommand, threadExportCommand, threadReconcileCommand}
}

// threadSource is a source with a thread in it, and the run that looks at it.
type threadSource struct {
	*source
	number, repository    *int64
	from                  *string
	trigger, at, engine   *string
	bots, ids, notices    *string
	prefix, end, agentish *string
}

func threadFlags(flags *flag.FlagSet) *threadSource {
	standard := thread.DefaultConfig()
	t := &threadSource{source: sourceFlags(flags),
		number:     flags.Int64("number", 0, "`NUMBER` of the issue or pull request (default: the one that there is)"),
		repository: flags.Int64("repository-id", 0, "numeric `ID` of its repository (default: the one that there is)"),
		from:       flags.String("from", "", "`FILE` with the thread as the API lists it: one JSON object of number, repository_id, complete, issue, comments, reviews, review_comments"),
		trigger:    flags.String("trigger", "", "`ACCOUNT` that triggered the run, by id or login; without one nobody is trusted"),
		at:         flags.String("trigger-time", "", "`TIME` of the trigger in UTC, such as 2026-03-01T12:00:00Z"),
		engine:     flags.String("engine-actor", "", "`ACCOUNT` that posts for the engine, by id or login"),
		bots:       flags.String("bot-accounts", strings.Join(standard.BotAccounts, ","), "logins of bot accounts whose markers count"),
		ids:        flags.String("comment-ids", "", "ids of the comments that the engine recorded; none is an empty list"),
		notices:    flags.String("notices", strings.Join(standard.Notices, ","), "names in the agent's marker that make engine output"),
		prefix:     flags.String("command-prefix", standard.CommandPrefix, "word that starts a command"),
		end:        flags.String("terminal-marker", standard.TerminalMarker, "line that starts engine output"),
		agentish:   flags.String("agent-marker", standard.AgentMarker, "line that starts agent output, with * for the name"),
	}
	name := flags.Lookup("ledger")
	name.DefValue = "threads"
	*t.name = "threads"
	return t
}

// seen is what a command works on.
type seen struct {
	ledger  *ledger.Ledger
	fold    *thread.Fold
	listing *thread.Listing        // nil without --from
	r       *thread.Reconciliation // nil without --from
}

// open folds the ledger, and reconciles it with the listing if there is one.
func (t *threadSource) open(ctx context.Context, args []string, needsListing bool) (*seen, error) {
	if needsListing && *t.from == "" {
		return nil, usagef("give the thread as the API lists it: --from FILE")
	}
	config, err := t.config()
	if err != nil {
		return nil, err
	}
	s := &seen{}
	if *t.from != "" {
		data, err := regular.ReadFile(*t.from, thread.MaxListingBytes)
		if err != nil {
			return nil, fmt.Errorf("failed to read the listing: %w", err)
		}
		if s.listing, err = thread.DecodeListing(data); err != nil {
			return nil, err
		}
	}
	if s.ledger, err = t.source.open(ctx, args); err != nil {
		return nil, err
	}
	which, err := t.choose(s)
	if err != nil {
		return nil, err
	}
	if s.fold, err = thread.FoldLedger(s.ledger, which); err != nil || s.listing == nil {
		return s, err
	}
	s.r, err = thread.Reconcile(s.fold, s.listing, config)
	return s, err
}

func (t *threadSource) config() (c thread.Config, err error) {
	c = thread.DefaultConfig()
	c.CommandPrefix, c.TerminalMarker, c.AgentMarker = *t.prefix, *t.end, *t.agentish
	c.BotAccounts, c.Notices = fields(*t.bots), fields(*t.notices)
	if *t.ids == "none" {
		c.CommentIDs = []thread.Ref{}
	} else if *t.ids != "" {
		if c.CommentIDs, err = thread.ParseRefs(*t.ids); err != nil {
			return c, usagef("--comment-ids %w", err)
		}
	}
	for _, f := range []struct {
		name, value string
		to          **thread.User
	}{{"trigger", *t.trigger, &c.Trigger.Author}, {"engine-actor", *t.engine, &c.Engine}} {
		if f.value == "" {
			continue
		}
		user, ok := listing.ParseActor(f.value)
		if !ok {
			return c, usagef("--%s must be an account's numeric id or its login", f.name)
		}
		*f.to = user
	}
	if *t.at != "" {
		var ok bool
		if c.Trigger.At, ok = thread.ParseTrigger(*t.at, time.Now()); !ok {
			return c, usagef("--trigger-time must be a time in UTC that is not in the future, such as 2026-03-01T12:00:00Z")
		}
	}
	if err := c.Check(); err != nil {
		return c, usageError{fmt.Errorf("--%w", err)}
	}
	return c, nil
}

func fields(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' })
}

// choose returns the thread that the flags name, or the listing, or the only one
// of the ledger.
func (t *threadSource) choose(s *seen) (thread.Thread, error) {
	if s.listing != nil {
		which := s.listing.Thread
		if *t.number != 0 && *t.number != which.Number || *t.repository != 0 && *t.repository != which.RepositoryID {
			return which, usagef("the listing is of thread %d in repository %d, another than the flags name", which.Number, which.RepositoryID)
		}
		return which, nil
	}
	var all []thread.Thread
	known := map[thread.Thread]bool{}
	for r := range s.ledger.Records() {
		var p struct {
			Thread thread.Thread `json:"thread"`
		}
		if !thread.IsType(r.Type()) || canonical.Decode(r.Payload(), &p, canonical.AllowUnknown) != nil || p.Thread.Check() != nil {
			continue
		}
		if known[p.Thread] || *t.number != 0 && *t.number != p.Thread.Number || *t.repository != 0 && *t.repository != p.Thread.RepositoryID {
			continue
		}
		known[p.Thread] = true
		all = append(all, p.Thread)
	}
	switch len(all) {
	case 1:
		return all[0], nil
	case 0:
		return thread.Thread{}, fmt.Errorf("the ledger has no such thread")
	}
	var names []string
	for _, one := range all[:min(len(all), 20)] {
		names = append(names, strconv.FormatInt(one.RepositoryID, 10)+"/"+strconv.FormatInt(one.Number, 10))
	}
	return thread.Thread{}, usagef("the ledger has %d threads, give --number and --repository-id: %s", len(all), strings.Join(names, " "))
}
