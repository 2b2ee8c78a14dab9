package github

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestAThrottledRequestWaitsAsLongAsItIsToldAndNoLongerThanItsBounds(t *testing.T) {
	const secondary = `{"message":"You have exceeded a secondary rate limit."}`
	ok := always(200, `{}`)
	limit := func(headers ...string) func() *http.Response { return always(403, secondary, headers...) }
	primary := func(reset int64) func() *http.Response {
		return always(403, `{"message":"API rate limit exceeded"}`, "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", fmt.Sprint(reset))
	}
	for name, c := range map[string]struct {
		list  []func() *http.Response
		waits string
		fails string // "" when it succeeds
	}{
		"no time named":                  {[]func() *http.Response{limit("X-RateLimit-Remaining", "57"), ok}, "[1m0s]", ""},
		"no time named, again and again": {[]func() *http.Response{limit(), limit(), limit(), ok}, "[1m0s 2m0s 4m0s]", ""},
		"Retry-After":                    {[]func() *http.Response{limit("Retry-After", "30"), ok}, "[30s]", ""},
		"Retry-After of nothing":         {[]func() *http.Response{limit("Retry-After", "0"), ok}, "[0s]", ""},
		"Retry-After as a date":          {[]func() *http.Response{limit("Retry-After", epoch.Add(9*time.Second).UTC().Format(http.TimeFormat)), ok}, "[9s]", ""},
		"Retry-After in the past":        {[]func() *http.Response{limit("Retry-After", epoch.Add(-time.Hour).UTC().Format(http.TimeFormat)), ok}, "[0s]", ""},
		"Retry-After that is no time":    {[]func() *http.Response{limit("Retry-After", "soon"), ok}, "[1m0s]", ""},
		"Retry-After that is negative":   {[]func() *http.Response{limit("Retry-After", "-5"), ok}, "[1m0s]", ""},
		"at the bound":                   {[]func() *http.Response{limit("Retry-After", "300"), ok}, "[5m0s]", ""},
		"over the bound":                 {[]func() *http.Response{limit("Retry-After", "301"), ok}, "[]", "the most that is waited here is 5m0s"},
		"an absurd time":                 {[]func() *http.Response{limit("Retry-After", "999999"), ok}, "[]", "277h46m39s"},
		"a time that overflows":          {[]func() *http.Response{limit("Retry-After", "99999999999999999999"), ok}, "[1m0s]", ""},
		"the reset":                      {[]func() *http.Response{primary(epoch.Unix() + 90), ok}, "[1m30s]", ""},
		"a reset in the past":            {[]func() *http.Response{primary(epoch.Unix() - 90), ok}, "[0s]", ""},
		"a reset that is too far":        {[]func() *http.Response{primary(epoch.Unix() + 3000), ok}, "[]", "it asks to wait 50m0s"},
		"for ever":                       {[]func() *http.Response{limit("Retry-After", "1")}, "[1s 1s 1s 1s 1s]", "it asked 6 times to wait"},
		"for too long in all":            {[]func() *http.Response{limit("Retry-After", "250")}, "[4m10s 4m10s]", "8m20s were waited in all"},
	} {
		t.Run(name, func(t *testing.T) {
			f := replies(c.list...)
			told := 0
			o := f.options()
			o.Waiting = func(time.Duration, *Error) { told++ }
			_, err := newClient(t, o).Do(context.Background(), Call{Method: http.MethodPost, Path: "x"})
			if c.fails == "" && err != nil || c.fails != "" && (!errors.Is(err, ErrThrottled) || !strings.Contains(err.Error(), c.fails)) {
				t.Errorf("got %v", err)
			}
			if got := fmt.Sprint(f.waits); got != c.waits || told != len(f.waits) {
				t.Errorf("waited %s, told %d times", got, told)
			}
		})
	}
}

func TestTheRandomPartOfAWaitIsSmall(t *testing.T) {
	f := replies(always(429, "", "Retry-After", "1"), always(200, `{}`))
	o := f.options()
	o.Random = func() float64 { return 0.5 }
	if _, err := newClient(t, o).Do(context.Background(), get); err != nil || f.waits[0] != 1250*time.Millisecond {
		t.Errorf("got %v, %v", err, f.waits)
	}
}

func TestAReadWithoutAClearAnswerIsSentAgainAndAWriteNever(t *testing.T) {
	cut := func(*http.Request) (*http.Response, error) {
		r := reply(200, "")
		r.Body = io.NopCloser(io.MultiReader(strings.NewReader(`{"a":`), failing{}))
		return r, nil
	}
	for name, answer := range map[string]func(*http.Request) (*http.Response, error){
		"502":            func(*http.Request) (*http.Response, error) { return reply(502, ""), nil },
		"no answer":      func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF },
		"a cut off body": cut,
	} {
		t.Run(name, func(t *testing.T) {
			for method, want := range map[string]int{http.MethodGet: MaxReads, http.MethodPost: 1} {
				f := &fake{answer: answer}
				_, err := f.client(t).Do(context.Background(), Call{Method: method, Path: "x"})
				if !errors.Is(err, ErrUnavailable) || !Unclear(err) || len(f.requests) != want {
					t.Errorf("%s: %v after %d", method, err, len(f.requests))
				}
			}
		})
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestAnAnswerOverItsBoundIsAnErrorAndNeverAPart(t *testing.T) {
	for size, fails := range map[int]bool{99: false, 100: false, 101: true} {
		f := replies(always(200, strings.Repeat(" ", size)))
		answer, err := f.client(t).Do(context.Background(), Call{Method: http.MethodGet, Path: "x", Limit: 100})
		if fails && !errors.Is(err, ErrTooLarge) || !fails && (err != nil || len(answer.Body) != size) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

func TestTheNextPageIsTakenFromTheServersOwnAddressesOnly(t *testing.T) {
	for link, want := range map[string]string{
		`<https://api.github.com/repositories/1/issues?page=2>; rel="next", <https://api.github.com/x?page=9>; rel="last"`: "https://api.github.com/repositories/1/issues?page=2",
		`<https://api.github.com/x?page=1>; rel="prev", <https://api.github.com/x?page=3>; rel="next"`:                     "https://api.github.com/x?page=3",
		`<https://api.github.com/x?page=9>; rel="last"`:                                                                    "",
		`<https://evil.example/x?page=2>; rel="next"`:                                                                      "",
		`<http://api.github.com/x?page=2>; rel="next"`:                                                                     "",
		`<https://u:p@api.github.com/x>; rel="next"`:                                                                       "",
		`<https://api.github.com:444/x>; rel="next"`:                                                                       "",
		`<https://github.com/x>; rel="next"`:                                                                               "",
		`https://api.github.com/x; rel="next"`:                                                                             "",
		`<https://api.github.com/x; rel="next"`:                                                                            "",
		`<https://api.github.com/%zz>; rel="next"`:                                                                         "",
		``: "",
	} {
		f := replies(always(200, `[]`, "Link", link))
		answer, err := f.client(t).Do(context.Background(), get)
		if elsewhere := want == "" && strings.Contains(link, "next"); err != nil || answer.Next != want || answer.Elsewhere != elsewhere {
			t.Errorf("%s: %q, elsewhere %v, %v", link, answer.Next, answer.Elsewhere, err)
		}
	}
}

func TestAnAnswerThatStillHoldsIsNotSentAgain(t *testing.T) {
	f := replies(always(304, "", "ETag", `"x"`))
	call := get
	call.IfNoneMatch = `"x"`
	answer, err := f.client(t).Do(context.Background(), call)
	if err != nil || answer.Status != 304 || answer.ETag != `"x"` || f.requests[0].Header.Get("If-None-Match") != `"x"` {
		t.Errorf("got %+v, %v", answer, err)
	}
}

func TestABudgetIsAskedBeforeEveryRequest(t *testing.T) {
	spent := errors.New("spent")
	f := replies(always(502, ""))
	o := f.options()
	left := 2
	o.Budget = func(context.Context) error {
		if left--; left < 0 {
			return spent
		}
		return nil
	}
	if _, err := newClient(t, o).Do(context.Background(), get); !errors.Is(err, spent) || len(f.requests) != 2 {
		t.Errorf("got %v after %d", err, len(f.requests))
	}
}

func TestACanceledContextIsTheErrorItself(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	f := &fake{answer: func(q *http.Request) (*http.Response, error) { cancel(); return nil, q.Context().Err() }}
	if _, err := f.client(t).Do(ctx, get); !errors.Is(err, context.Canceled) || len(f.requests) != 1 {
		t.Errorf("got %v", err)
	}
}

func TestARunWhoseTokenCanOnlyReadIsKnown(t *testing.T) {
	file := filepath.Join(t.TempDir(), "event.json")
	for name, c := range map[string]struct {
		event, actor, payload string
		want                  string
	}{
		"a fork":                     {"pull_request", "x", `{"pull_request":{"head":{"repo":{"id":2}},"base":{"repo":{"id":1}}}}`, "fork"},
		"a fork that is gone":        {"pull_request", "x", `{"pull_request":{"head":{"repo":null},"base":{"repo":{"id":1}}}}`, "fork"},
		"a review":                   {"pull_request_review_comment", "x", `{"pull_request":{"head":{"repo":{"id":2}},"base":{"repo":{"id":1}}}}`, "fork"},
		"a branch":                   {"pull_request", "x", `{"pull_request":{"head":{"repo":{"id":1}},"base":{"repo":{"id":1}}},"more":1}`, ""},
		"in the target":              {"pull_request_target", "x", `{"pull_request":{"head":{"repo":{"id":2}},"base":{"repo":{"id":1}}}}`, ""},
		"a push":                     {"push", "x", `{}`, ""},
		"Dependabot":                 {"push", "dependabot[bot]", `{}`, "Dependabot"},
		"Dependabot, in the target":  {"pull_request_target", "dependabot[bot]", `{}`, ""},
		"a payload that is none":     {"pull_request", "x", `{`, ""},
		"a payload of another shape": {"pull_request", "x", `{"pull_request":{"head":{"repo":{"id":"2"}},"base":{"repo":{"id":1}}}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(file, []byte(c.payload), 0o600); err != nil {
				t.Fatal(err)
			}
			env := map[string]string{"GITHUB_EVENT_NAME": c.event, "GITHUB_ACTOR": c.actor, "GITHUB_EVENT_PATH": file}
			got := ReadOnlyRun(func(name string) string { return env[name] })
			if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
				t.Errorf("got %q", got)
			}
		})
	}
	if got := ReadOnlyRun(func(name string) string { return map[string]string{"GITHUB_EVENT_NAME": "pull_request"}[name] }); got != "" {
		t.Errorf("without a payload: %q", got)
	}
}

func TestAForkTokenIsNamedForWritesAlone(t *testing.T) {
	for needs, kind := range map[string]error{"contents: write": ErrForkToken, "contents: read": ErrForbidden} {
		f := replies(always(403, `{"message":"Resource not accessible by integration"}`))
		o := f.options()
		o.ReadOnly = func() string { return "it is a fork's" }
		_, err := newClient(t, o).Do(context.Background(), Call{Method: http.MethodPost, Path: "x", Needs: needs})
		if !errors.Is(err, kind) {
			t.Errorf("%s: %v", needs, err)
		}
	}
}
