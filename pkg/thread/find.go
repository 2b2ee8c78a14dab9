package thread

import (
	"errors"
	"strings"
	"time"
)

// FindStateComment returns the engine's own state comment in a complete listing;
// ok is false when there is none and one is to be created. It is a comment by the
// engine's actor, or by a listed bot account where the actor is not known, of the
// exact form, whose anchor is a record of this thread, and
//
//   - the one that the ledger recorded as the state comment, if that still is one;
//   - otherwise the oldest that the ledger has not seen yet.
//
// Everything else with the marker is no state comment, whoever wrote it: it is
// counted in others, never read and never to be edited.
func FindStateComment(f *Fold, l *Listing, config Config) (ref Ref, ok bool, others int, err error) {
	rules, err := config.rules()
	if err != nil {
		return Ref{}, false, 0, err
	}
	list, err := l.artifacts()
	if err != nil || !l.Complete {
		return Ref{}, false, 0, errors.Join(err, errUnread(l.Complete))
	}
	ref, others = findState(f, rules, list)
	return ref, ref != Ref{}, others, nil
}

func errUnread(complete bool) error {
	if complete {
		return nil
	}
	return errors.New("thread was not read whole: whether it has a state comment is not known")
}

// findState returns the state comment, the zero Ref without one, and how many
// others carry the marker.
func findState(f *Fold, rules *rules, list []artifact) (found Ref, others int) {
	var at time.Time
	marked, recordedFound := 0, false
	for i := range list {
		a := &list[i]
		if a.ref.Source != SourceComment || !strings.HasPrefix(a.body, stateMarker) {
			continue
		}
		marked++
		recorded := f.recorded(a.ref)
		isRecorded := recorded != nil && recorded.StateComment
		if recordedFound || recorded != nil && (recorded.Deleted || !recorded.StateComment) || !rules.mayWriteState(a.user) || !f.isState(a.body) {
			continue
		}
		if isRecorded || found == (Ref{}) || a.created.Before(at) {
			found, at, recordedFound = a.ref, a.created, isRecorded
		}
	}
	if found != (Ref{}) {
		marked--
	}
	return found, marked
}

func (c *rules) mayWriteState(u *User) bool {
	if !c.Engine.isNobody() {
		return same(u, c.Engine)
	}
	return c.isListedBot(u)
}

// isState reports whether body is a state comment of this very thread.
func (f *Fold) isState(body string) bool {
	_, anchor, err := ParseStateComment(body)
	return err == nil && anchor.Thread == f.Thread && f.anchors[anchor.SHA]
}
