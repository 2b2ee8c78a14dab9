package listing

import (
	"context"
	"errors"
	"regexp"
	"strconv"

	"github.com/repo-memory/ledger/pkg/github"
	"github.com/repo-memory/ledger/pkg/thread"
)

func isKind(err, kind error) bool { return err != nil && errors.Is(err, kind) }

// Engine asks who the token belongs to, which is the engine's actor. The token of a
// workflow run belongs to nobody that may ask: then, and whenever the answer is not
// clear, the actor is nil, why says so, and nobody gets anything from it. A token
// that is none, the budget and the end of ctx are errors.
func Engine(ctx context.Context, client *github.Client) (actor *thread.User, why, err error) {
	u, err := client.CurrentUser(ctx)
	switch {
	case err == nil:
		return &thread.User{ID: u.ID, Login: u.Login, Type: u.Type}, nil, nil
	case ctx.Err() != nil:
		return nil, nil, context.Cause(ctx)
	case isKind(err, github.ErrUnauthorized), isKind(err, github.ErrConfig), isKind(err, ErrBudget):
		return nil, nil, err
	}
	return nil, err, nil
}

var (
	actorID    = regexp.MustCompile(`^[1-9][0-9]{0,15}$`)
	actorLogin = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,98}(\[bot\])?$`)
)

// ParseActor reads an account that the configuration names: an id, which a rename
// does not pass on, or a login.
func ParseActor(text string) (*thread.User, bool) {
	if actorID.MatchString(text) {
		id, err := strconv.ParseInt(text, 10, 64)
		return &thread.User{ID: id}, err == nil && id <= thread.MaxID
	}
	return &thread.User{Login: text}, actorLogin.MatchString(text)
}
