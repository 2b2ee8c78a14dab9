package github

import (
	"context"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/repo-memory/ledger/pkg/canonical"
)

// GraphQL runs one query or mutation; call gives Needs, Limit and Private. The
// answer's data fills target, a pointer, unless the answer holds an error.
func (c *Client) GraphQL(ctx context.Context, query string, variables map[string]any, call Call, target any) error {
	call.Method, call.Path = http.MethodPost, c.at.graphql
	call.Body = map[string]any{"query": query, "variables": variables}
	var data jsontext.Value
	call.inspect = func(a *Answer) (failed *Error) {
		data, failed = c.graphqlData(a, call)
		return failed
	}
	if _, err := c.Do(ctx, call); err != nil {
		return err
	}
	return (&Answer{Body: data}).Decode(target)
}

// graphqlError is one entry of an answer's errors.
type graphqlError struct {
	Type       *string `json:"type"`
	Message    *string `json:"message"`
	Extensions *struct {
		Code *jsontext.Value `json:"code"` // of a query that the schema refuses
	} `json:"extensions"`
}

// graphqlData returns the data of an answer without errors.
func (c *Client) graphqlData(a *Answer, call Call) (jsontext.Value, *Error) {
	var all struct {
		Data   *jsontext.Value `json:"data"`
		Errors *[]graphqlError `json:"errors"`
	}
	if canonical.Decode(a.Body, &all, canonical.AllowUnknown) != nil {
		return nil, &Error{Kind: ErrMalformed, Status: a.Status, Hint: "the answer is not one of GraphQL: check GITHUB_GRAPHQL_URL"}
	}
	if all.Errors != nil && len(*all.Errors) > 0 {
		var first *Error
		for _, g := range *all.Errors {
			e := c.classifyGraphQL(g, call)
			// One error that says what is wrong counts more than one that does not.
			if first == nil || first.Kind == ErrUnavailable && e.Kind != ErrUnavailable {
				first = e
			}
		}
		return nil, first
	}
	if all.Data == nil || (*all.Data).Kind() != '{' {
		return nil, &Error{Kind: ErrMalformed, Status: a.Status, Hint: "the answer has neither data nor errors"}
	}
	return *all.Data, nil
}

func (c *Client) classifyGraphQL(g graphqlError, call Call) *Error {
	kind, message := "", ""
	if g.Type != nil {
		kind = *g.Type
	}
	if g.Message != nil {
		message = *g.Message
	}
	e := &Error{Says: says(message, call)}
	switch {
	case kind == "STALE_DATA", saysStale(message):
		e.Kind = ErrStale
	case kind == "RATE_LIMITED", kind == "RATE_LIMIT":
		e.Kind = ErrPrimaryLimit
		if containsAny(message, "secondary") {
			e.Kind = ErrSecondaryLimit
		}
	case saysLimit(message) && kind != "NOT_FOUND":
		e.Kind = ErrSecondaryLimit
	case containsAny(message, "requested for deletion"):
		e.Kind = ErrPathGone
	case saysRule(message):
		e.rule()
	case kind == "FORBIDDEN", kind == "INSUFFICIENT_SCOPES", says403(message):
		c.forbidden(e, message, call)
	case kind == "NOT_FOUND":
		e.Kind, e.Hint = ErrNotFound, "check the name, and that the token may see it"+needs(call, "; it needs ")
	case kind == "UNPROCESSABLE":
		e.Kind = ErrInvalid
	case kind == "" && (g.Extensions != nil && g.Extensions.Code != nil || containsAny(message, "was provided invalid value", "doesn't exist on type")):
		e.Kind, e.Hint = ErrInvalid, "the server's GraphQL schema does not know this request"
	default:
		e.Kind = ErrUnavailable
	}
	return e
}
