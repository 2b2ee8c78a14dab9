package githubtest

import (
	"cmp"
	"slices"
	"time"
)

// Issue is an issue or a pull request with its thread. What is zero gets a value
// when it is added: the number, ids, times of the server's clock, NONE as the
// association.
type Issue struct {
	ID          int64
	Number      int
	Title, Body string
	// User is nil for a deleted account, here and below.
	User             *Account
	Association      string // OWNER, MEMBER, COLLABORATOR, CONTRIBUTOR, NONE, …
	State            string // open or closed
	PullRequest      bool
	Created, Updated time.Time
	// Edited is when the text was last changed, zero for never.
	Edited time.Time

	Comments       []Comment
	Reviews        []Review
	ReviewComments []ReviewComment
}

// Comment is one of an issue or a pull request.
type Comment struct {
	ID               int64
	Body             string
	User             *Account
	Association      string
	Created, Updated time.Time
	Edited           time.Time
	// Minimized is why the comment is hidden (SPAM, OUTDATED, …), "" when it is not.
	Minimized string
}

// Review is one of a pull request. State is APPROVED, COMMENTED, …
type Review struct {
	ID          int64
	Body, State string
	User        *Account
	Association string
	Submitted   time.Time
	Edited      time.Time
	Minimized   string
}

// ReviewComment is one on a line of a pull request.
type ReviewComment struct {
	Comment
	Review   int64 // id
	ReplyTo  int64 // id, 0 for none
	Path     string
	Line     int
	Diff     string
	Outdated bool
	Resolved bool // its conversation is
}

// AddIssue adds an issue and returns its number.
func (s *Server) AddIssue(repo string, issue Issue) int {
	s.t.Helper()
	s.Repo(repo)
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.repos[repo]
	now := s.opts.Now().UTC().Truncate(time.Second)
	if issue.Number == 0 {
		issue.Number = len(r.issues) + 1
	}
	if r.issues[issue.Number] != nil {
		s.t.Fatalf("githubtest: there is an issue %d", issue.Number)
	}
	s.sequence++
	issue.ID = cmp.Or(issue.ID, int64(1000+s.sequence))
	issue.State, issue.Association = cmp.Or(issue.State, "open"), cmp.Or(issue.Association, "NONE")
	stamp(&issue.Created, &issue.Updated, now)
	for i := range issue.Comments {
		s.complete(&issue.Comments[i], now)
	}
	for i := range issue.ReviewComments {
		s.complete(&issue.ReviewComments[i].Comment, now)
	}
	for i := range issue.Reviews {
		v := &issue.Reviews[i]
		s.sequence++
		v.ID, v.State, v.Association = cmp.Or(v.ID, int64(1000+s.sequence)), cmp.Or(v.State, "COMMENTED"), cmp.Or(v.Association, "NONE")
		if v.Submitted.IsZero() {
			v.Submitted = now
		}
	}
	r.issues[issue.Number] = &issue
	return issue.Number
}

func stamp(created, updated *time.Time, now time.Time) {
	if created.IsZero() {
		*created = now
	}
	if updated.IsZero() {
		*updated = *created
	}
}

// complete fills in what a comment lacks; s.mu is held.
func (s *Server) complete(c *Comment, now time.Time) {
	s.sequence++
	c.ID, c.Association = cmp.Or(c.ID, int64(1000+s.sequence)), cmp.Or(c.Association, "NONE")
	stamp(&c.Created, &c.Updated, now)
}

// AddComment adds a comment to an issue and returns its id.
func (s *Server) AddComment(repo string, number int, c Comment) int64 {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	issue := s.issue(repo, number)
	s.complete(&c, s.opts.Now().UTC().Truncate(time.Second))
	issue.Comments = append(issue.Comments, c)
	return c.ID
}

// Change lets a test change an issue and its thread in any way, and returns it as it
// then is: no Change at all with nil.
func (s *Server) Change(repo string, number int, f func(*Issue)) Issue {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	issue := s.issue(repo, number)
	if f != nil {
		f(issue)
	}
	out := *issue
	out.Comments, out.Reviews, out.ReviewComments = slices.Clone(issue.Comments), slices.Clone(issue.Reviews), slices.Clone(issue.ReviewComments)
	return out
}

// issue finds one; s.mu is held.
func (s *Server) issue(repo string, number int) *Issue {
	s.t.Helper()
	if r := s.repos[repo]; r != nil && r.issues[number] != nil {
		return r.issues[number]
	}
	s.t.Fatalf("githubtest: %s has no issue %d", repo, number)
	return nil
}

// Collaborator gives an account a role in a repository: admin, maintain, write,
// triage or read.
func (s *Server) Collaborator(repo, login, role string) {
	s.t.Helper()
	s.Repo(repo)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.repos[repo].collaborators[login] = role
}
