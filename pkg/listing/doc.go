// Package listing reads one thread of a GitHub server whole: an issue or pull
// request, its comments, reviews and review comments, and which of them are
// minimized or were edited. What the thread means, package thread decides.
//
// # Reading
//
// The issue is read first, then each list page by page, 100 items each, along the
// server's own links to the next page; a link to anywhere else ends the list as
// not read. A review that is not submitted is left out. Then GraphQL is asked,
// in as few pages, when each text was last edited and whether it is minimized; an
// artifact that GraphQL does not know although its list was read to the end counts
// as minimized.
//
// A thread can change while it is read, so that a page skips an item. After a
// pass the issue is asked for again, on the condition that it changed; if it did,
// or if its count of comments is not what was listed, or if reviews or review
// comments, which it does not count, have several pages, the thread is read again,
// each page on the condition that it changed, at most [maxPasses] times. A pass in
// which nothing had changed settles the listing, whatever count the issue states.
//
// The listing is Complete only after all that. When a request fails, the budget is
// used up, a bound is passed or the thread does not come to rest, what was read so
// far is returned as not complete, with the reason; nothing is ever concluded from
// it. Without the issue itself there is no listing and the failure is an error.
//
// # Budget
//
// Every request of a role, repeated ones included, is counted against one bound
// ([Budget]); the one that would pass it is not sent.
//
// # Events
//
// [ReadEvent] reads of an event's payload who triggered the run, when, with what,
// and on which thread:
//
//	issues, pull_request,           the text of the issue; created_at when it was
//	pull_request_target             opened, else updated_at
//	issue_comment,                  the comment; created_at when it was created, else
//	pull_request_review_comment     updated_at
//	pull_request_review             the review; submitted_at when it was submitted
//	discussion, discussion_comment  refused: discussions are not supported
//	any other                       no thread, artifact or time
//
// The author is the payload's sender in every case. The copies of texts in the
// payload are compared with what is listed, by package thread.
package listing
