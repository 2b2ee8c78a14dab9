package github

import (
	"context"
	"net/http"
	"net/url"
)

// User is the account that a token belongs to.
type User struct {
	ID    int64  `json:"id"`
	Login string `json:"login"`
	Type  string `json:"type"`
}

// CurrentUser asks who the token belongs to. The token of a workflow run belongs
// to nobody that may ask ([ErrForbidden]).
func (c *Client) CurrentUser(ctx context.Context) (User, error) {
	var u User
	answer, err := c.Do(ctx, Call{Method: http.MethodGet, Path: "user"})
	if err != nil {
		return u, err
	}
	if err := answer.Decode(&u); err != nil {
		return User{}, err
	}
	if u.ID <= 0 || u.Login == "" {
		return User{}, &Error{Kind: ErrMalformed, Hint: "the answer names no account"}
	}
	return u, nil
}

// Repository is what the API says of a repository.
type Repository struct {
	ID            int64  `json:"id"`
	FullName      string `json:"full_name"`
	DefaultBranch string `json:"default_branch"`
}

// GetRepository asks for a repository by OWNER/NAME.
func (c *Client) GetRepository(ctx context.Context, name string) (Repository, error) {
	var r Repository
	if err := CheckRepository(name); err != nil {
		return r, err
	}
	answer, err := c.Do(ctx, Call{Method: http.MethodGet, Path: "repos/" + name})
	if err != nil {
		return r, err
	}
	if err := answer.Decode(&r); err != nil {
		return Repository{}, err
	}
	if r.ID <= 0 || r.DefaultBranch == "" {
		return Repository{}, &Error{Kind: ErrMalformed, Hint: "the answer names no default branch"}
	}
	return r, nil
}

// DispatchWorkflow starts a workflow, named by its file in .github/workflows, on a
// branch or tag, with exactly these inputs. A run is not named by the answer; one
// that got no clear answer ([Unclear]) may have been started.
func (c *Client) DispatchWorkflow(ctx context.Context, repository, file, ref string, inputs map[string]string) error {
	if err := CheckRepository(repository); err != nil {
		return err
	}
	if inputs == nil {
		inputs = map[string]string{}
	}
	_, err := c.Do(ctx, Call{
		Method: http.MethodPost, Path: "repos/" + repository + "/actions/workflows/" + url.PathEscape(file) + "/dispatches",
		Body: map[string]any{"ref": ref, "inputs": inputs}, Needs: "actions: write", inspect: dispatched,
	})
	return err
}

// dispatched takes the two answers that the API has, none and a JSON object. A page
// of something that stands between is no sign that anything was started.
func dispatched(a *Answer) *Error {
	if a.Status == http.StatusNoContent && len(a.Body) == 0 || a.Decode(new(struct{})) == nil {
		return nil
	}
	return &Error{Kind: ErrMalformed, Status: a.Status, Hint: "the answer is not one of the API: check GITHUB_API_URL and https_proxy"}
}
