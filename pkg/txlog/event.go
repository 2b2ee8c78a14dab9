package txlog

import (
	"errors"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/ledger"
)

// Event says that one record was appended: identifiers and hashes, no payload
// (specification, section 5.2).
type Event struct {
	// At is when the event was made, as ledger.FormatTime writes it.
	At string
	// ID, Type, Timestamp, Parents and SHA are those of the record.
	ID        string
	Type      string
	Timestamp string
	Parents   []ledger.Hash
	SHA       ledger.Hash
	// PayloadSHA is the digest of the payload's canonical text.
	PayloadSHA ledger.Hash
}

// EventOf returns the event for a record that was appended at the time at.
func EventOf(r ledger.Record, at time.Time) Event {
	payload, _ := ledger.ParseHash(canonical.Sum(r.Payload()))
	return Event{
		At: ledger.FormatTime(at), ID: r.ID(), Type: r.Type(), Timestamp: r.Timestamp(),
		Parents: r.Parents(), SHA: r.SHA(), PayloadSHA: payload,
	}
}

// Line returns the event as a line of the log without its line feed: canonical
// JSON.
func (e Event) Line() []byte {
	b := append(make([]byte, 0, 512), `{"operation":"append","record":{"id":`...)
	b = canonical.AppendString(b, e.ID)
	b = e.appendParents(append(b, `,"parents":[`...))
	b = append(append(b, `],"payload_sha":"`...), e.PayloadSHA.String()...)
	b = append(append(b, `","sha":"`...), e.SHA.String()...)
	b = canonical.AppendString(append(b, `","timestamp":`...), e.Timestamp)
	b = canonical.AppendString(append(b, `,"type":`...), e.Type)
	b = canonical.AppendString(append(b, `},"timestamp":`...), e.At)
	return append(b, `,"type":"ledger_mutation"}`...)
}

// Entry returns the event as a line of the safe-output file without its line
// feed: the members in the order of the reference runtime.
func (e Event) Entry() []byte {
	b := append(make([]byte, 0, 512), `{"type":"ledger_mutation","operation":"append","timestamp":`...)
	b = canonical.AppendString(b, e.At)
	b = canonical.AppendString(append(b, `,"record":{"id":`...), e.ID)
	b = canonical.AppendString(append(b, `,"type":`...), e.Type)
	b = canonical.AppendString(append(b, `,"timestamp":`...), e.Timestamp)
	b = e.appendParents(append(b, `,"parents":[`...))
	b = append(append(b, `],"sha":"`...), e.SHA.String()...)
	b = append(append(b, `","payload_sha":"`...), e.PayloadSHA.String()...)
	return append(b, `"}}`...)
}

func (e Event) appendParents(b []byte) []byte {
	for i, parent := range e.Parents {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), parent.String()...), '"')
	}
	return b
}

// check reports the first rule that the event breaks, in words of its own: it
// shows nothing of the event.
func (e Event) check() error {
	switch {
	case !isTime(e.At):
		return errors.New("timestamp is not YYYY-MM-DDTHH:MM:SS.mmmZ")
	case !strings.HasPrefix(e.ID, "ldg-") || !ledger.IsID(e.ID):
		return errors.New("record id is not ldg- and a UUID version 4")
	case canonical.Units(e.Type) < 1 || canonical.Units(e.Type) > ledger.MaxTypeUnits:
		return errors.New("record type does not have 1 to 128 characters")
	case !utf8.ValidString(e.Type) || strings.ContainsFunc(e.Type, unicode.IsControl):
		return errors.New("record type has a control character or an unpaired surrogate")
	case !isTime(e.Timestamp):
		return errors.New("record timestamp is not YYYY-MM-DDTHH:MM:SS.mmmZ")
	case len(e.Parents) > ledger.MaxParents:
		return errors.New("record has more than 64 parents")
	}
	for i := 1; i < len(e.Parents); i++ {
		if e.Parents[i-1].Compare(e.Parents[i]) >= 0 {
			return errors.New("record parents are not strictly ascending")
		}
	}
	return nil
}

// isTime reports whether text is exactly how its time is written.
func isTime(text string) bool {
	t, ok := ledger.ParseTime(text)
	return ok && ledger.FormatTime(t) == text
}
