package github

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
)

// address is where a server and its API stand.
type address struct {
	server  string          // origin
	api     *url.URL        // with a slash at its end
	graphql string          // relative to api, or absolute
	origins map[string]bool // all that the token may go to
}

func parseAddress(server, api, graphql string) (*address, error) {
	s, err := parseURL("GITHUB_SERVER_URL", server)
	if err != nil {
		return nil, err
	}
	if strings.Trim(s.Path, "/") != "" {
		return nil, fmt.Errorf("%w: GITHUB_SERVER_URL must be https://HOST", ErrConfig)
	}
	sub := *s
	sub.Host = "api." + s.Host
	a := &address{server: originOf(s), origins: map[string]bool{originOf(s): true, originOf(&sub): true}, graphql: "../graphql"}
	if a.api, err = a.own("GITHUB_API_URL", api); err != nil {
		return nil, err
	}
	a.api.Path = strings.TrimRight(a.api.Path, "/") + "/"
	if graphql != "" {
		u, err := a.own("GITHUB_GRAPHQL_URL", graphql)
		if err != nil {
			return nil, err
		}
		a.graphql = u.String()
	}
	return a, nil
}

// own parses an address that must be one of the server's.
func (a *address) own(name, text string) (*url.URL, error) {
	u, err := parseURL(name, text)
	if err != nil {
		return nil, err
	}
	if !a.origins[originOf(u)] {
		return nil, fmt.Errorf("%w: %s is on the host %s, which does not belong to GITHUB_SERVER_URL (its own host, or api. before it): the token would go to a stranger", ErrConfig, name, quote(u.Hostname(), 200))
	}
	return u, nil
}

func parseURL(name, text string) (*url.URL, error) {
	bad := func(why string) (*url.URL, error) {
		return nil, fmt.Errorf("%w: %s %s", ErrConfig, name, why)
	}
	if text == "" {
		return bad("is not set")
	}
	if len(text) > maxURLBytes {
		return bad(fmt.Sprintf("is longer than %d bytes", maxURLBytes))
	}
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Hostname() == "", u.Opaque != "":
		return bad("is not a well-formed https:// URL")
	case u.User != nil:
		return bad("holds credentials: give the token by itself")
	case u.RawQuery != "" || u.ForceQuery || strings.Contains(text, "#"):
		return bad("holds a query or a fragment")
	case strings.EqualFold(u.Scheme, "https"):
	case strings.EqualFold(u.Scheme, "http"):
		if !loopback(u.Hostname()) {
			return bad("is http, which is used to a loopback address only: use https")
		}
	default:
		return bad("is not an https:// URL")
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	return u, nil
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// originOf is scheme, host and port in one spelling.
func originOf(u *url.URL) string {
	scheme, port := strings.ToLower(u.Scheme), u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[scheme]
	}
	return scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

// repositoryForm is OWNER/NAME in GitHub's alphabet.
var repositoryForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,99}/[A-Za-z0-9._-]{1,100}$`)

// CheckRepository reports an error unless name is OWNER/NAME, in GitHub's
// alphabet and neither part a dot name.
func CheckRepository(name string) error {
	_, last, _ := strings.Cut(name, "/")
	if !repositoryForm.MatchString(name) || last == "." || last == ".." {
		return fmt.Errorf("%w: %s is not OWNER/NAME of a repository", ErrConfig, quote(name, 200))
	}
	return nil
}

// Repository returns OWNER/NAME when a remote's URL is that of a repository on
// the client's server.
func (c *Client) Repository(remote string) (string, bool) {
	u, err := url.Parse(remote)
	if err != nil || u.User != nil || u.RawQuery != "" || u.RawPath != "" || originOf(u) != c.at.server {
		return "", false
	}
	name := strings.TrimSuffix(strings.Trim(u.Path, "/"), ".git")
	return name, CheckRepository(name) == nil
}

// IsGitHub tells whether the API's address has the form of GitHub's: other
// servers that run such workflows have REST APIs under other paths, and no GraphQL.
func (c *Client) IsGitHub() bool {
	return c.at.api.Path == "/" || c.at.api.Path == "/api/v3/"
}
