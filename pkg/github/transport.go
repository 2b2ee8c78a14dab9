package github

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// guard is the only transport of a client: it lets requests to the server's own
// origins pass, puts the token into them, and reads each answer under its bound.
type guard struct {
	next    http.RoundTripper
	origins map[string]bool
	token   string
}

// limitKey carries the bound of an answer in a request's context.
type limitKey struct{}

func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	if !g.origins[originOf(req.URL)] {
		if req.Body != nil {
			req.Body.Close()
		}
		return nil, fmt.Errorf("%w: a request to another host than the server's is not sent", ErrConfig)
	}
	out := req.Clone(req.Context())
	out.Header.Del("Authorization")
	if g.token != "" {
		out.Header.Set("Authorization", "Bearer "+g.token)
	}
	res, err := g.next.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	limit, _ := req.Context().Value(limitKey{}).(int64)
	body, err := io.ReadAll(io.LimitReader(res.Body, limit+1))
	switch {
	case int64(len(body)) > limit:
		return nil, &Error{Kind: ErrTooLarge, Hint: fmt.Sprintf("the answer has more than %d bytes", limit)}
	case err != nil:
		return nil, fmt.Errorf("the answer was cut off: %w", err)
	}
	res.Body = io.NopCloser(bytes.NewReader(body))
	return res, nil
}

// newTransport has the system's certificates, the environment's proxy, and
// bounds on time.
func newTransport() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSHandshakeTimeout = connectTime
	t.ResponseHeaderTimeout = callTime
	return t
}

// unanswered makes an Error of what the transport returned.
func unanswered(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	var ours *Error
	if errors.As(err, &ours) {
		return ours
	}
	if errors.Is(err, ErrConfig) {
		return err
	}
	return &Error{Kind: ErrUnavailable, Says: quote(Redact(err.Error(), nil), 200)}
}
