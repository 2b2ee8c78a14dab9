package thread

import (
	"bytes"
	"fmt"

	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/ledger"
)

// Types of records on a ledger.
const (
	TypeArtifact = "thread.artifact"
	TypeDeleted  = "thread.deleted"
	TypeStep     = "thread.step"
)

// IsType reports whether typ is one of the three, which are all that a trusted
// staging may hold; it is the policy of its admission.
func IsType(typ string) bool { return typ == TypeArtifact || typ == TypeDeleted || typ == TypeStep }

// payloadVersion is the version of the payloads that are written and read.
const payloadVersion = 1

// Entry is a record of a ledger before it has an envelope: its type and the
// canonical text of its payload.
type Entry struct {
	Type    string
	Payload []byte
}

// The payloads; see the package comment. Numbers are integers, strings are
// "" where nothing is known, and every member but the optional ones is there.
type artifactPayload struct {
	Artifact artifactMembers `json:"artifact"`
	Thread   Thread          `json:"thread"`
	V        int             `json:"v"`
}

type artifactMembers struct {
	AuthorAssociation string `json:"author_association"`
	CreatedAt         string `json:"created_at"`
	ID                int64  `json:"id"`
	Kind              Kind   `json:"kind"`
	Source            Source `json:"source"`
	StateComment      bool   `json:"state_comment,omitzero"`
	URL               string `json:"url"`
	UserID            int64  `json:"user_id,omitzero"`
	UserLogin         string `json:"user_login,omitzero"`
	UserName          string `json:"user_name,omitzero"`
}

type deletedPayload struct {
	Artifact Ref    `json:"artifact"`
	Thread   Thread `json:"thread"`
	V        int    `json:"v"`
}

type stepPayload struct {
	Agent   string        `json:"agent"`
	Attempt int           `json:"attempt"`
	Input   *inputMembers `json:"input,omitzero"`
	Number  int           `json:"number"`
	Of      int           `json:"of"`
	Run     string        `json:"run"`
	Step    string        `json:"step"`
	Thread  Thread        `json:"thread"`
	V       int           `json:"v"`
}

type inputMembers struct {
	Binding   string `json:"binding"`
	Detail    string `json:"detail"`
	Name      string `json:"name"`
	OK        bool   `json:"ok"`
	Truncated bool   `json:"truncated"`
	Value     string `json:"value"`
}

// ArtifactEntry is the record of r in thread t.
func ArtifactEntry(t Thread, r Record) (Entry, error) {
	if fault := r.fault(); fault != "" {
		return Entry{}, fmt.Errorf("%s cannot be recorded: %s", r.Ref(), fault)
	}
	return entry(TypeArtifact, t, artifactPayload{Artifact: artifactMembers{
		AuthorAssociation: r.AuthorAssociation, CreatedAt: r.CreatedAt, ID: r.ID, Kind: r.Kind, Source: r.Source,
		StateComment: r.StateComment, URL: r.URL, UserID: r.UserID, UserLogin: r.UserLogin, UserName: r.UserName,
	}, Thread: t, V: payloadVersion})
}

// DeletedEntry records that ref vanished from thread t.
func DeletedEntry(t Thread, ref Ref) (Entry, error) {
	if !ref.valid() {
		return Entry{}, fmt.Errorf("%s is no artifact", ref)
	}
	return entry(TypeDeleted, t, deletedPayload{Artifact: ref, Thread: t, V: payloadVersion})
}

// StepEntries are the records of one step's materialization, one for each input,
// or one without any for a step that has none.
func StepEntries(t Thread, s Step) ([]Entry, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	payload := stepPayload{Agent: s.Agent, Attempt: s.Attempt, Of: len(s.Inputs), Run: s.Run, Step: s.Step, Thread: t, V: payloadVersion}
	if len(s.Inputs) == 0 {
		e, err := entry(TypeStep, t, payload)
		return []Entry{e}, err
	}
	var entries []Entry
	for i, in := range s.Inputs {
		payload.Number = i + 1
		payload.Input = &inputMembers{Binding: in.Binding, Detail: in.Detail, Name: in.Name, OK: in.OK, Truncated: in.Truncated, Value: orZero(in.Value)}
		e, err := entry(TypeStep, t, payload)
		if err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// entry makes the canonical payload and judges it as admission will.
func entry(typ string, t Thread, payload any) (Entry, error) {
	if err := t.Check(); err != nil {
		return Entry{}, err
	}
	text, err := encode(payload)
	if err != nil {
		return Entry{}, fmt.Errorf("%s has a text that is no UTF-8", typ)
	}
	text, refusal := ledger.StrictPayload(text)
	if refusal != nil {
		return Entry{}, refusal
	}
	return Entry{typ, text}, nil
}

// readEntry reads a payload in the one form that is written. It returns an
// artifactPayload, deletedPayload or stepPayload, or why it is none.
func readEntry(typ string, payload []byte) (any, string) {
	var (
		version struct {
			V int `json:"v"`
		}
		read any
		err  error
		ok   bool
	)
	if canonical.Decode(payload, &version, canonical.AllowUnknown) != nil || version.V != payloadVersion {
		return nil, "payload is of another version"
	}
	switch typ {
	case TypeArtifact:
		var p artifactPayload
		err = canonical.Decode(payload, &p)
		a := p.Artifact
		r := Record{Kind: a.Kind, Source: a.Source, ID: a.ID, URL: a.URL, UserID: a.UserID, UserLogin: a.UserLogin, UserName: a.UserName,
			CreatedAt: a.CreatedAt, AuthorAssociation: a.AuthorAssociation}
		read, ok = p, r.fault() == ""
	case TypeDeleted:
		var p deletedPayload
		err = canonical.Decode(payload, &p)
		read, ok = p, p.Artifact.valid()
	case TypeStep:
		var p stepPayload
		err = canonical.Decode(payload, &p)
		read, ok = p, p.valid()
	default:
		return nil, "type is none of the thread ledger's"
	}
	if err != nil || !ok {
		return nil, "payload is not of its form"
	}
	if again, err := encode(read); err != nil || !bytes.Equal(again, payload) {
		return nil, "payload is not of its form"
	}
	return read, ""
}
