package listing

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/github"
	"github.com/repo-memory/ledger/pkg/thread"
)

// The inputs that the roles of a thread share.
var (
	InputLedger = withDefault(action.InputLedger, "threads")

	InputNumber = action.Input{Name: "number", Kind: action.Int, Min: 1, Max: 999_999_999, Empty: "that of the event's issue or pull request",
		Help: "Number of the issue or pull request in the run's repository."}

	InputEngineActor = action.Input{Name: "engine-actor", Empty: "the account that GET /user names, if it names one for the token",
		Help: "Account that posts for the engine, as its numeric id or its login."}

	InputBotAccounts = action.Input{Name: "bot-accounts", Kind: action.List, Default: "github-actions[bot]", Empty: action.EmptyIsDefault,
		Help: "Logins of genuine bot accounts whose markers count as the engine's, one a line or between commas; * is all of them."}

	InputSecretEnv = action.Input{Name: "secret-env", Kind: action.List, Empty: "only names are judged",
		Help: "Names of environment variables of the step whose values no input may hold, one a line or between commas."}

	InputMaxRequests = action.Input{Name: "max-requests", Kind: action.Int, Min: 1, Max: MaxRequests, Default: strconv.Itoa(DefaultRequests),
		Help: "Most requests that the run may send to GitHub's API, repeated ones included."}

	InputDirectory = action.Input{Name: "directory", Kind: action.Path, Empty: "$RUNNER_TEMP/thread/ and the ledger's name", Derived: temporaryDirectory}
)

func withDefault(in action.Input, value string) action.Input {
	in.Default = value
	return in
}

func temporaryDirectory(a *action.Action) (string, error) {
	temp := a.Getenv("RUNNER_TEMP")
	if temp == "" {
		return "", action.BadInput("directory", "not given, and RUNNER_TEMP is not set; give a path")
	}
	return filepath.Join(temp, "thread", a.GetInput("ledger")), nil
}

// Run is a role's way to its thread.
type Run struct {
	Source Source
	Budget *Budget
	Event  Event
	// Engine is the engine's actor, nil when it is not known.
	Engine *thread.User
}

// Connect reads the inputs above and the event's payload and asks the server for
// the repository and the engine's actor. options of the client are those of
// tests; Budget and Waiting are set here.
func Connect(ctx context.Context, a *action.Action, options github.Options) (*Run, error) {
	r := &Run{Budget: NewBudget(a.IntInput("max-requests"))}
	if err := r.readEvent(a); err != nil {
		return nil, err
	}
	number := int64(a.IntInput("number"))
	if number == 0 {
		if number = r.Event.Number; number == 0 {
			return nil, action.BadInput("number", "not given, and the event has no issue or pull request; want %s", InputNumber.Accepts())
		}
	}
	token := a.GetInput("token")
	if token == "" {
		return nil, action.BadInput("token", "empty; GitHub's API shows a thread only to a token")
	}
	repository := a.Getenv("GITHUB_REPOSITORY")
	if err := github.CheckRepository(repository); err != nil {
		return nil, errors.New("the run names no repository (GITHUB_REPOSITORY); run it in a workflow")
	}
	if text := a.GetInput("engine-actor"); text != "" {
		actor, ok := ParseActor(text)
		if !ok {
			return nil, action.BadInput("engine-actor", "got %s; want an account's numeric id or its login", action.Quote(text, 80))
		}
		r.Engine = actor
	}
	options.Budget = r.Budget.Spend
	options.Waiting = func(d time.Duration, why *github.Error) { a.Noticef("waiting %v: %v", d.Round(time.Second), why) }
	client, err := github.FromEnv(a.Getenv, token, options)
	if err != nil {
		return nil, err
	}
	known, err := client.GetRepository(ctx, repository)
	if err != nil {
		return nil, fmt.Errorf("the repository cannot be read: %w", err)
	}
	r.Source = Source{Client: client, Repository: repository, Thread: thread.Thread{Number: number, RepositoryID: known.ID}}
	if r.Engine == nil {
		var why error
		if r.Engine, why, err = Engine(ctx, client); err != nil {
			return nil, fmt.Errorf("the engine's actor cannot be read: %w", err)
		}
		switch {
		case errors.Is(why, github.ErrForbidden), errors.Is(why, github.ErrForkToken), errors.Is(why, github.ErrNotFound):
			a.Infof("the token belongs to no account that may be asked for, as that of a run: only accounts of bot-accounts count as the engine's")
		case why != nil:
			a.Warningf("the engine's actor is not known, so its markers count for nobody: %v", why)
		}
	}
	return r, nil
}

func (r *Run) readEvent(a *action.Action) error {
	c, err := a.Context()
	if err != nil {
		return err
	}
	if a.Getenv("GITHUB_EVENT_PATH") == "" {
		a.Noticef("there is no event: nobody is known to have triggered the run, and nobody is trusted")
		return nil
	}
	payload, err := a.EventPayload()
	if err != nil {
		return err
	}
	if r.Event, err = ReadEvent(c.EventName, payload, time.Now()); errors.Is(err, ErrDiscussion) {
		return action.BadInput("number", "%v", err)
	}
	return err
}

// Secrets returns the values of the variables that secret-env names. One that is
// not set is bad input: it would be looked for in vain.
func Secrets(a *action.Action) (thread.Secrets, error) {
	secrets := thread.Secrets{}
	for _, name := range a.ListInput("secret-env") {
		value := a.Getenv(name)
		if value == "" {
			return nil, action.BadInput("secret-env", "names %s, which is empty or not set in this step; map the secret to it in the step's env, or leave it out", action.Quote(name, 80))
		}
		secrets[name] = value
	}
	return secrets, nil
}
