package publish

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/branch"
	"github.com/repo-memory/ledger/pkg/github"
)

func TestTheWayIsChosenByTheRemoteAndTheRun(t *testing.T) {
	hub := map[string]string{"GITHUB_SERVER_URL": "https://github.com", "GITHUB_API_URL": "https://api.github.com", "GITHUB_GRAPHQL_URL": "https://api.github.com/graphql"}
	enterprise := map[string]string{"GITHUB_SERVER_URL": "https://git.example:8443", "GITHUB_API_URL": "https://git.example:8443/api/v3"}
	residency := map[string]string{"GITHUB_SERVER_URL": "https://octo.ghe.com", "GITHUB_API_URL": "https://api.octo.ghe.com"}
	forgejo := map[string]string{"GITHUB_SERVER_URL": "https://forge.example", "GITHUB_API_URL": "https://forge.example/api/v1"}
	foreign := map[string]string{"GITHUB_SERVER_URL": "https://forge.example", "GITHUB_API_URL": "https://api.github.com"}
	for name, c := range map[string]struct {
		env    map[string]string
		remote string
		token  string
		auto   string // the way that auto takes
		api    string // what keeps api from being possible, "" when nothing does
	}{
		"github.com":                     {hub, "https://github.com/octo/repo", "t", "api", ""},
		"its address with .git":          {hub, "https://github.com/octo/repo.git", "t", "api", ""},
		"another repository there":       {hub, "https://github.com/other/one", "t", "api", ""},
		"Enterprise Server":              {enterprise, "https://git.example:8443/octo/repo", "t", "api", ""},
		"data residency":                 {residency, "https://octo.ghe.com/octo/repo", "t", "api", ""},
		"no token":                       {hub, "https://github.com/octo/repo", "", "git", "no token"},
		"another host":                   {hub, "https://gitlab.example/octo/repo", "t", "git", "not the URL of a repository"},
		"another port":                   {hub, "https://github.com:8443/octo/repo", "t", "git", "not the URL of a repository"},
		"a longer path":                  {hub, "https://github.com/octo/repo/more", "t", "git", "not the URL of a repository"},
		"a path":                         {hub, "/srv/git/octo/repo.git", "t", "git", "not the URL of a repository"},
		"no run":                         {nil, "https://github.com/octo/repo", "t", "git", "GITHUB_SERVER_URL is not set"},
		"a run without an API":           {map[string]string{"GITHUB_SERVER_URL": "https://github.com"}, "https://github.com/octo/repo", "t", "git", "GITHUB_API_URL is not set"},
		"a server that is no GitHub":     {forgejo, "https://forge.example/octo/repo", "t", "git", "not the address of a GitHub API"},
		"the API of another server":      {foreign, "https://forge.example/octo/repo", "t", "git", "does not belong to"},
		"a name that is no repository's": {hub, "https://github.com/octo/..%2f", "t", "git", "not the URL of a repository"},
	} {
		t.Run(name, func(t *testing.T) {
			remote, err := branch.ParseRemote(c.remote, c.token, c.env["GITHUB_SERVER_URL"])
			if err != nil {
				t.Fatal(err)
			}
			getenv := func(name string) string { return c.env[name] }
			for mode, want := range map[Mode]string{Auto: c.auto, Git: "git", API: "api"} {
				o, err := (Options{}).Choose(mode, remote, getenv, github.Options{})
				if mode == API && c.api != "" {
					if !errors.Is(err, ErrRemote) || !strings.Contains(err.Error(), c.api) || !strings.Contains(err.Error(), "use publish: auto or git") {
						t.Errorf("got %v", err)
					}
					continue
				}
				if err != nil {
					t.Fatal(mode, err)
				}
				way, err := o.wayTo(remote, testName)
				if err != nil {
					t.Fatal(mode, err)
				}
				got := "git"
				if a, ok := way.(*api); ok {
					got = "api"
					if (a.push != nil) != (mode == Auto) {
						t.Errorf("%s: may push: %v", mode, a.push != nil)
					}
				}
				if got != want {
					t.Errorf("%s takes %s, want %s", mode, got, want)
				}
			}
		})
	}
}

func TestTheAPIAloneNeedsAClient(t *testing.T) {
	r := newRepo(t)
	if _, err := Update(context.Background(), r.remote(), testName, Options{Publish: API}, add("a", "a")); !errors.Is(err, ErrRemote) {
		t.Errorf("got %v", err)
	}
}
