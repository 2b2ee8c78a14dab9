package publish

import (
	"time"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/branch"
	"github.com/repo-memory/ledger/pkg/github"
)

// FromInputs reads where a role publishes and how, from its inputs remote, token
// and publish and from the run's environment. A wait that the server asks for
// becomes a notice. Errors are bad input.
func FromInputs(a *action.Action) (branch.Remote, Options, error) {
	remote, err := branch.ParseRemote(a.GetInput("remote"), a.GetInput("token"), a.Getenv("GITHUB_SERVER_URL"))
	if err != nil {
		return branch.Remote{}, Options{}, action.BadInput("remote", "%v", err)
	}
	waiting := func(d time.Duration, why *github.Error) {
		a.Noticef("waiting %v: %v", d.Round(time.Second), why)
	}
	options, err := (Options{}).Choose(Mode(a.GetInput("publish")), remote, a.Getenv, github.Options{Waiting: waiting})
	if err != nil {
		return branch.Remote{}, Options{}, action.BadInput("publish", "%v", err)
	}
	return remote, options, nil
}
