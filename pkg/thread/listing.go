package thread

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/repo-memory/ledger/pkg/canonical"
)

// Listing is what the REST API lists of one thread, in the order of the API. Its
// JSON form is one object of these members; members that the API adds are
// ignored inside of items, and an unknown one of the whole is refused.
type Listing struct {
	Thread
	// Complete says that every page of every source was read. Nothing is ever
	// concluded from what a listing that is not complete lacks.
	Complete bool `json:"complete"`
	// Settled says that the listing was read again, with the same result, after
	// its length had differed from the count that the issue states.
	Settled        bool      `json:"settled"`
	Issue          *Issue    `json:"issue"`
	Comments       []Comment `json:"comments"`
	Reviews        []Review  `json:"reviews"`
	ReviewComments []Comment `json:"review_comments"`
}

// Issue is an issue or pull request.
type Issue struct {
	ID                int64   `json:"id"`
	HTMLURL           string  `json:"html_url"`
	User              *User   `json:"user"`
	Body              *string `json:"body"`
	CreatedAt         string  `json:"created_at"`
	AuthorAssociation string  `json:"author_association"`
	// Comments is the number of comments that GitHub states.
	Comments *int `json:"comments"`
	// LastEdited is when the body was edited (updated_at changes with everything).
	LastEdited Edit `json:"last_edited_at,omitzero"`
}

// Comment is a comment or a review comment.
type Comment struct {
	ID                int64   `json:"id"`
	HTMLURL           string  `json:"html_url"`
	User              *User   `json:"user"`
	Body              *string `json:"body"`
	CreatedAt         string  `json:"created_at"`
	UpdatedAt         string  `json:"updated_at"`
	AuthorAssociation string  `json:"author_association"`
	Minimized         bool    `json:"minimized"`
	LastEdited        Edit    `json:"last_edited_at,omitzero"`
}

// Review is a pull-request review. REST shows no time of its last edit: without
// LastEdited its text is not trusted.
type Review struct {
	ID                int64   `json:"id"`
	HTMLURL           string  `json:"html_url"`
	User              *User   `json:"user"`
	Body              *string `json:"body"`
	State             string  `json:"state"`
	SubmittedAt       string  `json:"submitted_at"`
	AuthorAssociation string  `json:"author_association"`
	Minimized         bool    `json:"minimized"`
	LastEdited        Edit    `json:"last_edited_at,omitzero"`
}

// Edit is GraphQL's lastEditedAt: the zero Edit is not known, a Known one with a
// zero At is null, never edited.
type Edit struct {
	Known bool
	At    time.Time
}

// UnmarshalJSON reads null or a time.
func (e *Edit) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*e = Edit{Known: true}
		return nil
	}
	at, err := time.Parse(time.RFC3339, strings.Trim(string(text), `"`))
	if err != nil {
		return errors.New("not a time")
	}
	*e = Edit{Known: true, At: at}
	return nil
}

// MarshalJSON writes what UnmarshalJSON reads; what is not known has no JSON.
func (e Edit) MarshalJSON() ([]byte, error) {
	switch {
	case !e.Known:
		return nil, errors.New("edit is not known")
	case e.At.IsZero():
		return []byte("null"), nil
	}
	return []byte(`"` + e.At.UTC().Format(time.RFC3339) + `"`), nil
}

// IsZero tells encoders to leave the member out.
func (e Edit) IsZero() bool { return !e.Known }

// listingMembers is the JSON form: what has to be said, and what is not known.
type listingMembers struct {
	Number         *int64    `json:"number"`
	RepositoryID   *int64    `json:"repository_id"`
	Complete       *bool     `json:"complete"`
	Settled        bool      `json:"settled"`
	Issue          *Issue    `json:"issue"`
	Comments       []Comment `json:"comments"`
	Reviews        []Review  `json:"reviews"`
	ReviewComments []Comment `json:"review_comments"`

	Unknown jsontext.Value `json:",embed"`
}

// DecodeListing reads a listing from one JSON object in strict JSON. Two texts
// one after the other, as glued pages are, are refused whole, and so is a listing
// that does not say whether it is complete. Errors carry no text of the listing.
func DecodeListing(data []byte) (*Listing, error) {
	if len(data) > MaxListingBytes {
		return nil, fmt.Errorf("listing is %d bytes, at most %d are read", len(data), MaxListingBytes)
	}
	var m listingMembers
	if err := canonical.Decode(data, &m, canonical.AllowUnknown); err != nil {
		return nil, fmt.Errorf("listing is no object of issue, comments, reviews and review_comments in one JSON text: %w", err)
	}
	if len(m.Unknown) > 0 {
		return nil, errors.New("listing has a member that is none of number, repository_id, complete, settled, issue, comments, reviews, review_comments")
	}
	if m.Complete == nil || m.Number == nil || m.RepositoryID == nil {
		return nil, errors.New("listing must have number, repository_id, and complete: true only when every page was read")
	}
	l := &Listing{
		Thread: Thread{Number: *m.Number, RepositoryID: *m.RepositoryID}, Complete: *m.Complete, Settled: m.Settled,
		Issue: m.Issue, Comments: m.Comments, Reviews: m.Reviews, ReviewComments: m.ReviewComments,
	}
	if _, err := l.artifacts(); err != nil {
		return nil, err
	}
	return l, nil
}

// Len returns how many artifacts are listed, repeated ones each time.
func (l *Listing) Len() int {
	n := len(l.Comments) + len(l.Reviews) + len(l.ReviewComments)
	if l.Issue != nil {
		n++
	}
	return n
}

// Agrees reports whether as many different comments are listed as the issue
// states, or it states nothing. When it does not, something was deleted or
// posted while the pages were read: read them again, and set Settled if the
// result is the same.
func (l *Listing) Agrees() bool {
	if l.Issue == nil || l.Issue.Comments == nil {
		return true
	}
	seen := make(map[int64]bool, len(l.Comments))
	for i := range l.Comments {
		seen[l.Comments[i].ID] = true
	}
	return len(seen) == *l.Issue.Comments
}

func printableASCII(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

func validBody(s string) bool { return len(s) <= MaxBodyBytes && utf8.ValidString(s) }
