package githubtest

import (
	"net/http"
	"slices"
	"strings"
)

// Request is one that arrived. Status is 0 where the connection was dropped.
type Request struct {
	Method, Path, Query string
	Header              http.Header
	// Authorization tells whether a header of that name came, Token what token it
	// carried: of Bearer, of token, and of Basic the password.
	Authorization bool
	Token         string
	// Body is that of an API request, at most 1 MiB of it.
	Body   []byte
	Status int
}

// Landed is a commit that reached a branch.
type Landed struct {
	Branch, OID string
	// How is mutation (createCommitOnBranch), ref (a reference made over REST) or
	// push.
	How string
	// Expected is the head that the writer said the branch stands at: expectedHeadOid,
	// or the old id of the push. "" says that the branch must not exist.
	Expected string
	// Parent is the commit's first parent, "" without one.
	Parent string
	Token  string
}

func (s *Server) record(q *http.Request, body []byte) *Request {
	r := &Request{Method: q.Method, Path: q.URL.Path, Query: q.URL.RawQuery, Header: q.Header.Clone()}
	_, r.Authorization = q.Header["Authorization"]
	kind, text, _ := strings.Cut(q.Header.Get("Authorization"), " ")
	if _, password, ok := q.BasicAuth(); ok {
		r.Token = password
	} else if strings.EqualFold(kind, "bearer") || strings.EqualFold(kind, "token") {
		r.Token = text
	}
	if !isGit(r.Path) {
		r.Body = slices.Clone(body[:min(len(body), maxKeptBytes)])
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	return r
}

// finish keeps the status of an answer, also when it ends in a dropped connection.
func (s *Server) finish(r *Request, w http.ResponseWriter, answer func(http.ResponseWriter)) {
	seen := &statusWriter{ResponseWriter: w}
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		r.Status = seen.status
	}()
	answer(seen)
	if seen.status == 0 {
		seen.WriteHeader(http.StatusOK)
	}
}

type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(code int) {
	if w.status == 0 {
		w.status = code
	}
	w.ResponseWriter.WriteHeader(code)
}

func (w *statusWriter) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(p)
}

// Requests are the requests so far, in the order of arrival.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Request, len(s.requests))
	for i, r := range s.requests {
		list[i] = *r
	}
	return list
}

// Commits are the commits that reached a branch of the repository since the server
// started, those that a test made with git itself aside.
func (s *Server) Commits(repo string) []Landed {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.repos[repo]; r != nil {
		return slices.Clone(r.landed)
	}
	return nil
}

func (s *Server) landed(r *repository, l Landed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.landed = append(r.landed, l)
}
