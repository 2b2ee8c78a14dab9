package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestEachAnswerOfRESTIsOfOneKind(t *testing.T) {
	message := func(text string) string { return fmt.Sprintf(`{"message":%q}`, text) }
	for name, c := range map[string]struct {
		code    int
		body    string
		headers []string
		kind    error
		says    string
	}{
		"401":                            {401, message("Bad credentials"), nil, ErrUnauthorized, "Bad credentials"},
		"403 of a permission":            {403, message("Resource not accessible by integration"), nil, ErrForbidden, "permissions: {contents: write}"},
		"the same with nothing left":     {403, message("Resource not accessible by integration"), []string{"X-RateLimit-Remaining", "0"}, ErrForbidden, "contents: write"},
		"403 of a personal token":        {403, message("Resource not accessible by personal access token"), nil, ErrForbidden, "contents: write"},
		"403 without a word":             {403, "", nil, ErrForbidden, "contents: write"},
		"403 of what stands between":     {403, "<html>blocked</html>", nil, ErrForbidden, "a proxy or a firewall may have given it"},
		"403 of another kind":            {403, message("Repository was archived so is read-only."), nil, ErrForbidden, "archived"},
		"403 with nothing left":          {403, message("API rate limit exceeded for installation"), []string{"X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "1800000900"}, ErrPrimaryLimit, "installation"},
		"429 with nothing left":          {429, "", []string{"X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "1800000900"}, ErrPrimaryLimit, "429"},
		"403 that says secondary":        {403, message("You have exceeded a secondary rate limit"), []string{"X-RateLimit-Remaining", "57", "Retry-After", "999999"}, ErrSecondaryLimit, "secondary"},
		"403 with Retry-After":           {403, message("Slow down"), []string{"Retry-After", "999999"}, ErrSecondaryLimit, "Slow down"},
		"403 of the old kind":            {403, message("You have triggered an abuse detection mechanism"), []string{"Retry-After", "999999"}, ErrSecondaryLimit, "abuse"},
		"429":                            {429, "<html>", []string{"Retry-After", "999999"}, ErrSecondaryLimit, "429"},
		"404":                            {404, message("Not Found"), nil, ErrNotFound, "contents: write"},
		"410":                            {410, message("Gone"), nil, ErrNotFound, "Gone"},
		"409 of an empty repository":     {409, message("Git Repository is empty."), nil, ErrEmpty, "empty"},
		"409 of a ruleset":               {409, message("Repository rule violations found\n\nCannot create ref"), nil, ErrRule, `found\n\nCannot`},
		"422 of a reference":             {422, message("Reference already exists"), nil, ErrExists, ""},
		"422 of push protection":         {422, message("Push cannot contain secrets"), nil, ErrRule, "revoke it"},
		"422 of anything else":           {422, message("Validation Failed"), nil, ErrInvalid, "Validation Failed"},
		"400":                            {400, message("Problems parsing JSON"), nil, ErrInvalid, "parsing"},
		"413":                            {413, "", nil, ErrTooLarge, "no request of this size"},
		"408":                            {408, "", nil, ErrUnavailable, "408"},
		"500":                            {500, message("oops"), nil, ErrUnavailable, "oops"},
		"500 that speaks of rules":       {500, message("ruleset service is down"), nil, ErrUnavailable, "ruleset"},
		"502":                            {502, "<html><body>Unicorn!</body></html>", nil, ErrUnavailable, "502"},
		"a message with another case":    {404, `{"Message":"forged"}`, nil, ErrNotFound, "404"},
		"a message twice":                {403, `{"message":"Resource not accessible by integration","message":"secondary rate limit"}`, nil, ErrForbidden, "403"},
		"a message that is a list":       {422, `{"message":["x"]}`, nil, ErrInvalid, "422"},
		"202":                            {202, `{}`, nil, nil, ""},
		"304 that nobody asked for":      {304, "", nil, ErrRedirect, "304"},
		"a message in another direction": {422, `{"message":"a\u202eb\u001b[31m::error::c"}`, nil, ErrInvalid, `\u202e`},
	} {
		t.Run(name, func(t *testing.T) {
			f := replies(always(c.code, c.body, c.headers...))
			_, err := f.client(t).Do(context.Background(), Call{Method: http.MethodPost, Path: "x", Needs: needsContents})
			if c.kind == nil {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			var e *Error
			if !errors.As(err, &e) || e.Kind != c.kind || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v", err)
			}
			if strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Errorf("not one plain line: %q", err)
			}
			if len(f.requests) != 1 {
				t.Errorf("sent %d times", len(f.requests))
			}
			if got := Unclear(err); got != (c.kind == ErrUnavailable) {
				t.Errorf("unclear: %v", got)
			}
		})
	}
}

func TestEachErrorOfGraphQLIsOfOneKind(t *testing.T) {
	one := func(kind, message string) string {
		return fmt.Sprintf(`{"data":{"viewer":{"login":"partial"}},"errors":[{"type":%q,"path":["x"],"locations":[{"line":1,"column":2}],"message":%q}]}`, kind, message)
	}
	for name, c := range map[string]struct {
		body string
		kind error
	}{
		"stale":                         {one("STALE_DATA", `Expected branch to point to "d8a7" but it did not.  Pull and try again.`), ErrStale},
		"stale by its words alone":      {one("UNPROCESSABLE", `EXPECTED BRANCH TO POINT TO "d8a7" but it did not.`), ErrStale},
		"stale in other words":          {`{"errors":[{"message":"main is at 1234 but expected 5678"}]}`, ErrStale},
		"a path that is gone":           {one("UNPROCESSABLE", "A path was requested for deletion which does not exist as of commit oid `x`"), ErrPathGone},
		"a rate limit":                  {one("RATE_LIMITED", "API rate limit exceeded"), ErrPrimaryLimit},
		"a secondary one":               {one("RATE_LIMITED", "You have exceeded a secondary rate limit"), ErrSecondaryLimit},
		"one without a type":            {`{"message":"x","errors":[{"message":"exceeded a secondary rate limit"}]}`, ErrSecondaryLimit},
		"a permission":                  {one("FORBIDDEN", "Resource not accessible by integration"), ErrForbidden},
		"scopes":                        {one("INSUFFICIENT_SCOPES", "Your token has not been granted the required scopes"), ErrForbidden},
		"not found":                     {one("NOT_FOUND", "Could not resolve to a Repository"), ErrNotFound},
		"not found, named like a limit": {one("NOT_FOUND", "Could not resolve to a Repository with the name 'octo/rate limit'"), ErrNotFound},
		"a rule":                        {one("UNPROCESSABLE", "Repository rule violations found"), ErrRule},
		"unprocessable":                 {one("UNPROCESSABLE", "No"), ErrInvalid},
		"a field that is not there":     {`{"errors":[{"path":["mutation"],"extensions":{"code":"undefinedField","typeName":"Mutation"},"message":"Field 'x' doesn't exist on type 'Mutation'"}]}`, ErrInvalid},
		"a variable that does not fit":  {`{"errors":[{"extensions":{"value":{},"problems":[]},"message":"Variable $input of type X! was provided invalid value for branch"}]}`, ErrInvalid},
		"nothing that is known":         {`{"data":null,"errors":[{"message":"Something went wrong while executing your query"}]}`, ErrUnavailable},
		"an error without a word":       {`{"data":{"viewer":{"login":"partial"}},"errors":[{}]}`, ErrUnavailable},
		"the second says more":          {`{"errors":[{"message":"Something went wrong"},{"type":"STALE_DATA","message":"x"}]}`, ErrStale},
		"no JSON":                       {`<html>`, ErrMalformed},
		"neither data nor errors":       {`{"data":null}`, ErrMalformed},
		"data that is a list":           {`{"data":[]}`, ErrMalformed},
		"an empty list of errors":       {`{"data":{"viewer":{"login":"whole"}},"errors":[]}`, nil},
		"success":                       {`{"data":{"viewer":{"login":"whole","more":1}}}`, nil},
		"data of another shape":         {`{"data":{"viewer":{"login":1}}}`, ErrMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			f := replies(always(200, c.body))
			o := f.options()
			o.Sleep = func(context.Context, time.Duration) error { return errWaited }
			var data struct {
				Viewer struct {
					Login string `json:"login"`
				} `json:"viewer"`
			}
			waited := false
			o.Waiting = func(_ time.Duration, e *Error) { waited = true; checkKind(t, e, c.kind) }
			err := newClient(t, o).GraphQL(context.Background(), "query", nil, Call{}, &data)
			switch {
			case c.kind == nil:
				if err != nil || data.Viewer.Login != "whole" {
					t.Errorf("got %v, %+v", err, data)
				}
			case waited:
				if !errors.Is(err, errWaited) {
					t.Errorf("got %v", err)
				}
			default:
				checkKind(t, err, c.kind)
			}
			if c.kind != nil && data.Viewer.Login != "" {
				t.Errorf("partial data was used: %+v", data)
			}
		})
	}
}

var errWaited = errors.New("waited")

func checkKind(t *testing.T, err, kind error) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Kind != kind {
		t.Errorf("got %v, want %v", err, kind)
	}
}
