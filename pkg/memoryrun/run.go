package memoryrun

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/canonical"
	"github.com/repo-memory/ledger/pkg/memory"
)

// Run is what a trusted job knows of its own run.
type Run struct {
	Workflow string // path of the workflow's file, "" where the run names none
	ID       string // run and attempt, such as 42/1
	Link     string // "" outside Actions

	facts        memory.RunFacts
	server, repo string
	elsewhere    error // why the workflow is not that of the default branch
}

// ReadRun reads the variables of the runner and the event. What is missing is an
// error where it is needed.
func ReadRun(a *action.Action) (Run, error) {
	c, err := a.Context()
	if err != nil {
		return Run{}, err
	}
	r := Run{ID: fmt.Sprintf("%d/%d", c.RunID, c.RunAttempt), Link: c.RunURL()}
	r.facts.Attempt = int(min(c.RunAttempt, 1<<30))
	if c.ActorID > 0 {
		r.facts.Actor = strconv.FormatInt(c.ActorID, 10)
	}
	// The runner gives the id of the actor alone; the other one is compared by name.
	if c.Actor != "" && c.Actor == c.TriggeringActor {
		r.facts.TriggeringActor = r.facts.Actor
	}
	if u, err := url.Parse(c.ServerURL); err == nil {
		r.server = u.Host
	}
	if c.RepositoryID > 0 {
		r.repo = strconv.FormatInt(c.RepositoryID, 10)
	}
	var ref string
	if path, found := strings.CutPrefix(c.WorkflowRef, c.Repository+"/"); found && c.Repository != "" {
		r.Workflow, ref, _ = strings.Cut(path, "@")
	}
	r.elsewhere = onDefaultBranch(a, ref, c.Ref)
	r.facts.WorkflowOnDefaultBranch = r.elsewhere == nil
	return r, nil
}

// onDefaultBranch returns why the refs of the workflow and of the run are not the
// default branch, nil when they are.
func onDefaultBranch(a *action.Action, workflow, ref string) error {
	payload, err := a.EventPayload()
	if err != nil {
		return fmt.Errorf("nothing says which branch is the default one: %w", err)
	}
	var event struct {
		Repository *struct {
			Default *string `json:"default_branch"`
		} `json:"repository"`
	}
	if err := canonical.Decode(payload, &event, canonical.AllowUnknown); err != nil {
		return errors.New("nothing says which branch is the default one: the event is not understood")
	}
	if event.Repository == nil || event.Repository.Default == nil || *event.Repository.Default == "" {
		return errors.New("nothing says which branch is the default one: the event names none")
	}
	want := "refs/heads/" + *event.Repository.Default
	if workflow != want || ref != want {
		return errors.New("the workflow is not that of the default branch: start it from there")
	}
	return nil
}

// OnDefaultBranch returns why the workflow is not that of the default branch, nil
// when it is.
func (r Run) OnDefaultBranch() error { return r.elsewhere }

// Actor is the numeric user id of the run's actor, "" where the run names none.
func (r Run) Actor() string { return r.facts.Actor }

// Facts are what an approval is judged by.
func (r Run) Facts() memory.RunFacts { return r.facts }

// Person returns the policy's entry for whom the run acts for.
func (r Run) Person(policy *memory.Policy) (memory.Principal, error) {
	switch {
	case r.facts.Actor == "":
		return memory.Principal{}, errors.New("the run names no actor (GITHUB_ACTOR_ID): run this in a workflow")
	case r.facts.TriggeringActor != r.facts.Actor:
		return memory.Principal{}, errors.New("the run was triggered by somebody else than its actor: start a run of your own")
	case r.elsewhere != nil:
		return memory.Principal{}, r.elsewhere
	}
	entry, refusal := policy.Principal(r.facts.Actor)
	if refusal != nil {
		return entry, refusal
	}
	return entry, nil
}

// Binding says where an authorization of this run is good.
func (r Run) Binding(ledger, branch string) (memory.Binding, error) {
	if r.server == "" || r.repo == "" {
		return memory.Binding{}, errors.New("the run names no server or repository (GITHUB_SERVER_URL, GITHUB_REPOSITORY_ID): run this in a workflow")
	}
	return memory.Binding{Server: r.server, Repository: r.repo, Ledger: ledger, Branch: branch}, nil
}
