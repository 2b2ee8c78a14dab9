// Package memoryrun is what the trusted jobs of Memory Git have in common around
// package memory, which is pure: who the run acts for, where the policy and the
// keys come from, and how records become one change of the branch.
//
// # Whom a run acts for
//
// A person is the actor of the run by numeric user id (GITHUB_ACTOR_ID), never by
// login, and only if the run was triggered by that actor: a re-run that somebody
// else started does not act for the first. The workflow must be that of the
// default branch: GITHUB_WORKFLOW_REF, without the repository and the path of the
// file, and GITHUB_REF both name refs/heads/ and the default_branch of the event's
// repository. On any other branch the workflow, and the policy that it checked
// out, are whoever's who pushed there.
//
// # Keys
//
// The merge keys are read once, from the input merge-keys or the variable
// MEMORY_MERGE_HMAC_KEYS, and both are removed from the environment before
// anything else is started (specification of Memory Git, "Protected-merge
// authorization").
//
// # Changes
//
// The records of one commit become shards of the metadata {}, in the order given,
// a new one when the next line would not fit max-segment-kb. A ledger that was not
// read whole is not written to.
package memoryrun
