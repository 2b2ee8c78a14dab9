package mcptools

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// gate decides who is let in; the package comment states its rules.
type gate struct {
	hosts  map[string]bool // lower case, without port and brackets
	token  [sha256.Size]byte
	origin *http.CrossOriginProtection
}

var (
	tokenForm = regexp.MustCompile(`^[A-Za-z0-9._~+/-]+=*$`)
	hostForm  = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$`)
)

// ErrToken: a token that is too short to be one, or that no header could carry.
var ErrToken = fmt.Errorf("must have %d to %d letters, digits or -._~+/=", minTokenBytes, maxTokenBytes)

// IsToken reports whether token can be the access token of a server.
func IsToken(token string) bool {
	return len(token) >= minTokenBytes && len(token) <= maxTokenBytes && tokenForm.MatchString(token)
}

// IsHost reports whether host can be the name of a host, without a port.
func IsHost(host string) bool { return hostForm.MatchString(host) }

func newGate(listening net.Addr, options HTTPOptions) (*gate, error) {
	if !IsToken(options.Token) {
		return nil, fmt.Errorf("access token: %w", ErrToken)
	}
	g := &gate{hosts: map[string]bool{"localhost": true, "127.0.0.1": true, "::1": true},
		token: sha256.Sum256([]byte(options.Token)), origin: http.NewCrossOriginProtection()}
	if address, err := netip.ParseAddrPort(listening.String()); err == nil {
		if address.Addr().IsUnspecified() {
			return nil, errors.New("address: name the one address to listen on, not all of them")
		}
		g.hosts[address.Addr().Unmap().String()] = true
	}
	for _, host := range options.Hosts {
		if !IsHost(host) {
			return nil, errors.New("hosts: must be names of hosts without a port")
		}
		g.hosts[strings.ToLower(host)] = true
	}
	return g, nil
}

// let lets requests in to next, or answers them.
func (g *gate) let(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		// net/http waits for what a request still has of its body before it answers and
		// before it lets go of the connection, and for as long as it takes: a stranger
		// could hold as many as there are.
		control := http.NewResponseController(w)
		defer func() { _ = control.SetReadDeadline(time.Now().Add(bodyTime)) }()
		_ = control.SetWriteDeadline(time.Now().Add(bodyTime))
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		switch {
		case !g.hosts[hostOf(q.Host)]:
			refuse(w, http.StatusForbidden, "this Host is not allowed")
		case !g.sameSite(q):
			refuse(w, http.StatusForbidden, "this Origin is not allowed")
		case !g.knows(q.Header):
			w.Header().Set("WWW-Authenticate", "Bearer")
			refuse(w, http.StatusUnauthorized, "the access token is missing or wrong")
		case q.URL.Path != Endpoint:
			say(w, http.StatusNotFound, "there is nothing here; the server is at "+Endpoint)
		default:
			_ = control.SetWriteDeadline(time.Time{}) // a stream may last
			next.ServeHTTP(w, q)
		}
	})
}

// refuse answers a stranger without waiting for the body.
func refuse(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Connection", "close")
	say(w, status, text)
}

// sameSite is false for what a page of another site sent, whatever the method.
func (g *gate) sameSite(q *http.Request) bool {
	for _, text := range q.Header.Values("Origin") {
		origin, err := url.Parse(text)
		if err != nil || !g.hosts[hostOf(origin.Host)] {
			return false
		}
	}
	return g.origin.Check(q) == nil
}

// knows compares digests, so that neither the token's bytes nor its length show in
// the time it takes.
func (g *gate) knows(header http.Header) bool {
	sent := header.Values("Authorization")
	if len(sent) != 1 {
		return false
	}
	scheme, token, _ := strings.Cut(sent[0], " ")
	digest := sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(digest[:], g.token[:]) == 1 && strings.EqualFold(scheme, "Bearer")
}

// hostOf is the host of a Host header or an origin, without its port.
func hostOf(hostPort string) string {
	host := hostPort
	if h, _, err := net.SplitHostPort(hostPort); err == nil {
		host = h
	}
	return strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
}
