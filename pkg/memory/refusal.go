package memory

import (
	"fmt"
	"strconv"
)

// Reason says in one word why something was refused. The words are part of the
// admission record's format.
type Reason string

const (
	ReasonShape       Reason = "shape"         // not the format of its type
	ReasonDigest      Reason = "digest"        // the integrity digest is not that of the changeset
	ReasonOperation   Reason = "operation"     // an op breaks the semantic validation
	ReasonTooLarge    Reason = "too-large"     // over the ledger's record bound
	ReasonPolicy      Reason = "policy"        // the policy has no such principal
	ReasonReadOnly    Reason = "read-only"     // the policy stops every writer
	ReasonProject     Reason = "project"       // not a project of the principal, or not one that exists
	ReasonAuthor      Reason = "author"        // names another author than the principal
	ReasonScope       Reason = "scope"         // the principal lacks a scope
	ReasonOwner       Reason = "owner"         // the ref belongs to somebody else
	ReasonProtected   Reason = "protected-ref" // moves by memory.merge only
	ReasonTrustedOnly Reason = "trusted-only"  // a type that only trusted jobs write
	ReasonIdentity    Reason = "identity"      // an id that is taken
	ReasonUnknown     Reason = "unknown"       // names a thing that was never accepted
	ReasonUnreadable  Reason = "unreadable"    // names a changeset that the principal may not read
	ReasonStaleHead   Reason = "stale-head"    // lost its compare-and-swap: see the current head
	ReasonAncestry    Reason = "ancestry"      // the new head does not descend from the old
	ReasonKeyReused   Reason = "key-reused"    // an idempotency key with another request
	ReasonReplay      Reason = "replay"        // the same request again: the first one stands
	ReasonState       Reason = "state"         // the proposal or conflict is not in a state for it
	ReasonReviewer    Reason = "reviewer"      // reviews or merges what they wrote
	ReasonConflicts   Reason = "conflicts"     // open conflicts block, or want to be acknowledged
	ReasonStale       Reason = "stale-digest"  // changed since it was shown or approved
	ReasonStrategy    Reason = "strategy"      // the new head has not the shape of the strategy
	ReasonNonce       Reason = "nonce"         // an authorization that was used
	ReasonPins        Reason = "pins"          // a manifest that does not give its content
	ReasonChain       Reason = "chain"         // the admission chain is broken, or the ledger not whole
	ReasonBound       Reason = "bound"         // over a bound of this package
	ReasonTime        Reason = "time"          // a time out of its bounds
	ReasonRun         Reason = "run"           // a run that may not approve
)

// Refusal is why something was refused. Detail is one line without any content
// of a memory.
type Refusal struct {
	Reason Reason
	Detail string
	// Head is the current head of the ref, where that helps to try again.
	Head string
}

func (r *Refusal) Error() string {
	if r.Head != "" {
		return fmt.Sprintf("%s: %s (current head %s)", r.Reason, r.Detail, r.Head)
	}
	return fmt.Sprintf("%s: %s", r.Reason, r.Detail)
}

func refuse(reason Reason, format string, args ...any) *Refusal {
	return &Refusal{Reason: reason, Detail: fmt.Sprintf(format, args...)}
}

// quoted shows a name that a stranger chose: ASCII, and cut with a mark.
func quoted(s string) string {
	const most = 64
	if len(s) > most {
		return strconv.QuoteToASCII(s[:most]) + "..."
	}
	return strconv.QuoteToASCII(s)
}
