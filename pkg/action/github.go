package action

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
)

// GitHubContext is what the runner says of the run, each field from the
// variable of the same name. Texts are as the runner gave them and may be
// chosen by whoever opened a pull request (refs, workflow names): print them
// with [Quote] or [Code]. Outside Actions texts are empty and numbers 0.
type GitHubContext struct {
	ServerURL, APIURL, GraphQLURL string
	Repository, RepositoryOwner   string
	Workflow, WorkflowRef, Job    string
	EventName, Actor              string
	TriggeringActor               string
	Ref, RefName, SHA             string

	RepositoryID, RepositoryOwnerID, ActorID int64
	RunID, RunNumber, RunAttempt             int64
}

var serverForm = regexp.MustCompile(`^https?://[A-Za-z0-9.:-]{1,253}$`)

// RunURL returns the URL of the run's attempt, "" where there is none or where
// what the runner says of it has not the form of a URL's parts.
func (c *GitHubContext) RunURL() string {
	if c.RunID == 0 || !serverForm.MatchString(c.ServerURL) || !repositoryForm.MatchString(c.Repository) {
		return ""
	}
	return fmt.Sprintf("%s/%s/actions/runs/%d/attempts/%d", c.ServerURL, c.Repository, c.RunID, max(1, c.RunAttempt))
}

// Context reads the run's context; a number that is not one is an error.
func (a *Action) Context() (*GitHubContext, error) {
	c := &GitHubContext{}
	for name, text := range map[string]*string{
		"GITHUB_SERVER_URL": &c.ServerURL, "GITHUB_API_URL": &c.APIURL, "GITHUB_GRAPHQL_URL": &c.GraphQLURL,
		"GITHUB_REPOSITORY": &c.Repository, "GITHUB_REPOSITORY_OWNER": &c.RepositoryOwner,
		"GITHUB_WORKFLOW": &c.Workflow, "GITHUB_WORKFLOW_REF": &c.WorkflowRef, "GITHUB_JOB": &c.Job,
		"GITHUB_EVENT_NAME": &c.EventName, "GITHUB_ACTOR": &c.Actor, "GITHUB_TRIGGERING_ACTOR": &c.TriggeringActor,
		"GITHUB_REF": &c.Ref, "GITHUB_REF_NAME": &c.RefName, "GITHUB_SHA": &c.SHA,
	} {
		*text = a.getenv(name)
	}
	for name, number := range map[string]*int64{
		"GITHUB_REPOSITORY_ID": &c.RepositoryID, "GITHUB_REPOSITORY_OWNER_ID": &c.RepositoryOwnerID,
		"GITHUB_ACTOR_ID": &c.ActorID, "GITHUB_RUN_ID": &c.RunID,
		"GITHUB_RUN_NUMBER": &c.RunNumber, "GITHUB_RUN_ATTEMPT": &c.RunAttempt,
	} {
		text := a.getenv(name)
		if text == "" {
			continue
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 || strconv.FormatInt(n, 10) != text {
			return nil, fmt.Errorf("%s is not a number: %s", name, Quote(text, 80))
		}
		*number = n
	}
	return c, nil
}

// EventPayload returns the JSON of the event that started the run, at most 25
// MiB, untouched: a stranger can influence nearly all of it, so it goes through
// a strict decoder. It is an error outside Actions.
func (a *Action) EventPayload() ([]byte, error) {
	path := a.getenv("GITHUB_EVENT_PATH")
	if path == "" {
		return nil, errors.New("GITHUB_EVENT_PATH is not set; the event's payload is only there in a run of Actions")
	}
	f, err := a.openFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, errors.New("cannot open the event's payload")
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.New("the event's payload is not a regular file")
	}
	data, err := io.ReadAll(io.LimitReader(f, maxEventBytes+1))
	if err != nil {
		return nil, errors.New("cannot read the event's payload")
	}
	if len(data) > maxEventBytes {
		return nil, fmt.Errorf("the event's payload is over the limit of %d bytes", maxEventBytes)
	}
	return data, nil
}
