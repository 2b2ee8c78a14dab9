package githubtest

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

var (
	readContents  = need{"read", []string{"contents"}}
	writeContents = need{"write", []string{"contents"}}
	metadata      = need{"read", []string{"metadata"}}
	readThread    = need{"read", []string{"issues", "pull-requests"}}
	writeThread   = need{"write", []string{"issues", "pull-requests"}}
	readPulls     = need{"read", []string{"pull-requests"}}
)

// spend takes one request from a bucket and writes its headers.
func (s *Server) spend(w http.ResponseWriter, bucket string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	ok := s.used[bucket] < s.opts.RateLimit
	if ok {
		s.used[bucket]++
	}
	s.rateHeaders(w.Header(), bucket)
	return ok
}

// refund gives it back: a conditional request that changed nothing is free.
func (s *Server) refund(w http.ResponseWriter, bucket string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used[bucket]--
	s.rateHeaders(w.Header(), bucket)
}

func (s *Server) rateHeaders(h http.Header, bucket string) {
	for name, value := range map[string]int{"Limit": s.opts.RateLimit, "Remaining": s.opts.RateLimit - s.used[bucket], "Used": s.used[bucket], "Reset": int(s.reset())} {
		h.Set("X-Ratelimit-"+name, strconv.Itoa(value))
	}
	h.Set("X-Ratelimit-Resource", bucket)
}

// reset is when the buckets fill again: at the next full hour.
func (s *Server) reset() int64 { return s.opts.Now().Truncate(time.Hour).Add(time.Hour).Unix() }

// call is one REST request on its way to a route.
type call struct {
	w    http.ResponseWriter
	q    *http.Request
	r    *Request
	body []byte
	id   *identity
	repo *repository
	// rest is the path below the repository, split.
	rest []string
}

// rest serves /api/v3.
func (s *Server) rest(w http.ResponseWriter, q *http.Request, r *Request, body []byte) {
	path := strings.Split(strings.TrimPrefix(q.URL.Path, "/api/v3/"), "/")
	if strings.Join(path, "/") == "rate_limit" && q.Method == http.MethodGet {
		if _, ok := s.allowed(w, r, metadata); ok {
			s.rateLimit(w)
		}
		return
	}
	if !s.spend(w, "core") {
		fail(w, http.StatusForbidden, "API rate limit exceeded for installation ID 1.")
		return
	}
	c := &call{w: w, q: q, r: r, body: body}
	if strings.Join(path, "/") == "user" && q.Method == http.MethodGet {
		if id, ok := s.allowed(w, r, metadata); ok {
			s.user(w, id)
		}
		return
	}
	// The links between pages name a repository by its id.
	if len(path) >= 2 && path[0] == "repositories" {
		path = append(strings.Split("repos/"+s.byID(path[1]), "/"), path[2:]...)
	}
	if len(path) < 3 || path[0] != "repos" {
		fail(w, http.StatusNotFound, "Not Found")
		return
	}
	if _, known := s.who(r); !known {
		fail(w, http.StatusUnauthorized, badCredentials)
		return
	}
	c.repo, c.rest = s.lookup(path[1]+"/"+path[2]), path[3:]
	if c.repo == nil {
		fail(w, http.StatusNotFound, "Not Found")
		return
	}
	for _, route := range s.routes() {
		if route.method == q.Method && matches(route.path, c.rest) {
			id, ok := s.allowed(w, r, route.need)
			switch {
			case !ok:
			case len(c.rest) > 0 && c.rest[0] == "git" && s.isEmpty(c.repo):
				fail(w, http.StatusConflict, "Git Repository is empty.")
			default:
				c.id = id
				route.serve(c)
			}
			return
		}
	}
	fail(w, http.StatusNotFound, "Not Found")
}

// isEmpty tells whether a repository has no reference; the git data API then makes
// nothing in it.
func (s *Server) isEmpty(repo *repository) bool {
	out, err := s.in(repo, "for-each-ref", "--count=1")
	return err == nil && out == ""
}

type route struct {
	method, path string // of the path below the repository; * is one part, ** the rest
	need         need
	serve        func(*call)
}

func (s *Server) routes() []route {
	return []route{
		{"GET", "", metadata, s.repository},
		{"GET", "git/ref/**", readContents, s.getRef},
		{"POST", "git/refs", writeContents, s.createRef},
		{"POST", "git/blobs", writeContents, s.createBlob},
		{"POST", "git/trees", writeContents, s.createTree},
		{"POST", "git/commits", writeContents, s.createCommitObject},
		{"GET", "git/commits/*", readContents, s.getCommit},
		{"GET", "contents/**", readContents, s.contents},
		{"GET", "issues/*", readThread, s.locked(s.getIssue)},
		{"GET", "issues/*/comments", readThread, s.locked(s.listComments)},
		{"POST", "issues/*/comments", writeThread, s.locked(s.createComment)},
		{"GET", "issues/comments/*", readThread, s.locked(s.getComment)},
		{"PATCH", "issues/comments/*", writeThread, s.locked(s.updateComment)},
		{"DELETE", "issues/comments/*", writeThread, s.locked(s.deleteComment)},
		{"GET", "pulls/*/reviews", readPulls, s.locked(s.listReviews)},
		{"GET", "pulls/*/comments", readPulls, s.locked(s.listReviewComments)},
		{"GET", "collaborators/*/permission", metadata, s.locked(s.permission)},
		{"POST", "actions/workflows/*/dispatches", need{"write", []string{"actions"}}, s.dispatch},
	}
}

func matches(pattern string, path []string) bool {
	if pattern == "" {
		return len(path) == 0
	}
	parts := strings.Split(pattern, "/")
	for i, part := range parts {
		switch {
		case part == "**":
			return len(path) > i
		case i >= len(path) || part != "*" && part != path[i] || path[i] == "":
			return false
		}
	}
	return len(parts) == len(path)
}

func (s *Server) rateLimit(w http.ResponseWriter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rateHeaders(w.Header(), "core")
	resources := object{}
	for _, bucket := range []string{"core", "graphql"} {
		resources[bucket] = object{"limit": s.opts.RateLimit, "used": s.used[bucket], "remaining": s.opts.RateLimit - s.used[bucket], "reset": s.reset()}
	}
	answer(w, http.StatusOK, object{"resources": resources, "rate": resources["core"]})
}

func (s *Server) user(w http.ResponseWriter, id *identity) {
	if id.account.Type == "Bot" {
		fail(w, http.StatusForbidden, notAccessible)
		return
	}
	answer(w, http.StatusOK, id.account.json())
}

// json is how REST shows an account.
func (a Account) json() object {
	typ := a.Type
	if typ == "" {
		typ = "User"
	}
	return object{"login": a.Login, "id": a.ID, "type": typ}
}

func (s *Server) repository(c *call) {
	answer(c.w, http.StatusOK, object{"id": c.repo.id, "name": c.repo.name[strings.Index(c.repo.name, "/")+1:], "full_name": c.repo.name,
		"private": true, "default_branch": s.defaultBranch(c.repo), "clone_url": s.URL + "/" + c.repo.name + ".git"})
}

// defaultBranch is what HEAD of the bare repository names: git symbolic-ref HEAD
// changes it.
func (s *Server) defaultBranch(r *repository) string {
	out, err := s.in(r, "symbolic-ref", "--short", "HEAD")
	if err != nil {
		return ""
	}
	return out
}

// byID is the name of the repository with an id, "/" for none.
func (s *Server) byID(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, r := range s.repos {
		if strconv.FormatInt(r.id, 10) == text {
			return name
		}
	}
	return "/"
}
