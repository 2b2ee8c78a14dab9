// Package persist turns what an agent staged into one change of a ledger branch.
// [Prepare] reads the hostile staging directory once; [Staged.Change] is then a
// pure function from the branch as it stands to a ledger.Change, called anew for
// every head that a commit is tried on. The package writes nothing itself, knows
// no git, and never compacts.
//
// # What is read
//
// Regular files with one link, without following links, within bounds on their
// number, depth, size and sum. What is no such file, and a file that was replaced
// while it was read, is rejected; one that cannot be read is an error, never
// empty content. Folders are no items; a folder whose name no branch could hold
// is rejected as one item, unread.
//
// # What becomes of it
//
// Every staged item lands in exactly one list of the [Report]: accepted, ignored
// or rejected, each with a reason. A rejected item blocks no other. Items are
// judged by the first of these rules that applies.
//
//  1. A file that the runtime put there ([Options].Own) is ignored.
//  2. A regular file that the branch has under the same path, byte for byte, is
//     ignored, whatever it is: it was restored and not touched.
//  3. What has a bad name, or is no regular file, is rejected.
//  4. A shard, ledger/shards/<uuid4>.jsonl, is rejected whole if the branch has
//     another under its name, ignored if it is empty, and rejected if it is over
//     the segment bound. Otherwise it is taken apart; the shard itself is never
//     copied (specification, section 5.5).
//  5. An unpublished shard of a writer, ledger/shards/<uuid4>.pending, is ignored;
//     everything else below ledger/, coverage declarations and the state of
//     compaction among it, is rejected.
//  6. All other files are ordinary memory files.
//
// # Lines of staged shards
//
// A line is read by the ledger's own parser. A blank line, a line that is no
// record, one with a byte order mark or a carriage return, and a last line
// without line feed are rejected, each with its number and offset; the records
// of other lines are not discarded for it (specification, section 2). Records go
// through the ledger's one admission together, parents first. Of two lines with
// one id, and of a record that is staged twice, none is admitted. A record that
// the branch has is ignored.
//
// Admitted records are written into shards that persistence makes: in
// reconstruction order, a new shard when the next line would not fit the segment
// bound, each named by ledger.BuildSegment with the metadata {}, which also sorts
// the lines in it by digest. The same staging therefore makes the same shards. A
// shard whose name the branch has with other content is left out, with what
// descends from it, and a warning; nothing is overwritten.
//
// A Change does not change verdicts: shards on the branch that were made from
// this very staging, by an earlier run or by a push whose answer was lost, are
// put aside while it is judged, so that a rule about the staging as a whole,
// such as how many heads it may add, allows no more the second time.
//
// # Memory Git
//
// Records of memory.* types are admitted under the one principal that the run was
// configured with ([Memory], package memory). Without a policy, an entry in it, or
// with a whole that cannot be authorized, all of them are rejected for that reason
// and the other records pass. Otherwise those of types that agents may write are
// published like any record, and judged one by one, in reconstruction order: one
// that is refused stands without effect, a lost compare-and-swap with the current
// head. Types that only trusted jobs write are rejected. What persistence adds in
// the same commit follows in shards of its own: the root of a project that has
// none, conflicts of accepted proposals, the output manifest, and last the
// admission, whose parents are the heads. The configured project gets its root
// even if nothing of memory is staged.
//
// A staging that was published is judged no second time: its records are on the
// branch, and their verdicts are read from the chain.
//
// The chain is worth what its writers are. Memory is refused on a branch that has
// a shard which none of these roles made, if records of memory stand in it or it
// follows on one.
//
// # Ordinary files
//
// They are added or replaced, never deleted, bytes as they were staged, if they
//
//   - end in an allowed extension and match a glob, if there are any;
//   - are UTF-8 text without NUL, whatever the extension, and within the file
//     bound;
//   - have only path elements that are valid UTF-8 in normalization form C, at
//     most 255 bytes, without control characters, characters that do not show,
//     backslashes or any of <>:"|?*; that neither start with a dot nor end with a
//     dot or a space; and that stand for nothing else: git's own folder, a device
//     or a short name on Windows, a file that agents take for instructions, or,
//     at the root, the ledger's folder, in any case and compatibility form;
//   - differ from every other name, staged or on the branch, in more than case
//     and composition, and stand at no place that the branch has otherwise;
//   - were not changed on the branch since the staging was restored. A file that
//     is as it was restored is ignored, so that an old copy replaces nothing.
//     Without a base nothing on the branch is replaced.
//
// # Bounds on the whole change
//
// max-patch-kb bounds the admitted records (lines with line feeds), max-shards
// the shards of the branch with the new ones, max-file-count the files added or
// replaced, max-memory-patch-kb what they add: the bytes of their lines that the
// version on the branch does not have. Each counts what the change adds, not
// what is there. Passing one is a [*LimitError] and nothing is persisted.
//
// # What admission cannot say
//
// Records are proved to be what they are, not who wrote them. The transaction
// log is compared with the staged records for a notice; it decides nothing
// (specification, section 8).
package persist
