package publish

import (
	"errors"
	"fmt"

	"github.com/repo-memory/ledger/pkg/branch"
	"github.com/repo-memory/ledger/pkg/github"
)

// Mode chooses the way.
type Mode string

const (
	// Auto is the API where the remote is a repository of the run's own GitHub
	// server, and there are a token and an API of it; else git.
	Auto Mode = "auto"
	// API is the API and nothing else.
	API Mode = "api"
	// Git is a git push and nothing else.
	Git Mode = "git"
)

// Modes are all of them, the default first.
var Modes = []string{string(Auto), string(API), string(Git)}

// Choose returns the options with the way that mode asks for, given the
// environment of a run (GITHUB_SERVER_URL, GITHUB_API_URL, GITHUB_GRAPHQL_URL) and
// the remote with its token. Nothing is sent. Errors, [ErrRemote], say what keeps
// [API] from being possible; with [Auto] an API that is not the remote's own
// server's is not used, and no error.
func (o Options) Choose(mode Mode, remote branch.Remote, getenv func(string) string, client github.Options) (Options, error) {
	o.Publish = mode
	if mode == Git {
		return o, nil
	}
	if client.Transport == nil {
		client.Transport = remote.Transport
	}
	c, err := github.FromEnv(getenv, remote.Token, client)
	if err == nil {
		_, known := c.Repository(remote.URL)
		switch {
		case !known:
			err = errors.New("the remote is not the URL of a repository on the server of GITHUB_SERVER_URL")
		case remote.Token == "":
			err = errors.New("there is no token")
		case !c.IsGitHub():
			err = errors.New("GITHUB_API_URL is not the address of a GitHub API")
		}
	}
	switch {
	case err == nil:
		o.GitHub = c
	case mode == API:
		return o, fmt.Errorf("%w: publish is api, and %w: use publish: auto or git", ErrRemote, err)
	}
	return o, nil
}

// wayTo makes the way of an Update.
func (o Options) wayTo(remote branch.Remote, name string) (way, error) {
	push := &push{remote: remote, name: name, now: o.Now}
	if o.Publish == Git || o.GitHub == nil && o.Publish != API {
		return push, nil
	}
	w := &api{client: o.GitHub, name: name, opts: o}
	if o.Publish != API {
		w.push = push
	}
	if o.GitHub != nil {
		var known bool
		if w.repository, known = o.GitHub.Repository(remote.URL); known {
			return w, nil
		}
	}
	if o.Publish == API {
		return nil, fmt.Errorf("%w: it is not a repository on the server whose API is to be used", ErrRemote)
	}
	return push, nil
}
