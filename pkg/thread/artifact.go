package thread

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// artifact is one listed artifact, whatever its source.
type artifact struct {
	ref         Ref
	url         string
	user        *User
	body        string
	createdText string
	created     time.Time
	edit        Edit // an unknown one means that nobody can say
	association string
	minimized   bool
	verdict     string // of a review
	twice       bool   // listed twice with different texts
}

// artifacts returns what is listed, in API order: the issue, then comments,
// reviews and review comments, each once.
func (l *Listing) artifacts() ([]artifact, error) {
	if err := l.Thread.Check(); err != nil {
		return nil, err
	}
	if n := l.Len(); n > MaxArtifacts {
		return nil, fmt.Errorf("thread has %d artifacts, at most %d are taken: it cannot be rendered from a part", n, MaxArtifacts)
	}
	c := collector{list: make([]artifact, 0, l.Len()), at: make(map[Ref]int, l.Len())}
	if i := l.Issue; i != nil {
		edit := i.LastEdited
		c.add(artifact{ref: Ref{i.ID, SourceIssue}, url: i.HTMLURL, user: i.User, createdText: i.CreatedAt, association: i.AuthorAssociation, edit: edit}, i.Body)
	}
	for i := range l.Comments {
		c.comment(SourceComment, &l.Comments[i])
	}
	for i := range l.Reviews {
		r := &l.Reviews[i]
		c.add(artifact{ref: Ref{r.ID, SourceReview}, url: r.HTMLURL, user: r.User, createdText: r.SubmittedAt, association: r.AuthorAssociation,
			edit: r.LastEdited, minimized: r.Minimized, verdict: verdictWords(r.State)}, r.Body)
	}
	for i := range l.ReviewComments {
		c.comment(SourceReviewComment, &l.ReviewComments[i])
	}
	return c.list, c.err
}

// verdictWords are the reviews that say something without a text.
func verdictWords(state string) string {
	switch state {
	case "APPROVED":
		return "approved"
	case "CHANGES_REQUESTED":
		return "changes requested"
	case "DISMISSED":
		return "dismissed"
	}
	return ""
}

type collector struct {
	list []artifact
	at   map[Ref]int
	err  error
}

func (c *collector) comment(source Source, m *Comment) {
	a := artifact{ref: Ref{m.ID, source}, url: m.HTMLURL, user: m.User, createdText: m.CreatedAt, association: m.AuthorAssociation,
		edit: m.LastEdited, minimized: m.Minimized}
	// The later of both times counts; updated_at alone says that it was edited
	// when it differs from created_at.
	updated, err := time.Parse(time.RFC3339, m.UpdatedAt)
	switch {
	case m.UpdatedAt == "":
	case err != nil:
		c.fail(a.ref, "updated_at is no time")
	case m.UpdatedAt == m.CreatedAt && !a.edit.Known:
		a.edit = Edit{Known: true}
	case m.UpdatedAt != m.CreatedAt && updated.After(a.edit.At):
		a.edit = Edit{Known: true, At: updated}
	}
	c.add(a, m.Body)
}

func (c *collector) fail(ref Ref, problem string) {
	if c.err == nil {
		c.err = fmt.Errorf("%s: %s", ref, problem)
	}
}

// add checks a and keeps it. One that was listed before is the same artifact; if
// its text is not the same, the later version is kept and nothing is said for it.
func (c *collector) add(a artifact, body *string) {
	a.body = orZero(body)
	if fault := a.check(); fault != "" {
		c.fail(a.ref, fault)
		return
	}
	i, again := c.at[a.ref]
	if !again {
		c.at[a.ref] = len(c.list)
		c.list = append(c.list, a)
		return
	}
	if c.list[i].body != a.body {
		a.twice = true
		c.list[i] = a
	}
}

// check completes a and says what is wrong with it.
func (a *artifact) check() string {
	if !a.ref.valid() {
		return fmt.Sprintf("id must be 1 to %d", int64(MaxID))
	}
	var err error
	if a.created, err = time.Parse(time.RFC3339, a.createdText); err != nil || !strings.HasSuffix(a.createdText, "Z") {
		return "created_at is no time in UTC"
	}
	if !validBody(a.body) {
		return fmt.Sprintf("body is over %d bytes or no UTF-8", MaxBodyBytes)
	}
	if len(a.url) > maxURLBytes || !printableASCII(a.url) || a.url != "" && !strings.HasPrefix(a.url, "https://") && !strings.HasPrefix(a.url, "http://") {
		return "html_url is no web address"
	}
	if len(a.association) > maxAssociationBytes || !printableASCII(a.association) {
		return "author_association is none"
	}
	if u := a.user; u != nil && (u.ID < 0 || u.ID > MaxID || len(u.Login) > maxLoginBytes || !utf8.ValidString(u.Login) || !utf8.ValidString(orZero(u.Name))) {
		return "user has no usable id and login"
	}
	return ""
}

// record is the artifact as it is recorded.
func (a *artifact) record(kind Kind) Record {
	r := Record{Kind: kind, Source: a.ref.Source, ID: a.ref.ID, URL: a.url, CreatedAt: a.createdText, AuthorAssociation: a.association}
	if !a.user.isNobody() {
		r.UserID, r.UserLogin = a.user.ID, a.user.Login
		name, over := cut(orZero(a.user.Name), maxNameChars)
		if r.UserName = name; over {
			r.UserName += "…"
		}
	}
	return r
}
