package listing

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/repo-memory/ledger/pkg/github"
	"github.com/repo-memory/ledger/pkg/thread"
)

// node is what GraphQL says of one artifact. Its id is text where the server has
// fullDatabaseId, a number where it does not.
type node struct {
	ID         jsontext.Value `json:"id"`
	Minimized  bool           `json:"isMinimized"`
	LastEdited thread.Edit    `json:"lastEditedAt"`
	Comments   *connection    `json:"comments"`
}

type connection struct {
	Nodes []node `json:"nodes"`
	Page  struct {
		More bool    `json:"hasNextPage"`
		End  *string `json:"endCursor"`
	} `json:"pageInfo"`
}

// queried is the answer to each of the queries below.
type queried struct {
	Repository struct {
		Thread *struct {
			LastEdited thread.Edit `json:"lastEditedAt"`
			List       connection  `json:"list"`
		} `json:"thread"`
	} `json:"repository"`
}

const (
	query = `query($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) { thread: KIND(number: $number) { lastEditedAt
    list: LIST { nodes { FIELDS } pageInfo { hasNextPage endCursor } } } } }`
	one          = `id: fullDatabaseId isMinimized lastEditedAt`
	listComments = `comments(first: 100, after: $after)`
	listReviews  = `reviews(first: 50, after: $after)`
	listThreads  = `reviewThreads(first: 50, after: $after)`
	inner        = ` comments(first: 100) { nodes { ` + one + ` } }`
)

// hidden asks GraphQL when everything was edited and what is minimized, and puts it
// into l. It returns how many artifacts GraphQL does not know.
func (r *reader) hidden(ctx context.Context, l *thread.Listing) (unknown int, err error) {
	h := &hiding{reader: r, listing: l, known: map[thread.Ref]node{}, id: "fullDatabaseId"}
	if err := h.walk(ctx, listComments, one, thread.SourceComment, ""); err != nil {
		return 0, err
	}
	if r.pullRequest {
		if err := h.walk(ctx, listReviews, one+inner, thread.SourceReview, thread.SourceReviewComment); err != nil {
			return 0, err
		}
		// A review names its first hundred comments, a conversation too.
		if h.lacks(l.ReviewComments) {
			if err := h.walk(ctx, listThreads, "isResolved"+inner, "", thread.SourceReviewComment); err != nil {
				return 0, err
			}
		}
	}
	return h.apply(), nil
}

// hiding is one walk through GraphQL's lists.
type hiding struct {
	*reader
	listing *thread.Listing
	known   map[thread.Ref]node
	id      string // the field that holds the id of REST
}

// walk reads one list; outer and inner say what its nodes are and their comments.
func (h *hiding) walk(ctx context.Context, list, fields string, outer, inner thread.Source) error {
	kind := "issue"
	if h.pullRequest {
		kind = "pullRequest"
	}
	owner, name, _ := strings.Cut(h.source.Repository, "/")
	variables := map[string]any{"owner": owner, "name": name, "number": h.source.Thread.Number, "after": nil}
	seen := map[string]bool{}
	for {
		text := strings.NewReplacer("KIND", kind, "LIST", list, "FIELDS", fields).Replace(query)
		var answer queried
		err := h.client.GraphQL(ctx, strings.ReplaceAll(text, "fullDatabaseId", h.id), variables, github.Call{Needs: needsIssues}, &answer)
		if h.isOld(err) {
			h.id = "databaseId"
			continue
		}
		if err != nil {
			return fmt.Errorf("what is minimized or edited cannot be read: %w", err)
		}
		if answer.Repository.Thread == nil {
			return fmt.Errorf("what is minimized or edited cannot be read: GraphQL knows no such thread")
		}
		h.listing.Issue.LastEdited = answer.Repository.Thread.LastEdited
		for _, n := range answer.Repository.Thread.List.Nodes {
			h.add(outer, n)
			if n.Comments != nil {
				for _, c := range n.Comments.Nodes {
					h.add(inner, c)
				}
			}
		}
		end := answer.Repository.Thread.List.Page
		if !end.More {
			return nil
		}
		if end.End == nil || seen[*end.End] {
			return fmt.Errorf("what is minimized or edited cannot be read: GraphQL's pages lead nowhere")
		}
		seen[*end.End] = true
		variables["after"] = *end.End
	}
}

// isOld reports whether the server refuses the query, as one does that has no
// fullDatabaseId yet; it is asked again with databaseId, once.
func (h *hiding) isOld(err error) bool {
	return h.id == "fullDatabaseId" && isKind(err, github.ErrInvalid)
}

func (h *hiding) add(source thread.Source, n node) {
	id, err := strconv.ParseInt(strings.Trim(string(n.ID), `"`), 10, 64)
	if err == nil && source != "" {
		h.known[thread.Ref{ID: id, Source: source}] = n
	}
}

func (h *hiding) lacks(comments []thread.Comment) bool {
	for i := range comments {
		if _, ok := h.known[thread.Ref{ID: comments[i].ID, Source: thread.SourceReviewComment}]; !ok {
			return true
		}
	}
	return false
}

// apply puts what is known into the listing. What GraphQL does not list is not
// rendered in full.
func (h *hiding) apply() (unknown int) {
	set := func(source thread.Source, id int64, minimized *bool, edit *thread.Edit) {
		n, ok := h.known[thread.Ref{ID: id, Source: source}]
		if !ok {
			unknown++
			*minimized = true
			return
		}
		*minimized, *edit = n.Minimized, n.LastEdited
	}
	for i := range h.listing.Comments {
		c := &h.listing.Comments[i]
		set(thread.SourceComment, c.ID, &c.Minimized, &c.LastEdited)
	}
	for i := range h.listing.Reviews {
		v := &h.listing.Reviews[i]
		set(thread.SourceReview, v.ID, &v.Minimized, &v.LastEdited)
	}
	for i := range h.listing.ReviewComments {
		c := &h.listing.ReviewComments[i]
		set(thread.SourceReviewComment, c.ID, &c.Minimized, &c.LastEdited)
	}
	return unknown
}
