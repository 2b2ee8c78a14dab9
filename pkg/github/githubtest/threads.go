package githubtest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// find is the issue whose number stands at rest[1]; the request is answered when
// there is none, or when the token does not reach it: for an issue issues counts
// alone, for a pull request issues or pull-requests.
func (s *Server) find(c *call, level string) *Issue {
	n, err := strconv.Atoi(c.rest[1])
	issue := c.repo.issues[n]
	if err != nil || issue == nil || c.rest[0] == "pulls" && !issue.PullRequest {
		fail(c.w, http.StatusNotFound, "Not Found")
		return nil
	}
	if c.rest[0] != "pulls" && !issue.PullRequest && !c.id.may("issues", level) {
		fail(c.w, http.StatusForbidden, notAccessible)
		return nil
	}
	return issue
}

// locked has a route run while nothing of a thread changes.
func (s *Server) locked(serve func(*call) func()) func(*call) {
	return func(c *call) {
		s.mu.Lock()
		reply := serve(c)
		s.mu.Unlock()
		if reply != nil {
			reply()
		}
	}
}

func (s *Server) getIssue(c *call) func() {
	issue := s.find(c, "read")
	if issue == nil {
		return nil
	}
	value := s.issueObject(c.repo, issue)
	return func() { s.conditional(c, value) }
}

func (s *Server) listComments(c *call) func() {
	issue := s.find(c, "read")
	if issue == nil {
		return nil
	}
	since := time.Time{}
	if text := c.q.URL.Query().Get("since"); text != "" {
		var err error
		if since, err = time.Parse(time.RFC3339, text); err != nil {
			fail(c.w, http.StatusUnprocessableEntity, "Invalid request.\n\nsince is no time")
			return nil
		}
	}
	list := []any{}
	for _, m := range issue.Comments {
		if !m.Updated.Before(since) {
			list = append(list, s.commentObject(c.repo, issue, m))
		}
	}
	return func() { s.page(c, list) }
}

func (s *Server) listReviews(c *call) func() {
	issue := s.find(c, "read")
	if issue == nil {
		return nil
	}
	list := []any{}
	for _, v := range issue.Reviews {
		list = append(list, s.reviewObject(c.repo, issue, v))
	}
	return func() { s.page(c, list) }
}

func (s *Server) listReviewComments(c *call) func() {
	issue := s.find(c, "read")
	if issue == nil {
		return nil
	}
	list := []any{}
	for _, m := range issue.ReviewComments {
		list = append(list, s.reviewCommentObject(c.repo, issue, m))
	}
	return func() { s.page(c, list) }
}

// body reads the text of a comment to write.
func (c *call) commentBody() (string, bool) {
	var in struct {
		Body *string `json:"body"`
	}
	if !c.decode(&in) {
		return "", false
	}
	switch {
	case in.Body == nil || *in.Body == "":
		fail(c.w, http.StatusUnprocessableEntity, "Validation Failed")
	case utf8.RuneCountInString(*in.Body) > maxComment:
		fail(c.w, http.StatusUnprocessableEntity, fmt.Sprintf("Validation Failed: body is too long (maximum is %d characters)", maxComment))
	default:
		return *in.Body, true
	}
	return "", false
}

func (s *Server) createComment(c *call) func() {
	issue := s.find(c, "write")
	if issue == nil {
		return nil
	}
	body, ok := c.commentBody()
	if !ok {
		return nil
	}
	account := c.id.account
	m := Comment{Body: body, User: &account}
	s.complete(&m, s.opts.Now().UTC().Truncate(time.Second))
	issue.Comments = append(issue.Comments, m)
	value := s.commentObject(c.repo, issue, m)
	return func() { c.created(value) }
}

// comment finds the comment whose id stands at rest[2].
func (s *Server) comment(c *call, level string) (*Issue, int) {
	id, err := strconv.ParseInt(c.rest[2], 10, 64)
	for _, issue := range c.repo.issues {
		for i, m := range issue.Comments {
			if err == nil && m.ID == id {
				if !issue.PullRequest && !c.id.may("issues", level) {
					fail(c.w, http.StatusForbidden, notAccessible)
					return nil, 0
				}
				return issue, i
			}
		}
	}
	fail(c.w, http.StatusNotFound, "Not Found")
	return nil, 0
}

func (s *Server) getComment(c *call) func() {
	issue, i := s.comment(c, "read")
	if issue == nil {
		return nil
	}
	value := s.commentObject(c.repo, issue, issue.Comments[i])
	return func() { s.conditional(c, value) }
}

func (s *Server) updateComment(c *call) func() {
	issue, i := s.comment(c, "write")
	if issue == nil {
		return nil
	}
	body, ok := c.commentBody()
	if !ok {
		return nil
	}
	m := &issue.Comments[i]
	m.Body, m.Updated = body, s.opts.Now().UTC().Truncate(time.Second)
	m.Edited = m.Updated
	value := s.commentObject(c.repo, issue, *m)
	return func() { answer(c.w, http.StatusOK, value) }
}

func (s *Server) deleteComment(c *call) func() {
	issue, i := s.comment(c, "write")
	if issue == nil {
		return nil
	}
	issue.Comments = slices.Delete(issue.Comments, i, i+1)
	return func() { c.w.WriteHeader(http.StatusNoContent) }
}

// permission is what an account may do in the repository.
func (s *Server) permission(c *call) func() {
	role := c.repo.collaborators[c.rest[1]]
	level := map[string]string{"admin": "admin", "maintain": "write", "write": "write", "triage": "read", "read": "read"}[role]
	if level == "" {
		role, level = "none", "none" // as for any account that exists
	}
	login := c.rest[1]
	return func() {
		answer(c.w, http.StatusOK, object{"permission": level, "role_name": role, "user": object{"login": login}})
	}
}
