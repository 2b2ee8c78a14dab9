package githubtest

import (
	"fmt"
	"net/http"
)

// Permissions are what a token may do: contents, issues, pull-requests, actions and
// metadata, each "read" or "write".
type Permissions map[string]string

// Account is a user of GitHub.
type Account struct {
	ID    int64
	Login string
	// Type is User, Bot or Organization.
	Type string
}

// Actions is whom a workflow's own token acts as.
var Actions = Account{ID: 41898282, Login: "github-actions[bot]", Type: "Bot"}

type identity struct {
	permissions Permissions
	account     Account
}

// Token registers a token, which acts as github-actions[bot] unless an account is
// given. A second call replaces what the token may do.
func (s *Server) Token(token string, permissions Permissions, as ...Account) {
	s.t.Helper()
	for name, level := range permissions {
		switch name {
		case "contents", "issues", "pull-requests", "actions", "metadata":
		default:
			s.t.Fatalf("githubtest: there is no permission %q", name)
		}
		if level != "read" && level != "write" {
			s.t.Fatalf("githubtest: permission %s is %q, want read or write", name, level)
		}
	}
	id := &identity{permissions: permissions, account: Actions}
	if len(as) > 0 {
		id.account = as[0]
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens[token] = id
}

// who finds the identity of a request; known is false for a token that is none, and
// id is nil without a token.
func (s *Server) who(r *Request) (id *identity, known bool) {
	if !r.Authorization {
		return nil, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	id = s.tokens[r.Token]
	return id, id != nil
}

// may tells whether the permissions hold one at a level.
func (id *identity) may(name, level string) bool {
	has := id.permissions[name]
	return has == "write" || has == level || name == "metadata" && level == "read"
}

// need is a permission that a route asks for: any of the names at the level.
type need struct {
	level string
	names []string
}

func (id *identity) has(n need) bool {
	for _, name := range n.names {
		if id.may(name, n.level) {
			return true
		}
	}
	return false
}

const (
	notAccessible  = "Resource not accessible by integration"
	badCredentials = "Bad credentials"
)

// allowed answers a request whose token does not reach, and says whether it does.
func (s *Server) allowed(w http.ResponseWriter, r *Request, n need) (*identity, bool) {
	id, known := s.who(r)
	switch {
	case !known:
		fail(w, http.StatusUnauthorized, badCredentials)
	case id == nil:
		fail(w, http.StatusNotFound, "Not Found") // as a private repository answers
	case !id.has(n):
		accepted := ""
		for i, name := range n.names {
			if i > 0 {
				accepted += "; "
			}
			accepted += fmt.Sprintf("%s=%s", name, n.level)
		}
		w.Header().Set("X-Accepted-Github-Permissions", accepted)
		fail(w, http.StatusForbidden, notAccessible)
	default:
		return id, true
	}
	return nil, false
}
