// Package publish writes ledger branches. [Update] is the only loop of the
// project that does; no role that must not write links this package.
//
// # The loop
//
// Update reads the branch, calls a function that turns what stands there into a
// [ledger.Change], puts one commit on top of the head it read, and moves the
// branch by a compare-and-swap: the server moves it only if it still stands at
// exactly that head, or, for a branch that was missing, only if it still does
// not exist. When the branch moved, or no clear answer came, nothing is decided
// from what was sent: the branch is read and the function called again, at most
// [MaxAttempts] times in all, with a random pause in between. An empty change
// means that the work already stands, so a lost reply settles itself; the
// function must therefore be idempotent and depend on its argument alone. No
// commit id is ever looked for.
//
// A head that was read once, and the commit named in [Options].Base, must remain
// on the branch. If a later read finds the branch gone ([ErrDeleted]) or without
// that commit among its ancestors ([ErrRewound]), Update stops; nothing is
// written. That is never treated as a race.
//
// # What a commit holds
//
// The tree of the head with the change applied: blobs exactly as given, mode
// 100644, no filters or attributes; everything outside the change, also entries
// that are not regular files, byte for byte as it was. No worktree is written. A
// branch that did not exist begins with an orphan commit that holds the change
// alone and a .gitattributes that turns line-ending conversion off for *.jsonl,
// unless the change brings its own. Author and committer are fixed ([Author]),
// the time is that of an injected clock, the message is the change's.
//
// A change is refused ([ErrChange]) before anything is sent when it deletes what
// is not a regular file of the branch, adds at or below an entry that is not a
// regular file or directory, has a path that [branch.CheckPath] refuses, puts a
// file where a directory remains or the reverse, or has a bad message. One that
// would leave the branch over the bounds it is read under is refused with
// [ErrTooLarge].
//
// # Ways
//
// A way is one strict compare-and-swap. There are two, and [Mode] chooses.
//
// A git push (a path, or "smart" HTTP) whose update command carries the expected
// head as its old object id; the server compares it under its lock on the
// reference. Its old id is all zeros when the branch must not exist. A token
// travels in the authorization header alone.
//
// GitHub's API: the mutation createCommitOnBranch with the expected head. The
// server makes the commit, so that its author is the token's owner and it is
// signed; the rest of what a commit holds is as above, except that the API leaves
// the mode of a file to the server. A missing branch is made of blobs, a tree and a
// commit without parents by the REST git data API, and of a reference whose
// creation fails if it exists. References are never updated over REST, because that
// compares nothing. The branch is read over git in any case.
//
// By itself ([Auto]) the API is used where the remote is a repository of the run's
// own GitHub server. What is over [MaxAPIBytes], more than 50 files for a new
// branch, and the first commit of an empty repository go by git push then; under
// [API] they are errors.
//
// The API's client waits for rate limits itself, within the bounds of package
// github; other answers that leave the outcome open are settled by the loop. That
// a branch or a path is not there is believed the second time at the same head:
// the first time the branch is read again, which tells a deleted branch.
package publish
