package thread

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/repo-memory/ledger/pkg/canonical"
)

// Kind is what an artifact is (decision 1).
type Kind string

const (
	IssueBody     Kind = "issue-body"
	Command       Kind = "command"
	EngineOutput  Kind = "engine-output"
	AgentOutput   Kind = "agent-output"
	HumanFeedback Kind = "human-feedback"
)

func (k Kind) known() bool {
	switch k {
	case IssueBody, Command, EngineOutput, AgentOutput, HumanFeedback:
		return true
	}
	return false
}

// isBot reports whether k is a kind that only the engine's accounts write.
func (k Kind) isBot() bool { return k == EngineOutput || k == AgentOutput }

// words is the kind in running text.
func (k Kind) words() string {
	switch k {
	case IssueBody:
		return "issue body"
	case EngineOutput:
		return "engine output"
	case AgentOutput:
		return "agent output"
	case HumanFeedback:
		return "human feedback"
	}
	return "command"
}

// Record is a ThreadRecord: one artifact's metadata, never its text. It is written
// once and never changed; Trusted is computed anew for every run and stands only
// in a [WorkflowState], Deleted says that the artifact vanished.
//
// As JSON it has the members kind, source, id, url, user_id, user_login,
// user_name, created_at, author_association, trusted and deleted; user_* is null
// for a deleted account, user_name where the listing does not show one. source is
// an addition to the decision's fields; where it is absent an issue-body is an
// issue and everything else a comment. Members that this version does not know
// are kept. Members are only ever added.
type Record struct {
	Kind              Kind
	Source            Source
	ID                int64
	URL               string
	UserID            int64
	UserLogin         string
	UserName          string
	CreatedAt         string
	AuthorAssociation string
	Trusted           bool
	Deleted           bool

	// StateComment marks the engine's own state comment, on the ledger only.
	StateComment bool
	// Unknown holds members of a later generation, an object or nil.
	Unknown jsontext.Value
}

// Ref names the artifact.
func (r Record) Ref() Ref { return Ref{ID: r.ID, Source: r.Source} }

// recordMembers is the JSON form of a Record in a state.
type recordMembers struct {
	Kind              Kind           `json:"kind"`
	Source            Source         `json:"source,omitzero"`
	ID                int64          `json:"id"`
	URL               *string        `json:"url"`
	UserID            *int64         `json:"user_id"`
	UserLogin         *string        `json:"user_login"`
	UserName          *string        `json:"user_name"`
	CreatedAt         string         `json:"created_at"`
	AuthorAssociation *string        `json:"author_association"`
	Trusted           bool           `json:"trusted"`
	Deleted           bool           `json:"deleted"`
	Unknown           jsontext.Value `json:",embed"`
}

// MarshalJSON writes the record as a state holds it.
func (r Record) MarshalJSON() ([]byte, error) {
	return encode(recordMembers{
		Kind: r.Kind, Source: r.Source, ID: r.ID, URL: &r.URL,
		UserID: orNull(r.UserID), UserLogin: orNull(r.UserLogin), UserName: orNull(r.UserName),
		CreatedAt: r.CreatedAt, AuthorAssociation: &r.AuthorAssociation,
		Trusted: r.Trusted, Deleted: r.Deleted, Unknown: r.Unknown,
	})
}

// UnmarshalJSON reads a record of a state. It refuses a kind, source or id that
// this version does not know.
func (r *Record) UnmarshalJSON(text []byte) error {
	var m recordMembers
	if err := canonical.Decode(text, &m); err != nil {
		return err
	}
	if m.Source == "" {
		m.Source = SourceComment
		if m.Kind == IssueBody {
			m.Source = SourceIssue
		}
	}
	read := Record{
		Kind: m.Kind, Source: m.Source, ID: m.ID, URL: orZero(m.URL),
		UserID: orZero(m.UserID), UserLogin: orZero(m.UserLogin), UserName: orZero(m.UserName),
		CreatedAt: m.CreatedAt, AuthorAssociation: orZero(m.AuthorAssociation),
		Trusted: m.Trusted, Deleted: m.Deleted, Unknown: m.Unknown,
	}
	if fault := read.fault(); fault != "" {
		return &canonical.Error{Rule: canonical.Mismatch, Path: "." + fault, Offset: -1}
	}
	*r = read
	return nil
}

// fault names the first member of r that cannot stand, "" when all can.
func (r Record) fault() string {
	switch {
	case !r.Kind.known() || (r.Kind == IssueBody) != (r.Source == SourceIssue):
		return "kind"
	case !r.Source.known():
		return "source"
	case r.ID < 1 || r.ID > MaxID:
		return "id"
	case len(r.URL) > maxURLBytes:
		return "url"
	case r.UserID < 0 || r.UserID > MaxID:
		return "user_id"
	case len(r.UserLogin) > maxLoginBytes:
		return "user_login"
	case tooLong(r.UserName, maxNameChars+1):
		return "user_name"
	case len(r.AuthorAssociation) > maxAssociationBytes:
		return "author_association"
	}
	if _, err := time.Parse(time.RFC3339, r.CreatedAt); err != nil || len(r.CreatedAt) > maxTimeBytes {
		return "created_at"
	}
	return ""
}

func orNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

func orZero[T any](v *T) (zero T) {
	if v == nil {
		return zero
	}
	return *v
}
