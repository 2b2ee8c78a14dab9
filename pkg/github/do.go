package github

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/repo-memory/ledger/pkg/canonical"
)

// Call is one request.
type Call struct {
	Method string
	// Path is relative to the REST API's address, without a slash before it, such
	// as repos/OWNER/NAME; or a whole URL on the server, such as [Answer].Next.
	Path string
	// Body is sent as JSON; nil sends none.
	Body any
	// Needs is the permission that the job's token needs for it, such as "contents:
	// write"; errors name it.
	Needs string
	// IfNoneMatch is the ETag of an answer that is already there; the answer's
	// Status is then 304 when it still holds.
	IfNoneMatch string
	// Limit bounds the answer in bytes; 0 is DefaultAnswerBytes.
	Limit int64
	// Private tells whether a word is of what is sent and must not be shown when a
	// refusal repeats it; nil is never. See [Redact].
	Private func(word string) bool

	// inspect finds the failure in an answer whose status is a success.
	inspect func(*Answer) *Error
}

// Answer is a success: a status of 2xx, or 304 where IfNoneMatch was given.
type Answer struct {
	Status int
	Body   []byte
	ETag   string
	// Next is the URL of the next page, "" for none; only one on the server's own
	// addresses is taken. Elsewhere says that the answer names a next page on another,
	// so that the list does not end here and cannot be read on.
	Next      string
	Elsewhere bool
}

// Decode fills target, a pointer, from the body; members that it does not have
// are ignored. The error is [ErrMalformed].
func (a *Answer) Decode(target any) error {
	if err := canonical.Decode(a.Body, target, canonical.AllowUnknown); err != nil {
		return &Error{Kind: ErrMalformed, Says: "the answer's JSON is not what the API documents: " + err.Error()}
	}
	return nil
}

// Do sends a request, waits where it has to, and returns the answer; see the
// package comment for both. Errors are an *Error, [ErrConfig], the context's, or
// that of Options.Budget.
func (c *Client) Do(ctx context.Context, call Call) (*Answer, error) {
	for waits, sent := 0, 1; ; sent++ {
		answer, err := c.once(ctx, call)
		var e *Error
		if err == nil || !errors.As(err, &e) {
			return answer, err
		}
		switch {
		case errors.Is(e, ErrThrottled):
			pause, ok := c.wait(e, waits)
			if !ok {
				return nil, err
			}
			waits++
			if c.opts.Waiting != nil {
				c.opts.Waiting(pause, e)
			}
			if err := c.opts.Sleep(ctx, pause); err != nil {
				return nil, err
			}
		case e.Kind == ErrUnavailable && call.Method == http.MethodGet && sent < MaxReads:
			pause := time.Duration(c.opts.Random() * float64(firstReadPause<<(sent-1)))
			if err := c.opts.Sleep(ctx, pause); err != nil {
				return nil, err
			}
		default:
			return nil, err
		}
	}
}

// once sends the request once.
func (c *Client) once(ctx context.Context, call Call) (*Answer, error) {
	if c.opts.Budget != nil {
		if err := c.opts.Budget(ctx); err != nil {
			return nil, err
		}
	}
	outer := ctx
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	limit := call.Limit
	if limit <= 0 || limit > maxAnswerBytes {
		limit = DefaultAnswerBytes
	}
	req, err := c.form.NewRequest(call.Method, call.Path, call.Body)
	if err != nil {
		return nil, &Error{Kind: ErrConfig, Hint: "the request cannot be formed"}
	}
	if call.IfNoneMatch != "" {
		req.Header.Set("If-None-Match", call.IfNoneMatch)
	}
	res, err := c.wire.RoundTrip(req.WithContext(context.WithValue(ctx, limitKey{}, limit)))
	if err != nil {
		return nil, unanswered(outer, err)
	}
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, unanswered(outer, err)
	}
	res.Body.Close()
	answer := &Answer{Status: res.StatusCode, Body: body, ETag: res.Header.Get("ETag")}
	answer.Next, answer.Elsewhere = c.next(res.Header)
	var failed *Error
	switch {
	case res.StatusCode == http.StatusNotModified && call.IfNoneMatch != "":
	case res.StatusCode < 200 || res.StatusCode > 299:
		failed = c.classify(res, body, call)
	case call.inspect != nil:
		failed = call.inspect(answer)
	}
	if failed != nil {
		c.told(failed, res.Header)
		return nil, failed
	}
	return answer, nil
}

// next finds the URL of rel="next" in the Link header, and tells one that is not
// taken.
func (c *Client) next(h http.Header) (url string, elsewhere bool) {
	for link := range strings.SplitSeq(strings.Join(h.Values("Link"), ","), ",") {
		if !strings.Contains(strings.ReplaceAll(link, " ", ""), `;rel="next"`) {
			continue
		}
		target, _, ok := strings.Cut(strings.TrimSpace(link), ">")
		if !ok || !strings.HasPrefix(target, "<") {
			return "", true
		}
		u, err := c.at.api.Parse(target[1:])
		if err != nil || u.User != nil || originOf(u) != originOf(c.at.api) || !strings.HasPrefix(u.Path, c.at.api.Path) {
			return "", true
		}
		return u.String(), false
	}
	return "", false
}

// hostOf names where a redirect leads, "" when it does not say.
func hostOf(location string) string {
	u, err := url.Parse(location)
	if err != nil || u.Hostname() == "" {
		return ""
	}
	return quote(Redact(u.Host, nil), 200)
}
