package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestTheThreeKindsOfServersAreReached(t *testing.T) {
	for name, c := range map[string]struct{ server, api, graphql, wantREST, wantGraphQL string }{
		"github.com":        {"https://github.com", "https://api.github.com", "https://api.github.com/graphql", "https://api.github.com/repos/octo/repo", "https://api.github.com/graphql"},
		"without GraphQL":   {"https://github.com", "https://api.github.com", "", "https://api.github.com/repos/octo/repo", "https://api.github.com/graphql"},
		"data residency":    {"https://octo.ghe.com", "https://api.octo.ghe.com/", "", "https://api.octo.ghe.com/repos/octo/repo", "https://api.octo.ghe.com/graphql"},
		"Enterprise Server": {"https://git.example", "https://git.example/api/v3", "", "https://git.example/api/v3/repos/octo/repo", "https://git.example/api/graphql"},
		"its own address":   {"https://git.example:8443/", "https://git.example:8443/api/v3/", "https://git.example:8443/api/graphql", "https://git.example:8443/api/v3/repos/octo/repo", "https://git.example:8443/api/graphql"},
		"subdomains":        {"https://git.example", "https://api.git.example", "", "https://api.git.example/repos/octo/repo", "https://api.git.example/graphql"},
		"upper case":        {"https://GitHub.com", "HTTPS://API.github.com:443", "", "https://api.github.com:443/repos/octo/repo", "https://api.github.com:443/graphql"},
		"loopback":          {"http://127.0.0.1:8080", "http://127.0.0.1:8080/api/v3", "", "http://127.0.0.1:8080/api/v3/repos/octo/repo", "http://127.0.0.1:8080/api/graphql"},
	} {
		t.Run(name, func(t *testing.T) {
			f := replies(always(200, `{"data":{}}`))
			o := f.options()
			o.ServerURL, o.APIURL, o.GraphQLURL = c.server, c.api, c.graphql
			client := newClient(t, o)
			if _, err := client.Do(context.Background(), get); err != nil {
				t.Fatal(err)
			}
			if err := client.GraphQL(context.Background(), "query { viewer { login } }", nil, Call{}, &struct{}{}); err != nil {
				t.Fatal(err)
			}
			if got := []string{f.requests[0].URL.String(), f.requests[1].URL.String()}; got[0] != c.wantREST || got[1] != c.wantGraphQL {
				t.Errorf("got %v", got)
			}
			for _, q := range f.requests {
				if q.Header.Get("Authorization") != "Bearer "+token {
					t.Errorf("%s came without the token", q.URL)
				}
			}
		})
	}
}

func TestAForeignAddressIsRefusedBeforeAnythingIsSent(t *testing.T) {
	for name, c := range map[string]struct{ server, api, graphql, says string }{
		"another host":              {"https://github.com", "https://evil.example", "", "does not belong"},
		"a longer name":             {"https://github.com", "https://api.github.com.evil.example", "", "does not belong"},
		"a name that ends alike":    {"https://github.com", "https://evilgithub.com", "", "does not belong"},
		"another subdomain":         {"https://github.com", "https://gist.github.com", "", "does not belong"},
		"another port":              {"https://github.com", "https://api.github.com:8443", "", "does not belong"},
		"the host above":            {"https://git.corp.example", "https://corp.example/api/v3", "", "does not belong"},
		"api of the host above":     {"https://git.corp.example", "https://api.corp.example", "", "does not belong"},
		"a foreign GraphQL":         {"https://github.com", "https://api.github.com", "https://evil.example/graphql", "GITHUB_GRAPHQL_URL is on the host"},
		"http":                      {"https://github.com", "http://api.github.com", "", "use https"},
		"an http server":            {"http://github.com", "https://api.github.com", "", "use https"},
		"http where https is":       {"https://127.0.0.1:1", "http://127.0.0.1:1/api/v3", "", "does not belong"},
		"credentials":               {"https://github.com", "https://ghs_secret@api.github.com", "", "holds credentials"},
		"a query":                   {"https://github.com", "https://api.github.com?x=1", "", "a query"},
		"a fragment":                {"https://github.com", "https://api.github.com#x", "", "a fragment"},
		"no API":                    {"https://github.com", "", "", "GITHUB_API_URL is not set"},
		"no server":                 {"", "https://api.github.com", "", "GITHUB_SERVER_URL is not set"},
		"a server with a path":      {"https://github.com/x", "https://api.github.com", "", "must be https://HOST"},
		"another scheme":            {"https://github.com", "ftp://api.github.com", "", "not an https"},
		"no URL":                    {"https://github.com", "api.github.com", "", "not a well-formed"},
		"control characters":        {"https://github.com", "https://api.github.com/\n", "", "not a well-formed"},
		"a very long one":           {"https://github.com", "https://api.github.com/" + strings.Repeat("x", maxURLBytes), "", "longer than"},
		"the server in the user":    {"https://github.com", "https://github.com@evil.example/", "", "holds credentials"},
		"an address that looks so":  {"https://github.com", `https://github.com\@evil.example/`, "", ""},
		"a host with another after": {"https://github.com", "https://api.github.com%2eevil.example", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := replies(always(200, `{}`))
			o := f.options()
			o.ServerURL, o.APIURL, o.GraphQLURL = c.server, c.api, c.graphql
			_, err := New(o)
			if !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v", err)
			}
			if len(f.requests) != 0 || err != nil && (strings.Contains(err.Error(), "ghs_") || strings.ContainsRune(err.Error(), '\n')) {
				t.Errorf("got %v, %d requests", err, len(f.requests))
			}
		})
	}
}

func TestATokenThatIsNoneIsRefusedAndNotShown(t *testing.T) {
	for _, bad := range []string{"a b", "a\nb", "tökén", strings.Repeat("x", maxTokenBytes+1)} {
		o := replies().options()
		o.Token = bad
		if _, err := New(o); !errors.Is(err, ErrConfig) || strings.Contains(err.Error(), bad) {
			t.Errorf("got %v", err)
		}
	}
}

func TestNoRequestLeavesTheServersOwnAddresses(t *testing.T) {
	f := replies(always(200, `{}`))
	for _, path := range []string{"https://evil.example/x", "//evil.example/x", "https://api.github.com:444/x", "http://api.github.com/x", "https://api.github.com@evil.example/"} {
		if _, err := f.client(t).Do(context.Background(), Call{Method: "GET", Path: path}); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if len(f.requests) != 0 {
		t.Errorf("%d requests were sent", len(f.requests))
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	for _, code := range []int{301, 302, 303, 307, 308} {
		for _, to := range []string{"https://evil.example/x?token=1", "https://api.github.com/repositories/1", "/repositories/1", "%", "https://" + token + ".example", ""} {
			f := replies(always(code, "", "Location", to))
			_, err := f.client(t).Do(context.Background(), get)
			if !errors.Is(err, ErrRedirect) || len(f.requests) != 1 || !strings.Contains(err.Error(), "not followed") || strings.Contains(err.Error(), "token=1") || strings.Contains(err.Error(), token) {
				t.Errorf("%d to %q: %v, %d requests", code, to, err, len(f.requests))
			}
		}
	}
}

func TestAClientShowsNoToken(t *testing.T) {
	c := replies().client(t)
	if text := fmt.Sprintf("%v %+v %#v %s", c, c, c, c); strings.Contains(text, token) || c.opts.Token != "" {
		t.Errorf("it is in %s", text)
	}
}

func TestWithoutATokenNoHeaderIsSent(t *testing.T) {
	f := replies(always(200, `{}`))
	o := f.options()
	o.Token = ""
	if _, err := newClient(t, o).Do(context.Background(), get); err != nil {
		t.Fatal(err)
	}
	if _, there := f.requests[0].Header[http.CanonicalHeaderKey("authorization")]; there {
		t.Error("there is a header")
	}
}
