// Package githubtest is a GitHub to test against: one TLS server on loopback that
// speaks what this module uses of a GitHub Enterprise Server, over real bare
// repositories that the git of the machine made.
//
//	URL/OWNER/REPO(.git)/…      git http-backend
//	URL/api/graphql             createCommitOnBranch, viewer, and what is minimized
//	                            in the thread of an issue or pull request
//	URL/api/v3/user, rate_limit
//	URL/api/v3/repos/OWNER/REPO
//	  git/ref/…                 GET
//	  git/refs                  POST; there is no update
//	  git/blobs, git/trees, git/commits  POST
//	  git/commits/SHA           GET
//	  contents/PATH             GET
//	  actions/workflows/FILE/dispatches  POST
//	  issues/N, issues/N/comments, issues/comments/ID
//	  pulls/N/reviews, pulls/N/comments  GET
//	  collaborators/LOGIN/permission     GET
//
// Lists come in pages of at most 100 whose Link header names the repository by id;
// what can be read again has an ETag, and 304 costs nothing of the rate limit. Every
// other path is 404.
//
// Nothing is simulated that git can do: a mutation becomes a commit in the bare
// repository, and the branch moves by update-ref with the expected head as the old
// value, so that two writers race as they do at GitHub.
//
// # What a token may do
//
// [Server.Token] registers a token with its [Permissions], keyed as in a workflow
// (contents, issues, pull-requests, actions), each read or write. An unknown token
// is 401 Bad credentials. A missing permission is 403 "Resource not accessible by
// integration" over REST, an error of type FORBIDDEN over GraphQL, and 403 over
// git. A request without a token learns nothing: every repository is private. A
// token acts as github-actions[bot] unless an [Account] is given, and like at GitHub
// a bot is refused by GET /user.
//
// # Failures
//
// [Server.Script] puts replies in a queue for the requests that a [Match] chooses:
// a status with headers and body, a connection dropped before the request had its
// effect or after it, a function to run between two requests. A request takes the
// first queue that matches and is not empty; with none it is served.
//
// # What is recorded
//
// [Server.Requests] has every request in the order of arrival, with the token that
// came along; [Server.Commits] how each commit reached a branch and with which
// expected head; [Server.Dispatches] what workflows were started.
//
// # Departures from GitHub
//
// Commits are not signed. Each token reaches every repository. GraphQL is read as far as the queries of this module need
// it: one operation, variables, no fragments. Limits of size are those that are
// documented. The words of an error for a branch that is missing are our own.
package githubtest
