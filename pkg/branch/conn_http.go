package branch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// httpWire speaks the "smart" HTTP form of the protocol. It follows no
// redirects, keeps no cookies, and sends the token to one origin only.
type httpWire struct {
	remote  Remote
	origin  string // of the server that the token belongs to
	service string
	client  *http.Client
}

func newHTTPWire(r Remote, service string) (*httpWire, error) {
	transport := r.Transport
	if transport == nil {
		transport = sharedTransport
	}
	server := r.Server
	if server == "" {
		server = DefaultServer
	}
	origin, err := parseOrigin(server)
	if err != nil {
		return nil, err
	}
	return &httpWire{remote: r, origin: origin, service: service, client: &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// sharedTransport keeps connections between the conversations of one run.
var sharedTransport = func() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSHandshakeTimeout = connectTime
	t.ResponseHeaderTimeout = answerTime
	return t
}()

func (w *httpWire) advertisement(ctx context.Context) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.remote.URL+"/info/refs?service="+w.service, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: it is not a well-formed URL", ErrRemote)
	}
	return w.do(req, "application/x-"+w.service+"-advertisement")
}

func (w *httpWire) call(ctx context.Context, request []byte) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.remote.URL+"/"+w.service, bytes.NewReader(request))
	if err != nil {
		return nil, fmt.Errorf("%w: it is not a well-formed URL", ErrRemote)
	}
	// A request without GetBody is never sent twice behind our back.
	req.GetBody = nil
	req.Header.Set("Content-Type", "application/x-"+w.service+"-request")
	req.Header.Set("Accept", "application/x-"+w.service+"-result")
	return w.do(req, "application/x-"+w.service+"-result")
}

func (w *httpWire) do(req *http.Request, wantType string) (io.ReadCloser, error) {
	// Some servers talk to nothing that does not call itself git.
	req.Header.Set("User-Agent", "git/2.0 (repo-memory-ledger)")
	if w.mayCarryToken(req.URL) {
		req.SetBasicAuth("x-access-token", w.remote.Token)
	}
	res, err := w.client.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err
		}
		if req.Context().Err() != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%w: no answer from %s: %s", ErrUnavailable, req.URL.Host, Printable(err.Error(), 200))
	}
	if res.StatusCode == http.StatusOK && mediaType(res) == wantType {
		return drained{res.Body}, nil
	}
	defer res.Body.Close()
	if res.StatusCode == http.StatusOK {
		return nil, fmt.Errorf("%w: the address answers, but not as a git server: check the remote", ErrNotFound)
	}
	return nil, w.refusal(res)
}

// mayCarryToken is the whole rule for where the token goes.
func (w *httpWire) mayCarryToken(to *url.URL) bool {
	return w.remote.Token != "" && originOf(to) == w.origin
}

func (w *httpWire) refusal(res *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(res.Body, maxDiagnosticBytes))
	e := &StatusError{Code: res.StatusCode, RetryAfter: retryAfter(res.Header.Get("Retry-After"))}
	throttled := e.RetryAfter > 0 || strings.Contains(strings.ToLower(string(body)), "rate limit")
	switch code := res.StatusCode; {
	case code >= 300 && code < 400:
		e.Kind, e.Hint = ErrNotFound, "redirects are not followed: use the repository's present address"
		if to, err := res.Location(); err == nil {
			to.User, to.RawQuery, to.Fragment = nil, "", ""
			e.Hint += ", it points to " + Printable(strings.TrimSuffix(to.String(), "/info/refs"), 200)
		}
	case code == http.StatusTooManyRequests, code == http.StatusForbidden && throttled:
		e.Kind, e.Hint = ErrThrottled, "try again later"
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		e.Kind, e.Hint = ErrUnauthorized, w.tokenHint()
	case code == http.StatusNotFound || code == http.StatusGone:
		e.Kind, e.Hint = ErrNotFound, "check the remote; "+w.tokenHint()
	case code == http.StatusRequestEntityTooLarge:
		e.Kind, e.Hint = ErrTooLarge, "the server takes no pack of this size"
	default:
		e.Kind = ErrUnavailable
	}
	return e
}

func (w *httpWire) tokenHint() string {
	switch u, err := url.Parse(w.remote.URL); {
	case w.remote.Token == "":
		return "no token was given"
	case err != nil || !w.mayCarryToken(u):
		return "the token was not sent, because it belongs to another server"
	case w.service == uploadPack:
		return "the token needs contents: read on this repository"
	default:
		return "the token needs contents: write on this repository"
	}
}

// drained reads the few bytes that stand between the last that was needed and
// the end of an answer, so that the connection can serve the next request.
type drained struct{ io.ReadCloser }

func (d drained) Close() error {
	io.CopyN(io.Discard, d.ReadCloser, 1<<10)
	return d.ReadCloser.Close()
}

func (w *httpWire) explain(err error) error { return err }

func (w *httpWire) close() {}

func mediaType(res *http.Response) string {
	t, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(t))
}

// retryAfter reads the number of seconds; the date form counts as not given.
// The caller bounds it.
func retryAfter(v string) time.Duration {
	n, err := strconv.ParseUint(strings.TrimSpace(v), 10, 31)
	if err != nil {
		return 0
	}
	return time.Duration(n) * time.Second
}
