package thread

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/ledger"
)

// The state comment's fixed parts; see the package comment.
const (
	stateMarker = "<!-- ledger-thread-state v1 -->"
	stateOpen   = stateMarker + "\n<details><summary>State of the thread ledger. Edits have no effect.</summary>\n\n```json\n"
	stateClose  = "\n```\n</details>\n"
)

// Anchor ties a state comment to a ledger: its name, and the digest of any record
// of the thread there.
type Anchor struct {
	Ledger string
	Thread Thread
	SHA    ledger.Hash
}

// Anchor returns one for the ledger called name, from which f was folded; ok is
// false when the ledger does not know the thread.
func (f *Fold) Anchor(name string) (a Anchor, ok bool) {
	a = Anchor{Ledger: name, Thread: f.Thread}
	for sha := range f.anchors {
		if !ok || sha.Compare(a.SHA) < 0 {
			a.SHA, ok = sha, true
		}
	}
	return a, ok
}

// Left counts what a state comment left to the ledger for its bound.
type Left struct {
	History int `json:"history"`
	Inputs  int `json:"inputs"`
	Records int `json:"records"`
}

type anchorMembers struct {
	Anchor       ledger.Hash `json:"anchor"`
	Left         Left        `json:"left"`
	Name         string      `json:"name"`
	Number       int64       `json:"number"`
	RepositoryID int64       `json:"repository_id"`
}

type commentMembers struct {
	Ledger anchorMembers `json:"ledger"`
	State  WorkflowState `json:"state"`
}

// FormatStateComment returns the body of the state comment: at most
// [MaxCommentChars] characters, all ASCII. Of a larger state it keeps the newest
// and counts what it left: history entries get half of the room at first, newest
// first and, where one does not fit, without its inputs; then records, newest
// first; nothing is cut. A state whose other members alone are too large is an
// error.
func FormatStateComment(s WorkflowState, anchor Anchor) (string, Left, error) {
	if err := s.check(); err != nil {
		return "", Left{}, err
	}
	f := commentMembers{State: s, Ledger: anchorMembers{Anchor: anchor.SHA, Name: anchor.Ledger, Number: anchor.Thread.Number, RepositoryID: anchor.Thread.RepositoryID}}
	// The counts in the envelope take at most their digits.
	f.State.History, f.State.Thread = nil, nil
	f.Ledger.Left = Left{len(s.History), countInputs(s.History), len(s.Thread)}
	envelope, err := formatComment(f)
	if err != nil {
		return "", Left{}, err
	}
	room := MaxCommentChars - len(envelope)
	if room < 0 {
		return "", Left{}, fmt.Errorf("state has %d characters without history and thread, a comment takes %d: keep less in the state", len(envelope), MaxCommentChars)
	}
	records, sizes, err := spell(s.Thread)
	if err != nil {
		return "", Left{}, err
	}
	history := room
	if total(sizes) > room/2 {
		history = max(room/2, room-total(sizes))
	}
	kept, used, err := keepHistory(s.History, history)
	if err != nil {
		return "", Left{}, err
	}
	first := len(records)
	for room -= used; first > 0 && sizes[first-1] <= room; first-- {
		room -= sizes[first-1]
	}
	f.State.History, f.State.Thread = kept, s.Thread[first:]
	f.Ledger.Left = Left{len(s.History) - len(kept), countInputs(s.History) - countInputs(kept), first}
	body, err := formatComment(f)
	return body, f.Ledger.Left, err
}

// keepHistory keeps the newest entries that fit into room.
func keepHistory(history []HistoryEntry, room int) (kept []HistoryEntry, used int, err error) {
	first := len(history)
	for ; first > 0; first-- {
		entry := history[first-1]
		text, err := spellOne(entry)
		if err == nil && used+len(text)+1 > room && len(entry.Inputs) > 0 {
			entry.Inputs = []StepInput{}
			text, err = spellOne(entry)
		}
		if err != nil {
			return nil, 0, err
		}
		if used+len(text)+1 > room {
			break
		}
		used += len(text) + 1
		kept = append(kept, entry)
	}
	for i, j := 0, len(kept)-1; i < j; i, j = i+1, j-1 {
		kept[i], kept[j] = kept[j], kept[i]
	}
	return kept, used, nil
}

func countInputs(history []HistoryEntry) (n int) {
	for _, entry := range history {
		n += len(entry.Inputs)
	}
	return n
}

func spell(records []Record) (texts [][]byte, sizes []int, err error) {
	for _, r := range records {
		text, err := spellOne(r)
		if err != nil {
			return nil, nil, err
		}
		texts, sizes = append(texts, text), append(sizes, len(text)+1)
	}
	return texts, sizes, nil
}

func total(sizes []int) (n int) {
	for _, size := range sizes {
		n += size
	}
	return n
}

// spellOne writes compact JSON in which no character can mean anything to
// Markdown, HTML or a reader of mentions: everything but plain ASCII, and <, >, &,
// @ and the backtick, is escaped. Outside of strings JSON has none of these.
func spellOne(v any) ([]byte, error) {
	text, err := encode(v)
	if err == nil {
		err = (*jsontext.Value)(&text).Compact()
	}
	if err != nil {
		return nil, errors.New("state cannot be written as JSON: a text in it is no UTF-8")
	}
	if bytes.IndexFunc(text, isSpecial) < 0 {
		return text, nil
	}
	out := make([]byte, 0, len(text)+len(text)/4)
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if !isSpecial(r) {
			out = append(out, text[i])
		} else if r > 0xffff {
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		} else {
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		i += size
	}
	return out, nil
}

func isSpecial(r rune) bool { return r >= 0x7f || strings.ContainsRune("<>&@`", r) }

func formatComment(f commentMembers) (string, error) {
	text, err := spellOne(f)
	return stateOpen + string(text) + stateClose, err
}

// ErrNotState is what ParseStateComment says of any other text.
var ErrNotState = errors.New("comment is not of the state comment's form")

// ParseStateComment reads a body that FormatStateComment wrote: its exact form,
// written again to the same text. Line feeds may have become CRLF. The form
// proves nothing about who wrote it; see [FindStateComment].
func ParseStateComment(body string) (WorkflowState, Anchor, error) {
	text, ok := strings.CutPrefix(lineFeeds(body), stateOpen)
	text, end := strings.CutSuffix(strings.TrimRight(text, "\n")+"\n", stateClose)
	if !ok || !end || len(body) > 2*MaxCommentChars {
		return WorkflowState{}, Anchor{}, ErrNotState
	}
	var f commentMembers
	if canonical.Decode([]byte(text), &f) != nil || f.State.check() != nil {
		return WorkflowState{}, Anchor{}, ErrNotState
	}
	if again, err := formatComment(f); err != nil || again != stateOpen+text+stateClose {
		return WorkflowState{}, Anchor{}, ErrNotState
	}
	return f.State, Anchor{f.Ledger.Name, Thread{f.Ledger.Number, f.Ledger.RepositoryID}, f.Ledger.Anchor}, nil
}
