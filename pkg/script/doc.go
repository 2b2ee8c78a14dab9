// Package script runs the two scripts that a workflow author may bring to a
// ledger, each in a Node process of its own (specification, section 4). It is the
// only place where user code runs.
//
// # What a script looks like
//
// A script is JavaScript of at most [MaxScriptBytes], in one of two forms. Text
// that compiles as the body of an async function is a body; all other text is
// loaded as an ES module.
//
//	// a module: the default export is called
//	export default (input) => input.records.every((r) => r.type !== "draft");
//
//	// a body: may return, await, require built-in modules, or set module.exports
//	if (input.files.length > 20) return { ok: false, reason: "more than 20 files" };
//
// A module needs a default export that is a function. A body that sets
// module.exports (or exports.default) to a function has that function called;
// otherwise what the body returns is the result, so a body that only declares a
// function checks nothing. Functions may be async.
// Arguments are frozen through and through: changing one throws and changes
// nothing. Local files, packages, the network, other processes and environment
// variables are out of reach; built-in modules that need none of them work.
//
// The validation script (section 4.1) is called with one argument, which a body
// sees as input:
//
//	{ files:   [{ path: "notes/a.md", text: "…" }, …],
//	  records: [{ id, parents, payload, sha, timestamp, type, version }, …] }
//
// files are the files as they would be committed, shards included, in path order;
// records are the admitted ledger records in reconstruction order. It accepts by
// finishing with nothing (undefined), null, true or { ok: true }. It rejects with
// false, { ok: false } or { ok: false, reason: "at most 500 bytes" }, by
// throwing, or by ending its process with a status other than 0, now or later:
// work that it started and did not await still counts, because its process is
// waited for. Everything else rejects too: another value, process.exit before the
// result, a promise that never settles, a bound that is passed, a sandbox that
// cannot be built.
//
// The selection script (section 4.2) is called with two, segments and options:
//
//	segments: [{ id, sha256, bytes, records: ["sha256:…", …],
//	             types: { note: 3 }, oldest: "…Z", newest: "…Z" }, …]
//	options:  { ledger, branch, trigger, minSegments, maxSegments, maxSegmentBytes }
//
// and must finish with exactly { sources: ["<uuid>", …] }: ids of segments that it
// was given, each once, at most [MaxSources]; none means that nothing is to be
// compacted. The result is a proposal: [Select] checks this much and no more. Each
// of its errors means "no plan": a warning, never a failed run.
//
// What a script prints is counted and never shown, and so is the text of what it
// throws, because both may quote what an agent wrote; a throw is reported by its
// line. A reason that a validation script returns is handed on as untrusted text.
//
// # How a result travels
//
// The harness, a fixed program given to node on its command line, reads one JSON
// object from standard input: script, arguments, and a nonce of 128 random bits.
// It answers on descriptor 3 with one line,
//
//	<nonce> value <the result as JSON>
//
// or with nothing, threw, syntax, shape or oversize in place of value. One line,
// with the nonce, and exit status 0 are all required. Standard output and standard
// error are no part of it, so printing a record cannot print a verdict, and all
// that the harness uses after the script has started was captured before, so that
// a polluted prototype cannot change one either: of the result only its own
// members count. The script itself is its author's code and decides its own
// outcome; nothing here protects it from itself.
//
// # The sandbox
//
// Scripts run on Linux only, on amd64 and arm64. Elsewhere nothing keeps Node from
// signalling the process that holds the token, so Validate and Select fail there.
//
// Node 20, 22, 24 and 25 are known, with these flags; any other major is refused:
//
//	20, 22.0 to 22.12    --experimental-permission
//	22.13 on, 24, 25     --permission
//	22.5 on, 24, 25      --no-experimental-sqlite (node:sqlite ignores the permission model)
//	all                  --max-old-space-size, --no-addons, --no-warnings, --input-type=commonjs
//
// The permission model denies files, processes, threads and addons, but in 20 to
// 24 leaves the network open, and in all of them lets a script kill its parent.
// The kernel closes that, in up to three layers:
//
//   - namespaces: new user, pid, network, ipc and mount namespaces with a /proc
//     of their own;
//   - a filter on system calls: no sockets, no signals or tracing of others, no
//     new process, no second program, no io_uring, mounts or namespaces;
//   - Landlock: no file but node itself, its shared libraries, the time zone and
//     the OpenSSL configuration, no TCP, no signal out of the sandbox.
//
// They are set up by this program itself: it starts its own executable again,
// under the name that the init function of this package looks for, which applies
// them and becomes node. Hosts differ in what they allow (GitHub's Ubuntu 24.04
// runners give an unprivileged user no namespaces, older kernels have no
// Landlock), so the strongest set whose canary passes is used, and a weaker one is
// reported as a notice. In each set a process also has no capabilities, an empty
// environment, / as its directory, no core dump, no file size, 64 descriptors, a
// bound on processor time, on address space and on writable memory. The last is
// what bounds Buffers, which --max-old-space-size does not; RLIMIT_AS alone cannot
// do it, because node 24 maps 1.3 GB before it has run anything.
//
// The canary is a fixed script that runs in the same sandbox before any other. It
// reads and writes a file, reads the environment of processes, opens node:sqlite,
// spawns, starts a thread, loads an addon, signals its parent (with signal 0), and
// opens TCP, UDP and Unix sockets. If one attempt is not refused, that set of layers is not used;
// if no set is left, the script does not run. It runs once for a node executable
// and is remembered for the life of the process.
//
// A script that runs too long or prints too much is killed with its process group
// and its process namespace, and dies with its parent.
//
// # What the caller must do
//
// Tokens must be gone from the environment before a script starts: read them,
// then call [ScrubEnv], which also wipes the block that /proc/self/environ shows
// and that os.Unsetenv leaves alone. Validate and Select refuse to run while one
// of [SecretNames] is set. While a script runs, the calling process is also made
// non-dumpable, so that its memory and environment are closed to processes of the
// same user. Processes that this package does not know, such as the shell of the
// step, are hidden by the namespaces, Landlock and the permission model only. One
// script runs at a time in a process.
package script
