package githubtest

import (
	"bytes"
	"io"
	"net/http"
	"strings"
)

// Match chooses requests.
type Match func(Request) bool

// On matches a method and a path; a path that ends in * matches what begins so. An
// empty method matches all.
func On(method, path string) Match {
	prefix, open := strings.CutSuffix(path, "*")
	return func(r Request) bool {
		return (method == "" || r.Method == method) && (r.Path == path || open && strings.HasPrefix(r.Path, prefix))
	}
}

// Any matches every request.
func Any(Request) bool { return true }

// Mutation matches createCommitOnBranch.
func Mutation(r Request) bool {
	return r.Path == "/api/graphql" && bytes.Contains(r.Body, []byte("createCommitOnBranch"))
}

// Push matches the request that carries a pack to the server, Fetch the one that
// asks for a pack.
func Push(r Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.Path, "/git-receive-pack")
}

func Fetch(r Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.Path, "/git-upload-pack")
}

// Advertise matches the question for a repository's references, before a fetch and
// before a push.
func Advertise(r Request) bool { return strings.HasSuffix(r.Path, "/info/refs") }

// Reply is what a request gets in the place of its answer. The zero value serves
// the request as ever.
type Reply struct {
	// Do runs before anything else.
	Do func()
	// After has the request served first, its answer thrown away.
	After bool
	// Drop ends the connection without an answer.
	Drop   bool
	Status int
	Header map[string]string
	Body   string
}

func (r Reply) serves() bool { return !r.Drop && r.Status == 0 }

func (r Reply) write(w http.ResponseWriter) {
	if r.Drop {
		panic(http.ErrAbortHandler)
	}
	for name, value := range r.Header {
		w.Header().Set(name, value)
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
	}
	w.WriteHeader(r.Status)
	_, _ = io.WriteString(w, r.Body)
}

// Replies that tests need often.
var (
	Serve       = Reply{}
	DropBefore  = Reply{Drop: true}
	DropAfter   = Reply{Drop: true, After: true}
	BadGateway  = Reply{Status: http.StatusBadGateway, Header: map[string]string{"Content-Type": "text/html"}, Body: "<html><h1>502 Bad Gateway</h1></html>\n"}
	BadGateway2 = Reply{After: true, Status: BadGateway.Status, Header: BadGateway.Header, Body: BadGateway.Body}
)

// SecondaryLimit is GitHub's answer to who is too quick; after is the Retry-After
// header, "" for none.
func SecondaryLimit(after string) Reply {
	r := Reply{Status: http.StatusForbidden, Header: map[string]string{"X-Ratelimit-Remaining": "57"},
		Body: `{"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again.","documentation_url":"https://docs.github.com/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits"}`}
	if after != "" {
		r.Header["Retry-After"] = after
	}
	return r
}

// RedirectTo sends the client elsewhere with 307, which keeps method and body.
func RedirectTo(url string) Reply {
	return Reply{Status: http.StatusTemporaryRedirect, Header: map[string]string{"Location": url}}
}

// Respond answers with a status and a JSON body.
func Respond(status int, body string) Reply { return Reply{Status: status, Body: body} }

type queue struct {
	match   Match
	replies []Reply
}

// Script queues replies for the requests that match, one for each.
func (s *Server) Script(match Match, replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queues = append(s.queues, &queue{match, replies})
}

// Before runs f once, before the next request that matches is served.
func (s *Server) Before(match Match, f func()) { s.Script(match, Reply{Do: f}) }

// Unused counts the replies that no request has taken yet.
func (s *Server) Unused() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range s.queues {
		n += len(q.replies)
	}
	return n
}

func (s *Server) next(r *Request) (Reply, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, q := range s.queues {
		if len(q.replies) > 0 && q.match(*r) {
			reply := q.replies[0]
			q.replies = q.replies[1:]
			return reply, true
		}
	}
	return Reply{}, false
}
