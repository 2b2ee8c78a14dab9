package github

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

const token = "ghs_0123456789abcdefABCDEF"

// fake answers requests by a function and remembers them.
type fake struct {
	answer   func(*http.Request) (*http.Response, error)
	requests []*http.Request
	bodies   []string
	waits    []time.Duration
}

func (f *fake) RoundTrip(q *http.Request) (*http.Response, error) {
	body := ""
	if q.Body != nil {
		text, _ := io.ReadAll(q.Body)
		q.Body.Close()
		body = string(text)
	}
	f.requests, f.bodies = append(f.requests, q), append(f.bodies, body)
	return f.answer(q)
}

// epoch is the time of the client's clock.
var epoch = time.Unix(1_800_000_000, 0)

func (f *fake) options() Options {
	return Options{
		ServerURL: "https://github.com", APIURL: "https://api.github.com", Token: token, Transport: f,
		Now:    func() time.Time { return epoch },
		Sleep:  func(ctx context.Context, d time.Duration) error { f.waits = append(f.waits, d); return ctx.Err() },
		Random: func() float64 { return 0 },
	}
}

func (f *fake) client(t testing.TB) *Client {
	t.Helper()
	return newClient(t, f.options())
}

func newClient(t testing.TB, o Options) *Client {
	t.Helper()
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// reply is one answer; headers are name, value, name, value…
func reply(code int, body string, headers ...string) *http.Response {
	r := &http.Response{StatusCode: code, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: &http.Request{}}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

// replies answers with one after the other, and with the last one for ever.
func replies(list ...func() *http.Response) *fake {
	f := &fake{}
	f.answer = func(*http.Request) (*http.Response, error) {
		return list[min(len(f.requests), len(list))-1](), nil
	}
	return f
}

func always(code int, body string, headers ...string) func() *http.Response {
	return func() *http.Response { return reply(code, body, headers...) }
}

var get = Call{Method: http.MethodGet, Path: "repos/octo/repo"}
