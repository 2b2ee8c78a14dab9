package branch

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

// DefaultServer is the server whose tokens a Remote carries when none is named.
const DefaultServer = "https://github.com"

// Remote is where a branch lives. Make one with [ParseRemote]; printing one
// shows no token.
type Remote struct {
	// URL is an absolute path, or an https (loopback: http) URL without
	// credentials, query or fragment.
	URL string
	// Token is sent to the origin of Server only, as an authorization header.
	Token string
	// Server is the origin, "https://HOST[:PORT]", that issued Token.
	Server string
	// Transport carries the requests to an https remote; nil is one with
	// the system's certificates, the environment's proxy, and time bounds. It
	// must not follow redirects.
	Transport http.RoundTripper
}

// String names the remote without its token.
func (r Remote) String() string { return r.URL }

// GoString is String, so that %#v shows no token either.
func (r Remote) GoString() string { return fmt.Sprintf("branch.Remote{URL:%q}", r.URL) }

// ParseRemote checks the text of a remote, its token, and the server that
// issued the token ("" is [DefaultServer]; GITHUB_SERVER_URL is the value to
// pass on). Errors are [ErrRemote] and never repeat the token.
func ParseRemote(text, token, server string) (Remote, error) {
	if server == "" {
		server = DefaultServer
	}
	origin, err := parseOrigin(server)
	if err != nil {
		return Remote{}, err
	}
	if err := checkToken(token); err != nil {
		return Remote{}, err
	}
	location, err := parseLocation(text)
	if err != nil {
		return Remote{}, err
	}
	return Remote{URL: location, Token: token, Server: origin}, nil
}

// check refuses a Remote that ParseRemote would not have made.
func (r Remote) check() error {
	again, err := ParseRemote(r.URL, r.Token, r.Server)
	if err != nil {
		return err
	}
	if again.URL != r.URL {
		return fmt.Errorf("%w %s: make it with ParseRemote", ErrRemote, Printable(withoutUserinfo(r.URL), 200))
	}
	return nil
}

// helper is how git names a program to reach a remote with.
var helper = regexp.MustCompile(`^[A-Za-z0-9+.-]*::`)

func parseLocation(text string) (string, error) {
	bad := func(why string) (string, error) {
		return "", fmt.Errorf("%w %s: %s", ErrRemote, Printable(withoutUserinfo(text), 200), why)
	}
	switch {
	case text == "":
		return bad("it is empty: give a path, a file:// URL or an https:// URL")
	case len(text) > maxURLBytes:
		return bad(fmt.Sprintf("longer than %d bytes", maxURLBytes))
	case strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c == 0x7f || c == 0xfffd }):
		return bad("it holds control characters")
	case text[0] == '-':
		return bad("it begins with a dash, which git would read as an option")
	case helper.MatchString(text):
		return bad("remote helpers are not used: give a path, a file:// URL or an https:// URL")
	}
	scheme, _, isURL := strings.Cut(text, "://")
	if !isURL {
		if colon := strings.IndexByte(text, ':'); colon >= 0 && !strings.Contains(text[:colon], "/") && !isDrive(text) {
			return bad("that is an ssh address or an unknown scheme: give a path, a file:// URL or an https:// URL")
		}
		return absolute(text)
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return bad("it is not a well-formed URL")
	case u.User != nil:
		return bad("it holds credentials: give the token by itself")
	case u.RawQuery != "" || u.ForceQuery || strings.Contains(text, "#"):
		return bad("it holds a query or a fragment")
	}
	switch strings.ToLower(scheme) {
	case "file":
		if u.Host != "" && u.Host != "localhost" {
			return bad("a file URL names no host")
		}
		if u.Path == "" {
			return bad("it names no path")
		}
		path := u.Path
		if runtime.GOOS == "windows" && isDrive(strings.TrimPrefix(path, "/")) {
			path = path[1:]
		}
		if strings.ContainsFunc(path, func(c rune) bool { return c < ' ' || c == 0x7f || c == 0xfffd }) {
			return bad("it holds control characters")
		}
		return absolute(path)
	case "https":
	case "http":
		if !loopback(u.Hostname()) {
			return bad("http is used to a loopback address only: use https")
		}
	default:
		return bad("that scheme is not used: give a path, a file:// URL or an https:// URL")
	}
	if u.Hostname() == "" || strings.Trim(u.Path, "/") == "" {
		return bad("it names no host or no repository")
	}
	u.Scheme, u.Host = strings.ToLower(u.Scheme), strings.ToLower(u.Host)
	return strings.TrimRight(u.String(), "/"), nil
}

func absolute(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("%w: the path cannot be made absolute", ErrRemote)
	}
	return abs, nil
}

// withoutUserinfo drops what stands before an @ in a URL's host part, so that a
// refused remote is named without the password someone put there.
func withoutUserinfo(text string) string {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		return text
	}
	host, path := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		host, path = rest[:i], rest[i:]
	}
	return scheme + "://" + host[strings.LastIndexByte(host, '@')+1:] + path
}

func isDrive(path string) bool {
	return runtime.GOOS == "windows" && len(path) >= 3 && path[1] == ':' && (path[2] == '\\' || path[2] == '/')
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// local tells whether git itself serves the remote from a path.
func (r Remote) local() bool {
	return !strings.HasPrefix(r.URL, "https://") && !strings.HasPrefix(r.URL, "http://")
}

func parseOrigin(server string) (string, error) {
	u, err := url.Parse(server)
	if err != nil || u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "" || u.Hostname() == "" {
		return "", fmt.Errorf("%w: the server's URL must be https://HOST", ErrRemote)
	}
	if s := strings.ToLower(u.Scheme); s != "https" && (s != "http" || !loopback(u.Hostname())) {
		return "", fmt.Errorf("%w: the server's URL must be https", ErrRemote)
	}
	return originOf(u), nil
}

// originOf is scheme, host and port in one spelling.
func originOf(u *url.URL) string {
	scheme, port := strings.ToLower(u.Scheme), u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[scheme]
	}
	return scheme + "://" + net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

func checkToken(token string) error {
	if len(token) > maxTokenBytes || strings.ContainsFunc(token, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return fmt.Errorf("%w: the token is not one line of printable ASCII without spaces", ErrRemote)
	}
	return nil
}
