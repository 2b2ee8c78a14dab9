// Package thread is the thread ledger: it classifies every artifact of an issue or
// pull request once, keeps its provenance and none of its text, and renders what is
// relevant and trusted as an agent's context, with everybody else's text
// quarantined. The decisions and the posture against prompt injection are those of
// ADR-0012. The package is pure: it reaches no network, file or process, and what it
// decides depends on its arguments alone.
//
// # Listing
//
// A [Listing] is what the REST API shows of one thread: the issue, its comments,
// and a pull request's reviews and review comments, each in the order of the API.
// [DecodeListing] reads it from one JSON object
//
//	{"repository_id":1,"number":2,"complete":true,
//	 "issue":{…},"comments":[…],"reviews":[…],"review_comments":[…]}
//
// whose items are the API's objects; "settled" is optional, an item may have
// "minimized" and "last_edited_at" (GraphQL's; null is never). Glued arrays are not
// one JSON text and are refused. complete is true only when every page was read.
// Ids of different sources are different spaces; an artifact that is listed twice
// counts once.
//
// # Kinds
//
// An issue is an issue-body. Anything else takes the engine's path when a marker
// stands where the engine writes it, at the first byte of the body, alone on its
// line (further lines of markers may follow), and the account is the engine's:
//
//   - the engine's actor, by id, and by login only when an id is not known; an
//     actor that is not known gives nobody anything;
//   - or a genuine bot account (type Bot, or a login in [bot]) that the
//     configuration lists; where the engine records its comments, only for these.
//
// The terminal marker, this package's own state marker, and an agent marker with a
// name in the notice list are engine-output, another agent marker agent-output. All
// else takes the human path: a command if the first line that is neither blank nor
// quoted starts with the prefix, else human-feedback. A marker from another
// account, and a bot's text without one, are never trusted there.
//
// # Trust
//
// What a person wrote is trusted when association is OWNER, MEMBER or COLLABORATOR
// and the author is the account that triggered the run (by id when both sides have
// one, else by login) and is a person. Nobody matches a deleted account, and nobody
// is trusted without a trigger. What the engine posted is trusted by its kind.
//
// Beyond the decision, which leaves edits out: a text whose last edit is not
// strictly before the trigger is not trusted, nor is an edited one when the time of
// the trigger is not known, nor one of which nobody can say (reviews, unless
// last_edited_at is given), nor a person's text that was posted at or after the
// trigger. The artifact that triggered the run is compared with the event's copy
// instead, if there is one. Minimized artifacts are not trusted. Kinds are recorded
// once: where the record and a later look differ about whether the engine wrote it,
// it is not trusted. Every [Reason] is one sentence.
//
// # Records
//
// On a ledger a thread is records of three types. Payloads are canonical text, with
// exactly these members (those in brackets only where they are known or true):
//
//	thread.artifact  {"artifact":{"author_association","created_at","id","kind","source",
//	                  ["state_comment":true],"url",["user_id"],["user_login"],["user_name"]},
//	                  "thread":THREAD,"v":1}
//	thread.deleted   {"artifact":{"id","source"},"thread":THREAD,"v":1}
//	thread.step      {"agent","attempt",["input":{"binding","detail","name","ok","truncated",
//	                  "value"}],"number","of","run","step","thread":THREAD,"v":1}
//
// For example
//
//	{"artifact":{"author_association":"OWNER","created_at":"2026-03-01T10:03:00Z","id":7,"kind":"command","source":"comment","url":"https://github.com/o/r/issues/7#issuecomment-7","user_id":1,"user_login":"alice"},"thread":{"number":7,"repository_id":9},"v":1}
//
// THREAD is {"number":N,"repository_id":N}; source is issue, comment, review or
// review-comment. No payload has a body, nor whether anything is trusted, which is a
// run's affair. A step has one record for each input, number of of; one without
// inputs has one record with number and of 0. [FoldLedger] folds them: the first
// record of an artifact counts, a deletion counts for good, a payload of another
// version is ignored and named. Nothing that a ledger says makes a text trusted: a
// record can only take trust away. Even so the ledger should have no other writer.
//
// # Reconciliation
//
// [Reconcile] appends artifacts that are not recorded, in API order, and records as
// deleted what a complete listing lacks. A second run changes nothing. A listing
// that is not complete records nothing; one that has another number of comments than
// the issue states, and was not read again, deletes nothing.
//
// # Rendering
//
// [Reconciliation.Render] writes a Markdown section, "## Recent thread", in
// chronological order: agent output, trusted commands and trusted human feedback in
// full, each below a "###" line of ours that names kind, artifact, author and time,
// every line of text behind "| ", so that none can start like ours. An agent's markers,
// engine output, the issue body, and what is empty are left out. A run of lines that a trusted
// person quotes, whoever is quoted, becomes one line that says so; a quoted paragraph
// goes on to the next blank line, as in Markdown. All other text is
// in the appendix "### Unverified", one line each: its kind, author, reason and the
// first [MaxLineChars] characters between quotes; the [MaxUnverified] newest are
// shown, with their number. An issue body is there when it was edited after the
// trigger, and so are quoted lines. No untrusted text, login or name stands anywhere
// else. What does not show, is bidirectional or would end a line is spelled \u{…}.
//
// A positive history count keeps the last N items in full, and pinned ones besides.
// A token budget (four bytes of ASCII or one other character each) drops the
// oldest lines of the appendix first, then the oldest items, pinned ones last. Where
// the thread was not read whole, nothing is shown; unless the ledger does not know
// the thread, when the last N (5) items that were listed serve, judged like the rest.
//
// # State
//
// A [WorkflowState] is JSON with schema_version 5, history and thread; see the types.
// The state file is its compact text and a line feed. The state comment is
//
//	<!-- ledger-thread-state v1 -->
//	<details><summary>State of the thread ledger. Edits have no effect.</summary>
//
//	```json
//	{"ledger":{"anchor":"sha256:…","left":{"history":N,"inputs":N,"records":N},
//	 "name":"…","number":N,"repository_id":N},"state":{…}}
//	```
//	</details>
//
// with the JSON on one line, in ASCII, and <, >, &, @ and the backtick escaped, at
// most [MaxCommentChars] characters; left counts what only the ledger has. It is
// known by the id that the ledger recorded for it (state_comment), its author and
// this exact form; before its id is recorded, by author, form, and an anchor that is
// the digest of one of the thread's records. It is an export: nothing is ever
// decided from what it says.
//
// # Trusted staging
//
// What was decided crosses the agent's job as a directory of shards whose digest
// ([StagedDigest]) is an output set before the agent starts. [OpenStaging] refuses
// any other, and [Staging.Next] gives what each commit adds, the oldest first, within
// the patch bound of one commit and without a bound on the whole. The state file
// crosses under [StateDigest].
package thread
