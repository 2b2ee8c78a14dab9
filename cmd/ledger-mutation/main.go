// Command ledger-mutation reports what an agent says that it appended: it reads
// the ledger_mutation entries of the run's safe output and prints their hashes and
// identifiers. It does nothing else. The entries are claims; what was appended is
// decided by the records that the persistence job admits (specification, sections
// 3 and 5.2).
package main

import (
	"context"
	"errors"
	"io/fs"
	"strconv"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/txlog"
)

var role = action.Role{
	Name:    "ledger-mutation",
	Summary: "report the ledger_mutation entries of the safe output; changes nothing.",
	Trusted: true,
	Inputs: []action.Input{
		{Name: "safe-output", Kind: action.Path, Empty: "GH_AW_AGENT_OUTPUT, and nothing is reported where that is not set",
			Help:    "The safe-output file, one JSON entry a line, or the agent output, a JSON document with items.",
			Derived: func(a *action.Action) (string, error) { return a.Getenv("GH_AW_AGENT_OUTPUT"), nil }},
	},
	Outputs: []action.Output{
		{Name: "events", Help: "Number of records that the entries claim."},
		{Name: "dropped", Help: "Number of ledger_mutation entries that are malformed or too many."},
	},
}

func main() { action.Main(role, run) }

func run(_ context.Context, a *action.Action) error {
	var listing txlog.Listing
	if file := a.GetInput("safe-output"); file != "" {
		var err error
		listing, err = txlog.Read(file)
		if errors.Is(err, fs.ErrNotExist) {
			a.Noticef("there is no safe-output file: the agent made none, or its artifact was not downloaded")
		} else if err != nil {
			return err
		}
	} else {
		a.Noticef("no safe-output file is configured; nothing to report")
	}
	dropped := listing.Dropped
	if dropped > 0 {
		a.Warningf("%d ledger_mutation entries are malformed or too many and were left out", dropped)
	}
	if listing.Conflicts > 0 {
		a.Warningf("%d events name an id under two digests", listing.Conflicts)
	}
	a.SetOutput("events", strconv.Itoa(len(listing.Events)))
	a.SetOutput("dropped", strconv.Itoa(dropped))
	a.Infof("the agent claims %d appended records", len(listing.Events))
	a.AddStepSummary(summary(listing))
	return nil
}

// summary is the report. Everything in it that a stranger chose is escaped.
func summary(l txlog.Listing) string {
	s := action.NewSummary("ledger-mutation: the agent claims %d appended records", len(l.Events))
	s.Line("Claims, not facts: the persistence job says what was admitted.")
	s.Table([]string{"", ""},
		[]any{action.Markdown("claimed records"), len(l.Events)},
		[]any{action.Markdown("repeated"), l.Duplicate},
		[]any{action.Markdown("dropped"), l.Dropped},
		[]any{action.Markdown("ids with two digests"), l.Conflicts},
		[]any{action.Markdown("other entries"), l.Other})
	types := [][]any{}
	for _, t := range l.Types() {
		types = append(types, []any{t.Type, t.N})
	}
	s.List("Types", "%s: %d", types...)
	events := [][]any{}
	for _, e := range l.Events {
		events = append(events, []any{e.ID, e.Type, e.SHA, e.PayloadSHA, len(e.Parents)})
	}
	s.List("Events", "%s of type %s: record %s, payload %s, %d parents", events...)
	return s.String()
}
