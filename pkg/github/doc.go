// Package github speaks to the API of the GitHub server that a workflow runs on:
// github.com, a server of ghe.com, or GitHub Enterprise Server. It knows no
// ledger and no git; what it sends is made by its callers.
//
// # Addresses and the token
//
// Three addresses name a server, as the runner gives them: its own
// (GITHUB_SERVER_URL), that of its REST API (GITHUB_API_URL) and that of its
// GraphQL API (GITHUB_GRAPHQL_URL; when it is empty, ../graphql of the REST API's,
// which is right on all three kinds of server). The API of https://HOST stands on
// https://HOST or on https://api.HOST, on the same port, and nowhere else: any
// other address is refused ([ErrConfig]) before anything is sent, because the
// token would go there. http is spoken to loopback addresses only. The token is
// put into each request's Authorization header by the one transport that also
// checks the request's origin; it is in no URL, argument, error or text.
//
// Redirects are never followed ([ErrRedirect]). Proxies are those of the
// environment, certificates those of the system, or of SSL_CERT_FILE.
//
// # Answers
//
// Every answer is read whole, under a bound ([Call].Limit), before anything of it
// is used, and decoded strictly. A GraphQL answer that holds an error is an error
// as a whole, whatever data came beside it. What is not a success is an [*Error]
// of one of the kinds below:
//
//	ErrUnauthorized    401: the token is wrong or has expired
//	ErrForbidden       403: the token lacks a permission, which the error names
//	ErrForkToken       403 in a run for a fork's pull request or for Dependabot,
//	                   whose token can only read
//	ErrPrimaryLimit    the rate limit of the token (403 or 429 with no requests
//	                   remaining, GraphQL RATE_LIMITED); wraps ErrThrottled
//	ErrSecondaryLimit  any other 429, and a 403 with Retry-After or whose message
//	                   speaks of a rate limit; wraps ErrThrottled
//	ErrRule            a ruleset, branch protection or push protection refused
//	ErrNotFound        404, 410, GraphQL NOT_FOUND
//	ErrStale           GraphQL STALE_DATA, or a message that says the same
//	ErrPathGone        a path to delete does not exist
//	ErrExists          a reference to create exists
//	ErrEmpty           the repository has no commit yet
//	ErrTooLarge        413, or an answer over its bound
//	ErrInvalid         any other 4xx, GraphQL UNPROCESSABLE
//	ErrRedirect        3xx
//	ErrMalformed       an answer that is none
//	ErrUnavailable     5xx, no answer, or an answer that was cut off
//
// [Unclear] tells the kinds that leave open whether a request that changes
// something took effect. Such a request is never sent again by this package.
//
// A message of the server is quoted on one line of printable ASCII, cut, and
// without anything that looks like a secret ([Redact]).
//
// # Waits
//
// A throttled request was not carried out. The client waits and sends it again:
// as long as Retry-After says, else until x-ratelimit-reset when nothing remains,
// else a minute, doubled each time. A wait that would pass [MaxWait], one wait
// more than [MaxWaits] for one request, or a total of more than [MaxWaiting], is
// the error instead. A GET that got no clear answer is sent again as well, at
// most [MaxReads] times in all.
package github
