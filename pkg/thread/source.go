package thread

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Thread names one issue or pull request: the repository's numeric id, which a
// rename does not change, and the number.
type Thread struct {
	Number       int64 `json:"number"`
	RepositoryID int64 `json:"repository_id"`
}

// Check reports a Thread that names none.
func (t Thread) Check() error {
	if t.Number < 1 || t.Number > MaxID || t.RepositoryID < 1 || t.RepositoryID > MaxID {
		return fmt.Errorf("thread needs a repository id and a number, each 1 to %d", int64(MaxID))
	}
	return nil
}

// Source is the listing that an artifact comes from. Each is an id space of its
// own: an issue and a comment may have the same number.
type Source string

const (
	SourceIssue         Source = "issue"
	SourceComment       Source = "comment"
	SourceReview        Source = "review"
	SourceReviewComment Source = "review-comment"
)

func (s Source) known() bool {
	switch s {
	case SourceIssue, SourceComment, SourceReview, SourceReviewComment:
		return true
	}
	return false
}

// Ref is an artifact of a thread: its source and its REST id there.
type Ref struct {
	ID     int64  `json:"id"`
	Source Source `json:"source"`
}

// String is "comment 12".
func (r Ref) String() string { return string(r.Source) + " " + strconv.FormatInt(r.ID, 10) }

func (r Ref) valid() bool { return r.Source.known() && r.ID >= 1 && r.ID <= MaxID }

var (
	refText = regexp.MustCompile(`^(?:(comment|review|review-comment):)?([0-9]{1,16})$`)
	refURL  = regexp.MustCompile(`^https?://[!-~]+#(issuecomment-|pullrequestreview-|discussion_r)([0-9]{1,16})$`)
)

var anchors = map[string]Source{
	"issuecomment-":      SourceComment,
	"pullrequestreview-": SourceReview,
	"discussion_r":       SourceReviewComment,
}

// ParseRefs reads a list of artifacts, separated by white space or commas: an id
// (of a comment), comment:ID, review:ID, review-comment:ID, or an artifact's
// address. No text is an empty list; more than [MaxRefs], or anything else, is an
// error that says which entry.
func ParseRefs(text string) ([]Ref, error) {
	fields := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\n' || r == '\r' })
	if len(fields) > MaxRefs {
		return nil, fmt.Errorf("has %d ids, at most %d are taken", len(fields), MaxRefs)
	}
	refs := []Ref{}
	for i, field := range fields {
		source, digits := SourceComment, ""
		if m := refText.FindStringSubmatch(field); m != nil {
			digits = m[2]
			if m[1] != "" {
				source = Source(m[1])
			}
		} else if m := refURL.FindStringSubmatch(field); m != nil {
			source, digits = anchors[m[1]], m[2]
		}
		id, err := strconv.ParseInt(digits, 10, 64)
		ref := Ref{ID: id, Source: source}
		if err != nil || !ref.valid() {
			return nil, fmt.Errorf("entry %d is no id: give a comment's id, review:ID, review-comment:ID, or the address of one", i+1)
		}
		refs = append(refs, ref)
	}
	return refs, nil
}
