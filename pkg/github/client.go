package github

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/google/go-github/v66/github"
)

// Options of a Client. ServerURL and APIURL are needed.
type Options struct {
	// ServerURL, APIURL and GraphQLURL are the server's addresses; see the package
	// comment. GraphQLURL may be empty.
	ServerURL, APIURL, GraphQLURL string
	// Token is sent with each request; "" for none.
	Token string
	// ReadOnly says why the run's token can only read, whatever the workflow
	// grants ("" when it is not so): see [ReadOnlyRun]. It is asked when the server
	// refuses a permission; nil is never.
	ReadOnly func() string
	// Transport carries the requests; nil is one with the system's certificates and
	// the environment's proxy. It must not follow redirects.
	Transport http.RoundTripper
	// Now is the clock that x-ratelimit-reset is read against; nil is time.Now.
	Now func() time.Time
	// Sleep waits and ends early, with the context's error, when the context does;
	// nil is a real wait.
	Sleep func(context.Context, time.Duration) error
	// Random is a number in [0, 1) for the random part of a wait; nil is math/rand.
	Random func() float64
	// Budget is asked before every request that is sent, repeated ones included; its
	// error ends the call and is returned as it is. nil is no bound.
	Budget func(context.Context) error
	// Waiting is told of each wait for a rate limit before it begins.
	Waiting func(time.Duration, *Error)
}

// Client speaks to one server. Several goroutines may use it.
type Client struct {
	opts Options
	at   *address
	form *github.Client // builds requests
	// wire sends them: a transport, not an http.Client, because that would look for
	// redirects, cookies and what else the web needs.
	wire *guard

	mu     sync.Mutex
	waited time.Duration
}

// New checks the addresses and the token; nothing is sent. Errors are [ErrConfig].
func New(opts Options) (*Client, error) {
	at, err := parseAddress(opts.ServerURL, opts.APIURL, opts.GraphQLURL)
	if err != nil {
		return nil, err
	}
	if len(opts.Token) > maxTokenBytes || strings.ContainsFunc(opts.Token, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return nil, fmt.Errorf("%w: the token is not one line of printable ASCII without spaces", ErrConfig)
	}
	if opts.Transport == nil {
		opts.Transport = newTransport()
	}
	if opts.ReadOnly == nil {
		opts.ReadOnly = func() string { return "" }
	}
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Sleep == nil {
		opts.Sleep = sleep
	}
	if opts.Random == nil {
		opts.Random = rand.Float64
	}
	c := &Client{opts: opts, at: at, wire: &guard{next: opts.Transport, origins: at.origins, token: opts.Token}}
	c.form = github.NewClient(&http.Client{Transport: c.wire})
	c.form.BaseURL, c.form.UserAgent = at.api, "repo-memory-ledger"
	c.opts.Token = "" // it stands in the guard alone
	return c, nil
}

// FromEnv is New with the addresses and the kind of run of a workflow run's
// environment.
func FromEnv(getenv func(string) string, token string, opts Options) (*Client, error) {
	opts.ServerURL, opts.APIURL, opts.GraphQLURL = getenv("GITHUB_SERVER_URL"), getenv("GITHUB_API_URL"), getenv("GITHUB_GRAPHQL_URL")
	opts.Token = token
	if opts.ReadOnly == nil {
		opts.ReadOnly = func() string { return ReadOnlyRun(getenv) }
	}
	return New(opts)
}

// String names the server, so that printing a client shows no token.
func (c *Client) String() string { return "GitHub client of " + c.at.server }

// GoString is String.
func (c *Client) GoString() string { return c.String() }

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
