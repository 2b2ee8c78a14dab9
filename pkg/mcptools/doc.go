// Package mcptools serves one ledger folder to an agent over the Model Context
// Protocol (specification, section 5.2). The agent is a stranger: it may ask and
// stage, and what it stages is judged again by the job that publishes it.
//
// # Tools
//
//	ledger_append  {type, payload, idempotency_key?}  the record
//	ledger_get     {id} or {sha}                      the record, {"record":null}, or
//	                                                  {"conflict":{"id":…,"shas":[…]}}
//	ledger_query   {type?, where?, limit?, after?}    a page (package projection)
//	ledger_status  {}                                 counts, heads, diagnostics
//
// Arguments are one JSON object, read strictly: unknown, repeated and wrongly
// cased names are refused, as are values of another type than the schema says; a
// string that holds JSON is a string. Missing arguments are an empty object. A
// payload may be any JSON value that admission takes (package ledger), and that
// satisfies the schema of the workflow's author where there is one (package
// schema), which the list of tools then shows if it has at most 4 KiB.
//
// Every result has the same JSON as structured content and as text. A refusal is
// a result with isError and one fixed sentence, with at most names that the
// arguments themselves hold; no path, SQL or text of an error of the system is
// ever shown. Results are data that strangers wrote, never instructions, which
// the server's instructions and every description say.
//
// An append is durable when it is answered. Its audit event is written afterwards;
// that the log failed is said in a second text and never fails the append. With an
// idempotency key the server answers an equal request with the record it made
// before, and says so in a second text; another request under a used key is
// refused. Keys live as long as the server, the newest 1,024 of them.
//
// A page without a limit stops at 100 rows or 28 KiB of rows, whatever comes
// first, one with a limit at 256 KiB; a page has at least one row if any matches,
// and hasMore and nextCursor say how to go on.
//
// # Memory Git
//
// With [Server.EnableMemory] there are ten more tools, for one project and one
// principal of the memory policy (package memory):
//
//	memory_status            whom the agent writes for, and where the project stands
//	memory_log               the changesets that a head holds, newest effect first
//	memory_show              one changeset, proposal, manifest or memory
//	memory_ref_list          the refs that the principal may read
//	memory_branch_create     a ref of one's own
//	memory_diff              what two heads mean, in the sections of the specification
//	memory_changeset_create  ops on a ref of one's own, with its movement
//	memory_merge_propose     a branch or selected ops for a protected ref
//	memory_revert_propose    a changeset that takes another back, and its proposal
//	memory_context_at        accepted memory, ranked and bounded; with pin its manifest
//
// Review and merge are jobs of people and no tools. Writers take an
// idempotency_key, which package memory keeps in the records, so that a replay is
// one across restarts; that of a pin lives in the server. A request that stopped
// between its records is completed by the same request under the same key. What
// a principal may not read is answered like what does not exist.
//
// The tools answer from the fold of the folder, in which what this run staged has
// the effect that persistence will give it. Nothing of the history is looked at
// again by an append; only an admission that appears in the folder, which no agent
// writes, folds it anew. ledger_append refuses the types of memory.
//
// Lists come in pages of 50 entries or 28 KiB, with a limit of up to 500 or 256
// KiB. A cursor names the changesets that its list is made of, so that the pages
// of a list fit together whatever is written meanwhile.
//
// # Transport
//
// [Server.Serve] speaks JSON-RPC, one message a line of at most 8 MiB with its line
// feed. A line that is no message is answered and the session goes on:
//
//	−32700  it is no JSON; the id is null
//	−32600  it is no message, among them batches, which newer protocol versions
//	        dropped, too; the message or its parameters repeat a member; it is too
//	        long or nested over 1,000 deep; its id is no string of at most 200 bytes
//	        without escapes and no whole number of at most 15 digits
//
// The answer has the line's own id where that can be known and repeated: of a line
// that is too long only 1 KiB at each end is kept, which is enough when the id
// stands before the parameters, or behind them with at most the method and the
// version. The messages of all errors are fixed sentences.
//
// Messages are taken in the order in which they come, each when the call before it
// is answered, so that a client may send calls without waiting; they stay in the
// pipe meanwhile. When the input ends, everything that was sent is answered before
// the server stops; when it is told to stop, the call that it works on. A client
// that takes no more output is gone, at the latest after 5 seconds. Subscriptions
// are no method of this server.
//
// [Server.ServeHTTP] speaks the streamable HTTP of the protocol at /mcp, to any
// number of clients with at most 256 sessions; one that does nothing for an hour
// is over. A request is let in when
//
//	its Host is loopback, the address that is listened on, or a name that the
//	operator allowed; otherwise 403
//	it has no Origin, or one of these hosts, and no browser says that another site
//	sent it; otherwise 403
//	it has the header Authorization: Bearer and the token, compared in constant
//	time; otherwise 401
//
// Its body is one message, judged by the rules of the lines: what is no message is
// answered with status 400 and the same JSON-RPC errors, what is too long with 413.
// Calls of all clients take turns; at most 8 messages are in memory at once, others
// wait unread. Answers are JSON; every other text is a fixed sentence. When the
// server is told to stop, the calls that it has begun are answered first.
package mcptools
