// Package compaction makes a ledger of many small segments one of few large ones
// without losing a record. It has two halves that trust each other with nothing:
// the planner, which may be anybody, proposes a [Plan]; [Prepare] takes a plan
// for hostile, looks at the branch as it stands now, and answers with the one
// change that the plan permits, or with none (specification, sections 5.3, 5.4
// and 9). Everything here is a pure function of a [ledger.Snapshot].
//
// # Segments
//
// A segment is a shard of which every line is a record and the last one is
// ended ([ledger.ReadSegment]), at most max-segment-kb large. [Load] reads all of
// a snapshot, up to [ledger.MaxReadShards]; a ledger with more is an error. What
// is no segment, and a segment that could not be written again (it holds a record
// twice, or one that nests more than [ledger.MaxPayloadDepth] deep), is skipped
// and named and never stands in the way of the others. A byte order mark does not
// matter: digest and size of the source count it, the replacement drops it.
//
// # Selection
//
// Built in ([Inventory.Select]): the candidates are the segments at most 75 %
// full, by ascending id. With fewer than min-segments of them nothing is to be
// done. A pass takes each candidate whose records still fit into one segment
// together with those already taken, and passes over the others, until it has
// max-segments. A pass that takes fewer than two starts again without its first
// candidate, so that one large segment cannot stop the small ones behind it; and
// full segments are left alone, so that every round makes the ledger shorter. A
// selection whose replacement would collide with another shard loses its last
// segment until it does not. Plan and apply are repeated until nothing is
// selected, at most [MaxRounds] times a run.
//
// A list of segments from a script ([Inventory.PlanFromSources]) is a proposal:
// 2 to max-segments segments of [Inventory.Offer], each once, that fit into one.
//
// # Plan
//
// A plan is canonical text (package canonical) and a line feed:
//
//	{"base_commit":"<40 or 64 hex digits>","branch":"ledgers/<name>",
//	 "created_at":"YYYY-MM-DDTHH:MM:SS.mmmZ","ledger":"<name>",
//	 "plan_id":"sha256:…","replacement":IDENTITY,"sources":[IDENTITY,…],
//	 "trigger":"scheduled" or "requested","version":"gh-aw/ledger-compaction-plan/v1"}
//
// (without the white space), where an IDENTITY names a segment by content:
//
//	{"bytes":N,"records":["sha256:…",…],"segment":"<uuid4>","sha256":"sha256:…"}
//
// sha256 and bytes are those of the file, records the digests of its records,
// ascending. The replacement is the segment ([ledger.BuildSegment]) of the union
// of the selected segments' records, with the metadata
//
//	{"compaction":"gh-aw/ledger-compaction-plan/v1"}
//
// and the sources are the selected segments, ascending, without the replacement
// where it was selected too. plan_id is the SHA-256 of the canonical text of
//
//	{"branch":…,"ledger":…,"replacement":{"segment":…,"sha256":…},
//	 "sources":[{"segment":…,"sha256":…},…],"version":…}
//
// so that the same transition has the same id whenever it was planned. A plan
// holds no commands, paths or git arguments, and none of its text is ever shown.
//
// [ParsePlan] reads a plan that anyone may have written: at most [MaxPlanBytes],
// strict JSON in any spelling, exactly the members above, at most max-segments
// sources and [MaxPlanRecords] records in them, the configured ledger and branch,
// every source record among the replacement's, and the plan_id computed anew.
// Its errors are a closed set of sentences ([RejectedError]).
//
// # Transition
//
// [Prepare] answers with one of these, in this order:
//
//	conflict         a source is there but is no segment any more, or differs from
//	                 the plan in bytes or records; or other bytes stand under the
//	                 replacement's id
//	already_applied  no source is there, and the replacement is, or the state file
//	                 records the plan
//	stale            none or only some of the sources are there
//	rejected         the replacement, built again from the branch's own records, is
//	                 not the plan's; or a record would be lost
//	ready            none of these
//
// Only ready comes with a change: the replacement, if it is not there, and the
// state file are added, the sources deleted. The coverage that it rests on is made
// there, from the validated plan and the records read; declarations on a branch
// are never looked at. Loss is disproved twice: each source's records must be in
// the replacement, and every record that a reader of the whole branch finds
// before, in shards outside the plan and in damaged ones too, must be found after.
// What was appended after planning is not part of the change and so preserved. On
// a branch there is no current run, and so no shard of one; whoever plans on a
// directory leaves shards that are being written out of the snapshot.
//
// # State
//
// ledger/compaction/state.json is canonical text and a line feed:
//
//	{"last_applied_at":TIME,"last_plan_id":"sha256:…","last_trigger":TRIGGER,
//	 "ledger":NAME,"recent_plan_ids":["sha256:…",…],
//	 "version":"gh-aw/ledger-compaction-state/v1"}
//
// with at most [MaxRecentPlans] ids, the newest first. A state that is anything
// else, or over [MaxStateBytes], is ignored. [Due] reads it: a scheduled run is due
// when the last one is 20 hours (daily) or 164 hours (weekly) old, a little less
// than the period, for cron jitter.
//
// # Departures from the reference runtime
//
// Plans, state files, replacements, verdicts and reasons are the reference's, but:
// selection leaves segments over 75 % alone and starts again (above); segments
// that could not be written again are skipped, where the reference plans them and
// then rejects its own plan or fails; a plan that names one is rejected; of
// a plan or state with a member twice the reference takes the last, here both are
// refused, and so are a byte order mark, an unpaired surrogate and an integer
// that a double changes; a list of one string is no string; a symbolic link in a
// source's place is a conflict wherever it leads; and a recorded compaction further
// in the future than one period does not hold up the schedule.
package compaction
