package memory

import "time"

// Bounds of the formats (specification of Memory Git, "Semantic validation" and
// "Protected-merge authorization"). Passing one is a refusal, never a cut.
const (
	// MaxPayloadBytes bounds the canonical text of one op's payload.
	MaxPayloadBytes = 64 << 10
	// MaxContentBytes bounds the content of one memory.
	MaxContentBytes = 16 << 10
	// MaxNoteBytes bounds summary, reason, note and message.
	MaxNoteBytes = 4 << 10
	// MaxFieldBytes bounds every other string, identities among them.
	MaxFieldBytes = 1 << 10
	// MaxTags and MaxTagBytes bound the tags of a memory.
	MaxTags     = 64
	MaxTagBytes = 128

	// MaxOps is how many ops a changeset has: what one record can hold of them at
	// the largest record bound, and what a person can still review.
	MaxOps = 1024
	// MaxParents is how many changesets one joins.
	MaxParents = 8
	// MaxRefs bounds the evidence and verification lists of a changeset.
	MaxRefs = 64
	// MaxMergeDelta is how many changesets a further parent brings in, and
	// MaxLinkDelta how many changesets and ops all those that one admission lists.
	// Replaying them is what a merge costs in every fold; whoever is far behind
	// makes the other side the first parent.
	MaxMergeDelta = 2_000
	MaxLinkDelta  = 50_000
	// MaxBaselineHeads bounds the heads, and the missing parents, that the root
	// names: they have to fit one record.
	MaxBaselineHeads = 128

	// MaxSelected is how many ops a cherry-pick takes: each becomes an op.
	MaxSelected = 256
	// MaxFindings bounds the findings of a review.
	MaxFindings = 64
	// MaxConflicts is how many conflicts are kept for a proposal; further ones
	// become one that blocks (too_many_conflicts).
	MaxConflicts = 256
	// MaxRunProposals is how many proposals one persist run admits: each is compared
	// with all accepted memory, and may leave MaxConflicts records.
	MaxRunProposals = 8
	// MaxConflictMemories is how many memories a conflict names on each side.
	MaxConflictMemories = 8

	// MaxContextMemories bounds the memories of a context.
	MaxContextMemories = 100
	// DefaultContextTokens and MaxContextTokens bound its estimated tokens.
	DefaultContextTokens = 4_000
	MaxContextTokens     = 64_000
	// bytesPerToken is the usual estimate for English text and JSON.
	bytesPerToken = 4
	// MaxExcludedIDs is how many excluded memories a manifest names per reason.
	MaxExcludedIDs = 64
	// maxPinBytes bounds the ids that a manifest pins, and again those that it
	// names as excluded, so that it fits a record of the default size.
	maxPinBytes = 8 << 10
	// MaxLinkContextBytes bounds the contexts that the manifests of one admission
	// pin: every fold makes them again, and a short manifest can pin a long context.
	MaxLinkContextBytes = 2 << 20
	// MaxContextConflicts is how many open conflicts a context lists by id; the
	// rest are counted.
	MaxContextConflicts = 32

	// MaxEnvelopeLife is the longest an authorization stands, ClockTolerance how
	// far the signer's clock may be ahead of the verifier's.
	MaxEnvelopeLife = 15 * time.Minute
	ClockTolerance  = 60 * time.Second
	// MinKeyBytes and MaxKeyBytes bound a merge key: below the hash's length HMAC
	// is weaker than its hash, above the block it gains nothing.
	MinKeyBytes = 32
	MaxKeyBytes = 128
	// MaxKeys bounds a key ring: one that signs and those that are being retired.
	MaxKeys = 8
	// MaxTokenBytes bounds an envelope file before it is read; its fields are
	// bounded and take less.
	MaxTokenBytes = 32 << 10
	// nonceBytes is the length of a nonce.
	nonceBytes = 32

	// MaxPolicyBytes, MaxPrincipals and MaxPolicyList bound the policy file.
	MaxPolicyBytes = 256 << 10
	MaxPrincipals  = 512
	MaxPolicyList  = 64

	// MaxDiffBytes is the longest diff that counts as shown whole: what a job
	// summary takes, with room for what stands around it.
	MaxDiffBytes = 512 << 10

	// maxVerdictBytes bounds a list of verdicts in one admission record. What
	// does not fit goes into further records of the chain in the same commit.
	maxVerdictBytes = 20 << 10
	// maxReasonBytes bounds the sentence of a verdict.
	maxReasonBytes = 240
	// maxUnlisted is how many unlisted records are named one by one as
	// diagnostics; anyone can add them, so the rest are counted.
	maxUnlisted = 100
	// maxParseDepth is how deep a payload may nest (see the ledger's admission).
	maxParseDepth = 29
)
