package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strconv"
	"strings"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/github"
	"github.com/repo-memory/ledger/pkg/safeoutput"
)

// run does the whole job; transport is nil but in tests.
func run(ctx context.Context, a *action.Action, transport http.RoundTripper) error {
	c, err := readConfig(a)
	if err != nil {
		return err
	}
	var chosen choice
	if file := a.GetInput("safe-output"); file != "" {
		data, err := safeoutput.Read(file)
		if errors.Is(err, fs.ErrNotExist) {
			a.Noticef("there is no safe-output file: the agent made none, or its artifact was not downloaded")
		} else if err != nil {
			return fmt.Errorf("the safe-output file cannot be read: %w", err)
		}
		chosen = choose(data, c)
	} else {
		a.Noticef("no safe-output file is configured; nothing is requested")
	}
	for i, r := range chosen.rejected {
		if i == action.MaxListed {
			a.Warningf("%d entries more were rejected", len(chosen.rejected)-i)
			break
		}
		a.Warningf("entry %d rejected: %s", r.entry, r.why)
	}
	var done []string
	if len(chosen.requests) > 0 {
		done, err = dispatch(ctx, a, transport, c, chosen.requests)
	}
	a.SetOutput("requested", strconv.Itoa(len(done)))
	a.SetOutput("ledgers", strings.Join(done, ","))
	a.SetOutput("rejected", strconv.Itoa(len(chosen.rejected)))
	a.AddStepSummary(summary(c, chosen, done, err))
	if err == nil {
		a.Infof("maintenance was started for %d ledgers, %d entries were rejected", len(done), len(chosen.rejected))
	}
	return err
}

// dispatch starts the workflow for each request, on the branch that the API calls
// the default one. It stops at the first that fails, and returns the ledgers for
// which it did not.
func dispatch(ctx context.Context, a *action.Action, transport http.RoundTripper, c config, requests []request) (done []string, err error) {
	repository := a.Getenv("GITHUB_REPOSITORY")
	if err := github.CheckRepository(repository); err != nil {
		return nil, errors.New("the run names no repository (GITHUB_REPOSITORY); run it in a workflow")
	}
	token := a.GetInput("token")
	if token == "" {
		return nil, action.BadInput("token", "empty; starting a workflow needs a token with actions: write")
	}
	client, err := github.FromEnv(a.Getenv, token, github.Options{Transport: transport})
	if err != nil {
		return nil, err
	}
	r, err := client.GetRepository(ctx, repository)
	if err != nil {
		return nil, fmt.Errorf("the default branch cannot be read: %w", err)
	}
	for _, one := range requests {
		inputs := map[string]string{"operation": "compact_ledger", "ledger": one.ledger}
		for try := 1; ; try++ {
			err = client.DispatchWorkflow(ctx, repository, c.workflow, "refs/heads/"+r.DefaultBranch, inputs)
			// Twice is harmless; see the package comment.
			if err == nil || !github.Unclear(err) || try == maxTries {
				break
			}
			a.Noticef("it is unclear whether %s was started; trying again", c.workflow)
		}
		switch {
		case errors.Is(err, github.ErrNotFound):
			return done, fmt.Errorf("%s was not started: %w; check the input workflow: the file must be on the default branch", c.workflow, err)
		case errors.Is(err, github.ErrInvalid):
			return done, fmt.Errorf("%s was not started: %w; it needs on: workflow_dispatch with the inputs operation and ledger", c.workflow, err)
		case err != nil:
			return done, fmt.Errorf("%s was not started: %w", c.workflow, err)
		}
		done = append(done, one.ledger)
	}
	return done, nil
}

// summary is the report. What the agent chose, its reasons, is escaped.
func summary(c config, chosen choice, done []string, err error) string {
	var s *action.Summary
	switch {
	case err != nil:
		s = action.NewSummary("request-compaction: failed, %d of %d ledgers requested", len(done), len(chosen.requests))
	case len(done) == 0:
		s = action.NewSummary("request-compaction: nothing requested")
	default:
		s = action.NewSummary("request-compaction: maintenance started for %d ledgers", len(done))
	}
	s.Table([]string{"", ""},
		[]any{action.Markdown("workflow"), c.workflow},
		[]any{action.Markdown("rejected"), len(chosen.rejected)},
		[]any{action.Markdown("repeated"), chosen.repeated},
		[]any{action.Markdown("other entries"), chosen.other})
	var rows [][]any
	for i, r := range chosen.requests {
		outcome := action.Markdown("not started")
		if i < len(done) {
			outcome = "started"
		}
		reason := any(action.Markdown("none given"))
		if r.reason != "" {
			reason = r.reason
		}
		rows = append(rows, []any{r.ledger, outcome, r.entry, reason})
	}
	s.List("Requests", "%s: %s; entry %d, the agent's reason: %s", rows...)
	rows = nil
	for _, r := range chosen.rejected {
		rows = append(rows, []any{r.entry, action.Markdown(r.why)})
	}
	s.List("Rejected", "entry %d: %s", rows...)
	return s.String()
}
