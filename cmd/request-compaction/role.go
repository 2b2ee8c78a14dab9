package main

import (
	"regexp"
	"strings"

	"github.com/repo-memory/ledger/pkg/action"
)

var role = action.Role{
	Name:    "request-compaction",
	Summary: "start maintenance for the ledgers that an agent asks to have compacted.",
	Trusted: true,
	Inputs: []action.Input{
		{Name: "safe-output", Kind: action.Path, Empty: "GH_AW_AGENT_OUTPUT, and nothing is requested where that is not set",
			Help:    "The safe-output file, one JSON entry a line, or the agent output, a JSON document with items.",
			Derived: func(a *action.Action) (string, error) { return a.Getenv("GH_AW_AGENT_OUTPUT"), nil }},
		{Name: "ledgers", Kind: action.List, Default: "memory", Empty: action.EmptyIsDefault,
			Help: "Names of the ledgers that may be asked for; with one, an entry need not name it."},
		{Name: "workflow", Default: "ledger-maintenance.yml", Empty: action.EmptyIsDefault,
			Help: "File name of the maintenance workflow in .github/workflows of the default branch."},
		{Name: "max", Kind: action.Int, Min: 1, Max: maxDispatches, Default: "1",
			Help: "Most ledgers that one run may ask for."},
		{Name: "token", Kind: action.Secret, Default: "${{ github.token }}", Empty: "no token; an error when there is something to request",
			Help: "Token that starts the workflow; it is sent only to the API of GITHUB_SERVER_URL."},
	},
	Outputs: []action.Output{
		{Name: "requested", Help: "Number of ledgers that maintenance was started for."},
		{Name: "ledgers", Help: "Names of these ledgers, between commas."},
		{Name: "rejected", Help: "Number of entries that were rejected."},
	},
}

var (
	ledgerForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)
	// workflowForm has no slash and no leading dot: it names a file, and no path. A
	// file name has at most 255 bytes.
	workflowForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,249}\.(yml|yaml)$`)
)

// config is what the workflow's author allows.
type config struct {
	ledgers  []string
	workflow string
	max      int
}

func readConfig(a *action.Action) (config, error) {
	c := config{workflow: a.GetInput("workflow"), max: a.IntInput("max")}
	if !workflowForm.MatchString(c.workflow) {
		return c, action.BadInput("workflow", "got %s; want the name of a .yml or .yaml file in .github/workflows, without a path", action.Quote(c.workflow, 80))
	}
	seen := map[string]bool{}
	for _, name := range a.ListInput("ledgers") {
		if !ledgerForm.MatchString(name) {
			return c, action.BadInput("ledgers", "item %s is no name of a ledger; want %s", action.Quote(name, 80), action.Ledger)
		}
		if seen[strings.ToLower(name)] {
			return c, action.BadInput("ledgers", "item %s is there twice; remove one", action.Quote(name, 80))
		}
		seen[strings.ToLower(name)] = true
		c.ledgers = append(c.ledgers, name)
	}
	return c, nil
}
