// Package branch reads one branch of a git remote at one commit. It cannot
// write: the code that builds commits and sends them stands in package publish,
// which this package never imports.
//
// # Remotes
//
// A [Remote] is a path, a file URL, an https URL, or, on a loopback address
// only, an http URL. Everything else is refused before anything is opened: ssh
// in both spellings, git://, ext:: and other helpers, text that git could read
// as an option, credentials inside a URL, queries, fragments, control
// characters. An https remote is spoken to by this process alone. For a path, a
// git child serves the repository; it runs with an environment of its own (see
// [Command]): no system, global or inherited configuration, an empty home, no
// prompts.
//
// The token of a Remote goes to one place: the origin (scheme, host and port) of
// Remote.Server, as a Basic authorization header. It is never part of a URL, an
// argument, an environment, an error or anything printed, and since no redirect
// is ever followed, it never crosses one.
//
// # Names
//
// A ledger branch is "ledgers/NAME" or "memory/NAME", NAME being a ledger name
// ([CheckName]). On the wire it is always the full refs/heads/ form. A tag of
// the same name, a branch that is a directory of it ("memory") and a branch
// under it ("memory/x/y") are refused with [ErrNameTaken], because git, or the
// next tool that uses the short name, would mean another thing.
//
// # Reading
//
// [Read] fetches one commit with its tree into memory and lists the regular
// files. A missing branch, also in an empty repository, is a Snapshot whose Head
// is "". Symbolic links, submodules and entries whose name could escape a
// directory are never followed; the Snapshot names them as irregular. Trees are
// checked as strictly as git's own fsck does: entries sorted, names unique.
// Everything is bounded by [Limits], while it is being received: over a bound is
// [ErrTooLarge], never a part of the branch. Blobs are taken as they are stored;
// no attribute, filter or line-ending rule has any effect.
//
// A [Reader] reads the same branch again and again, as a writer does that lost a
// race; it then asks only for what is new. [Reader.Contains] tells whether a
// commit is the head or one of its ancestors, which is how a deleted or rewound
// branch is told from one that moved on. [History] walks all commits of the
// branch, oldest first, for an audit. [Export] writes a Snapshot into an empty
// directory.
//
// SHA-256 repositories are refused; object ids are SHA-1, computed with
// collision detection.
package branch
