// Package memory is Memory Git on a ledger: branches of memory, semantic diffs,
// conflicts, and merges that a person reviews, folded from plain ledger records.
// It is pure: functions from records, a policy, a principal and a clock to
// records and verdicts. It keeps no second store and reaches nothing outside
// (specification of Memory Git, all sections).
//
// # Records
//
// Everything is the payload of a ledger record of one of eight types, each in
// the canonical text of package canonical and each described with its Go type:
//
//	memory.changeset  Changeset   immutable semantic ops       agents, reviewers
//	memory.ref        Movement    a ref created or moved       agents, operators
//	memory.proposal   Proposal    what shall be merged         agents
//	memory.manifest   Manifest    a context pinned; a run's    agents (input),
//	                              outcome                      persist (output)
//	memory.conflict   Conflict    what the detectors found     persist, review
//	memory.review     Review      a verdict of a person        review
//	memory.merge      Merge       a protected ref moved        merge
//	memory.admission  Admission   which of them have effect    every trusted job
//
// The sets of members are closed. A string that is optional is absent, never
// empty. Changesets are named "<id>@<integrity digest>" (Name).
//
// # The admission chain
//
// Each trusted commit with such records ends with an admission record, which
// lists them with their verdicts in the order in which they take effect, and
// names the admission before it. A list that would not fit one record is spread
// over several links. The fold (Fold, State.Advance) walks that chain from seq 1
// and looks at nothing else: a record that no link lists has no effect, wherever
// it stands and whatever it names as parents. Each record listed as accepted is
// judged again by the code that persist judged it with; one that does not pass is
// a diagnostic and has no effect. The principal's entry in the policy, as it was
// then, is part of the link, so that ownership and scopes can be judged again
// without the policy file.
//
// A fork (two links of one seq after the same link), a gap (a link whose
// predecessor, or a listed record, is not there) or a ledger not read whole stops
// everything that authorizes (State.Authorizes). Reading goes on with the state
// before it. The time of a link is its record's timestamp or that of an earlier
// link, if that is later.
//
// # Root and baseline
//
// A project starts with the changeset legacy-root, without ops and parents, and
// with refs/shared/main at it, the only movement of a protected ref without an
// authorization. Its baseline names the heads of the branch before that commit,
// and the parents that were missing then. The baseline are the records that these
// heads lead to without passing a missing parent. A plain one with a string
// payload.content (and no payload.project_id of another project) is memory, with
// the record's digest as id, marked unreviewed; ops may target it. Plain records
// that come later are no memory.
//
// # Refs
//
//	refs/shared/<name>               accepted memory; protected
//	refs/agents/<actor>/main         the actor's
//	refs/sessions/<actor>/<session>  the actor's
//	refs/topics/<topic>              whom the policy names, else who created it
//	refs/repos/<repo>/<branch>       holders of memory.write
//
// Parts match [A-Za-z0-9][A-Za-z0-9._-]{0,63}. A movement is a compare-and-swap:
// the ref has the expected head, or does not exist for one that creates it, and
// the new head descends from it. One that lost is refused with the head as it is;
// its changeset stays. Principals build on accepted memory, on what their actor
// wrote, and on topics that the policy gives them. Protected refs move by
// memory.merge alone.
//
// # Effects
//
// The memory at a changeset is that of its first parent, then what further
// parents add, parents first and each once, then its own ops in order.
//
//	add_memory           creates; its id is resulting_event_id, memory_id or
//	                     event_id, else mem:<changeset_id>:<ordinal>
//	correct_memory       overlays the fields given; with a resulting id the target
//	                     is retired and the corrected memory has that id
//	supersede_memory     retires; with content creates the replacement
//	mark_duplicate       retires
//	add_relationship     notes the other end with the first
//	propose_deprecation, attach_evidence, attach_verification
//	                     are there to read, and change no memory
//
// A memory exists while it is active. In a merge a target that the other side
// retired stays retired, and an id that is active with other content keeps it;
// the detectors report both. A replacement has the lineage of what it replaced.
// A further parent brings in at most MaxMergeDelta changesets, and all those that
// one admission lists at most MaxLinkDelta changesets and ops.
//
// # Validation
//
// Ops are judged one after the other, each against the effect of those before
// (specification, "Semantic validation"): targets exist, identities are free and
// differ, channels that name one identity agree, keys are those of the op type
// (PayloadKeys), and all bounds of limits.go hold. New identities are visible
// ASCII. Identities that start with
// mem: belong to ops without one, and may be named only by the op itself, by its
// cherry-pick, or to bring back what was retired; those with sha256: are records.
// A target approved by a user is not replaced by an op that says it is an
// inference. Approval and visibility are read from the projected target: approval
// counts where a person wrote the memory or a reviewed merge brought it in.
//
// # Idempotency
//
// An idempotency key is unique for a project and principal among accepted
// records. The same request again is a replay and has no effect; another request
// under the key is refused, also where only expected_head or create_ref differ.
// A changeset and the movement made with it share a key.
//
// # Conflicts
//
// Detection compares the target's head (left) with the proposal's (right) over
// the complete delta: what right adds to the declared base and to left. Texts are
// compared in NFKC without format characters and with white space collapsed.
//
//	incompatible_fact       blocks: two facts of one scope (default the project)
//	                        and fact_key, else subject, with different content and
//	                        overlapping valid time; or one memory changed by both
//	contradictory_decision  blocks: the same for decisions, by subject, else
//	                        fact_key, else by scope alone if neither has one
//	protected_decision      blocks: the left decision is protected, or was changed
//	trust_downgrade         blocks: replaces what a user approved, by anyone but a
//	                        person, or by what says that it is an inference
//	boundary_violation      blocks for another project; a topic, an actor or a
//	                        scope (namespace) asks for acknowledgement
//	scope_flow              asks: private memory on its way to a shared ref, even
//	                        if retired, or copied from any branch of its author,
//	                        or what is new in accepted private memory; or memory
//	                        made broader
//	duplicate_content       informs
//	stale_base              informs: left is no ancestor of right; it blocks where
//	                        selected ops no longer apply
//	too_many_conflicts      blocks: more than MaxConflicts
//
// What a later op of the branch replaced does not conflict, nor does the left
// value that the right replaced and the left left alone. Whether a side changed a
// memory is told from what the proposal's work found, not from the base declared. valid_from and valid_to
// are closed ends, compared as instants; absent is unbounded. Nothing is resolved
// by age. Conflicts are kept only with a proposal, live as Conflict describes,
// end with the proposal (rejected, canceled; superseded by its merge, or by that of
// another which brought the same head in), and are superseded when the detectors
// do not find them at the target's new head.
//
// # Review and merge
//
// Approval names the state digest of what was shown (Presentation) and is void
// once a review, a conflict or the target's head changes. Neither reviewer nor
// merger wrote the proposal or a changeset that it brings in. The authorization
// (Token) is signed for one server, repository, ledger and branch, stands at most
// 15 minutes, and is used up by the memory.merge record that it becomes part of:
// nonce, swap and advancement are one record in one guarded commit. A merge is a
// fast-forward to the proposal's head; a changeset that joins [target head,
// proposal head] and holds an attestation; or a cherry-pick on the target's head
// with the selected ops, each naming changeset and ordinal, and an attestation.
//
// # Contexts
//
// A context is memory at an exact head that is reachable from a ref: active,
// ranked by the words shared with the query, then the most recent op, then id,
// within MaxContextMemories and the tokens asked for. It names open conflicts of
// which the head holds a side, and withholds the memories of those that block and
// of which it holds both. Its manifest pins head, ids, reasons and exclusions;
// from these alone it is made again, byte for byte.
package memory
