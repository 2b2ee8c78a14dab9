package githubtest

import (
	"fmt"
	"time"
)

// at is how REST and GraphQL show a time; null is the zero one.
func at(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format(time.RFC3339)
}

func accountObject(a *Account) any {
	if a == nil {
		return nil
	}
	return a.json()
}

func (s *Server) api(r *repository, format string, args ...any) string {
	return s.URL + "/api/v3/repos/" + r.name + "/" + fmt.Sprintf(format, args...)
}

func (s *Server) web(r *repository, issue *Issue) string {
	kind := "issues"
	if issue.PullRequest {
		kind = "pull"
	}
	return fmt.Sprintf("%s/%s/%s/%d", s.URL, r.name, kind, issue.Number)
}

func (s *Server) issueObject(r *repository, issue *Issue) object {
	o := object{"id": issue.ID, "node_id": fmt.Sprintf("I_%d", issue.ID), "number": issue.Number, "title": issue.Title, "body": issue.Body,
		"user": accountObject(issue.User), "author_association": issue.Association, "state": issue.State, "comments": len(issue.Comments),
		"created_at": at(issue.Created), "updated_at": at(issue.Updated), "url": s.api(r, "issues/%d", issue.Number),
		"html_url": s.web(r, issue), "labels": []any{}, "locked": false}
	if issue.PullRequest {
		o["pull_request"] = object{"url": s.api(r, "pulls/%d", issue.Number), "html_url": s.web(r, issue)}
	}
	return o
}

func (s *Server) commentObject(r *repository, issue *Issue, c Comment) object {
	return object{"id": c.ID, "node_id": fmt.Sprintf("IC_%d", c.ID), "body": c.Body, "user": accountObject(c.User), "author_association": c.Association,
		"created_at": at(c.Created), "updated_at": at(c.Updated), "url": s.api(r, "issues/comments/%d", c.ID), "issue_url": s.api(r, "issues/%d", issue.Number),
		"html_url": fmt.Sprintf("%s#issuecomment-%d", s.web(r, issue), c.ID), "performed_via_github_app": nil}
}

func (s *Server) reviewObject(r *repository, issue *Issue, v Review) object {
	return object{"id": v.ID, "node_id": fmt.Sprintf("PRR_%d", v.ID), "body": v.Body, "state": v.State, "user": accountObject(v.User), "author_association": v.Association,
		"submitted_at": at(v.Submitted), "pull_request_url": s.api(r, "pulls/%d", issue.Number), "html_url": fmt.Sprintf("%s#pullrequestreview-%d", s.web(r, issue), v.ID)}
}

func (s *Server) reviewCommentObject(r *repository, issue *Issue, c ReviewComment) object {
	o := s.commentObject(r, issue, c.Comment)
	delete(o, "issue_url")
	delete(o, "performed_via_github_app")
	o["node_id"], o["url"], o["html_url"] = fmt.Sprintf("PRRC_%d", c.ID), s.api(r, "pulls/comments/%d", c.ID), fmt.Sprintf("%s#discussion_r%d", s.web(r, issue), c.ID)
	o["pull_request_url"], o["pull_request_review_id"] = s.api(r, "pulls/%d", issue.Number), c.Review
	o["path"], o["diff_hunk"], o["line"] = c.Path, c.Diff, c.Line
	if c.Outdated {
		o["line"] = nil
	}
	if c.ReplyTo != 0 {
		o["in_reply_to_id"] = c.ReplyTo
	}
	return o
}
