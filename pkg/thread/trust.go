package thread

import "strings"

// Reason says why a text is not trusted, in words of our own; "" is trust.
type Reason string

const (
	ReasonNoTrigger   Reason = "nobody is known to have triggered the run"
	ReasonNotTrigger  Reason = "not by the person who triggered the run"
	ReasonAssociation Reason = "the author is no owner, member or collaborator"
	ReasonDeleted     Reason = "the account was deleted"
	ReasonNoPerson    Reason = "not by a person"
	ReasonForged      Reason = "carries an engine marker and is not the engine's"
	ReasonMinimized   Reason = "minimized on GitHub"
	ReasonEdited      Reason = "edited after the trigger"
	ReasonEditedAt    Reason = "edited, and the time of the trigger is not known"
	ReasonEditUnknown Reason = "whether it was edited is not known"
	ReasonLater       Reason = "posted after the trigger"
	ReasonDiffers     Reason = "differs from the text that triggered the run"
	ReasonTwice       Reason = "was listed with two different texts"
	ReasonKind        Reason = "was of another kind when it was first seen"
	ReasonNotRead     Reason = "the thread was not read whole"
	ReasonVanished    Reason = "deleted from the thread"
	ReasonRelisted    Reason = "listed again after it was deleted"
	ReasonQuoted      Reason = "quoted from somebody"
)

// show is where an artifact is rendered.
type show uint8

const (
	nowhere show = iota
	inFull
	unverified
)

// judgement is what is made of one artifact in this run.
type judgement struct {
	kind    Kind
	trusted bool
	reason  Reason
	show    show
}

// trustedAssociations are compared as GitHub spells them; a value that it adds
// later is none of them.
func trustedAssociation(association string) bool {
	return association == "OWNER" || association == "MEMBER" || association == "COLLABORATOR"
}

// gate is the rule for what people write (decision 6): an association with the
// repository, and the account that triggered the run.
func (c *rules) gate(a *artifact, found class) Reason {
	switch {
	case a.user.isNobody():
		return ReasonDeleted
	case found.forged:
		return ReasonForged
	case !a.user.isPerson():
		return ReasonNoPerson
	case c.Trigger.Author.isNobody():
		return ReasonNoTrigger
	case !same(a.user, c.Trigger.Author):
		return ReasonNotTrigger
	case !trustedAssociation(a.association):
		return ReasonAssociation
	}
	return ""
}

// unchanged is the rule about time: what is trusted is what stood there when the
// run was triggered. Equal seconds count as after. What triggered the run is
// compared with the event's copy instead, where there is one. People's texts have
// to be older than the trigger; the engine's may be of this very run.
func (c *rules) unchanged(a *artifact, kind Kind) Reason {
	at, isTrigger := c.Trigger.At, a.ref == c.Trigger.Artifact
	switch {
	case a.twice:
		return ReasonTwice
	case isTrigger && c.Trigger.Body != nil && lineFeeds(*c.Trigger.Body) != lineFeeds(a.body):
		return ReasonDiffers
	case isTrigger && c.Trigger.Body != nil:
		return ""
	case !a.edit.Known:
		return ReasonEditUnknown
	case !a.edit.At.IsZero() && at.IsZero():
		return ReasonEditedAt
	case !a.edit.At.IsZero() && !a.edit.At.Before(at):
		return ReasonEdited
	case !kind.isBot() && !isTrigger && !at.IsZero() && !a.created.Before(at):
		return ReasonLater
	}
	return ""
}

// judge decides what is made of a, of which recorded is what the ledger says, nil
// if it is new. Kinds are recorded once; where a later look finds an engine's
// kind and the record a person's, or the other way round, neither is believed.
func (c *rules) judge(a *artifact, found class, recorded *Record) judgement {
	j := judgement{kind: found.kind}
	if recorded != nil {
		j.kind = recorded.Kind
		switch {
		case recorded.Deleted:
			j.reason = ReasonRelisted
			return j
		case recorded.Kind.isBot() != found.kind.isBot():
			j.reason = ReasonKind
		case found.kind == EngineOutput:
			j.kind = EngineOutput // the notices are configuration
		}
	}
	if j.reason == "" && !j.kind.isBot() {
		j.reason = c.gate(a, found)
	}
	if j.reason == "" && a.minimized {
		j.reason = ReasonMinimized
	}
	if j.reason == "" {
		j.reason = c.unchanged(a, j.kind)
	}
	if edit := c.unchanged(a, j.kind); j.kind == IssueBody && isEdit(edit) {
		j.reason = edit
	}
	j.trusted = j.reason == ""
	j.show = c.place(a, j)
	return j
}

// place decides where a is rendered (decision 3).
func (c *rules) place(a *artifact, j judgement) show {
	switch {
	case j.kind == IssueBody && !isEdit(j.reason):
		return nowhere // it reaches the agent another way
	case j.kind == EngineOutput && j.reason != ReasonKind, a.verdict == "" && strings.TrimSpace(c.text(a, j.kind)) == "":
		return nowhere
	case j.trusted:
		return inFull
	}
	return unverified
}

// isEdit reports whether a text is known not to be what stood there.
func isEdit(r Reason) bool { return r == ReasonEdited || r == ReasonEditedAt || r == ReasonDiffers }
