package main

import (
	"errors"
	"io/fs"
	"regexp"
	"strconv"
	"strings"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/regular"
	"github.com/repo-memory/ledger/pkg/thread"
)

// readConfig reads who the engine is, apart from its actor and the trigger.
func readConfig(a *action.Action) (thread.Config, error) {
	c := thread.DefaultConfig()
	c.CommandPrefix, c.TerminalMarker, c.AgentMarker = a.GetInput("command-prefix"), a.GetInput("terminal-marker"), a.GetInput("agent-marker")
	c.Notices, c.BotAccounts = a.ListInput("notices"), a.ListInput("bot-accounts")
	if text := a.GetInput("comment-ids"); text == "none" {
		c.CommentIDs = []thread.Ref{}
	} else if text != "" {
		refs, err := thread.ParseRefs(text)
		if err != nil {
			return c, action.BadInput("comment-ids", "%v", err)
		}
		c.CommentIDs = refs
	}
	return c, badConfig(c.Check())
}

// badConfig names the input that a setting came from.
func badConfig(err error) error {
	var bad *thread.ConfigError
	if errors.As(err, &bad) {
		return action.BadInput(bad.Setting, "%s", bad.Problem)
	}
	return err
}

var countForm = regexp.MustCompile(`^-?[0-9]{1,9}$`)

// readOptions reads how much is rendered.
func readOptions(a *action.Action) (o thread.Options, err error) {
	if text := a.GetInput("history-comment-count"); text != "" {
		if !countForm.MatchString(text) {
			return o, action.BadInput("history-comment-count", "got %s; want a whole number, or nothing for the whole flow", action.Quote(text, 80))
		}
		o.HistoryCount, _ = strconv.Atoi(text)
	}
	if o.Pinned, err = thread.ParseRefs(a.GetInput("pinned-comments")); err != nil {
		return o, action.BadInput("pinned-comments", "%v", err)
	}
	o.TokenBudget = a.IntInput("token-budget")
	return o, badConfig(o.Check())
}

// readStep reads the step whose inputs are recorded; nil is none.
func readStep(a *action.Action, secrets thread.Secrets) (*thread.Step, error) {
	text, input := a.GetInput("inputs"), "inputs"
	if file := a.GetInput("inputs-file"); file != "" {
		if text != "" {
			return nil, action.BadInput("inputs-file", "given beside inputs; give one of them")
		}
		input = "inputs-file"
		content, err := regular.ReadFile(file, thread.MaxInputsBytes)
		if err != nil {
			return nil, action.BadInput(input, "cannot be read, or has over %d bytes: %s", thread.MaxInputsBytes, why(err))
		}
		text = string(content)
	}
	step := a.GetInput("step")
	if step == "" {
		if strings.TrimSpace(text) != "" || a.GetInput("agent") != "" {
			return nil, action.BadInput("step", "empty, and inputs or an agent are given; name the step that they are of")
		}
		return nil, nil
	}
	inputs, err := thread.ParseStepInputs([]byte(text), secrets)
	if err != nil {
		return nil, action.BadInput(input, "%v", err)
	}
	c, err := a.Context()
	if err != nil {
		return nil, err
	}
	s := &thread.Step{Step: step, Agent: a.GetInput("agent"), Attempt: int(c.RunAttempt), Inputs: inputs}
	if c.RunID != 0 {
		s.Run = strconv.FormatInt(c.RunID, 10)
	}
	return s, nil
}

// readBase reads the earlier state; the zero state without one.
func readBase(a *action.Action) (s thread.WorkflowState, err error) {
	file := a.GetInput("base-state")
	if file == "" {
		return s, nil
	}
	content, err := regular.ReadFile(file, thread.MaxStateBytes)
	if err != nil {
		return s, action.BadInput("base-state", "cannot be read, or has over %d bytes: %s", thread.MaxStateBytes, why(err))
	}
	if s, err = thread.ParseState(content); err != nil {
		return s, action.BadInput("base-state", "%v", err)
	}
	return s, nil
}

// why is the cause of a failed read, which names no path.
func why(err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return "it does not exist"
	}
	return err.Error()
}
