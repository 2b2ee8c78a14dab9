package memoryrun

import (
	"errors"
	"strings"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/memory"
)

// InputsAgent are the inputs of the roles that have to do with an agent's memory:
// the one that serves it and the one that persists it.
var InputsAgent = []action.Input{
	{Name: "memory-policy", Kind: action.Path, Empty: "there is no reviewed memory",
		Help: "Path of the memory policy, .github/memory-policy.yml as checked out from the default branch."},
	{Name: "memory-project", Empty: "nothing is begun, and an agent gets no tools for memory",
		Help: "Project of the memory, as the policy names it."},
	{Name: "memory-principal", Empty: "the path of the run's own workflow",
		Help: "Whom the policy knows the run as: the path of the run's own workflow, or the numeric user id of its actor."},
}

// Agent is whom an agent's memory is written for.
type Agent struct {
	Policy    *memory.Policy
	Project   string // "" when none is configured
	Principal string // the policy's id
	// Refused is why none of the run's memory is admitted, whatever the policy says;
	// nil when the policy decides.
	Refused *memory.Refusal
	Run     Run
}

// ReadAgent reads the inputs and binds the principal to the run: a workflow's path
// is that of the run's own workflow, of the default branch; a person is the actor
// who triggered the run. Outside Actions nothing is known of the run, and the
// principal has to be named. The error is about the policy's text or the form of
// an input; then the policy is none.
func ReadAgent(a *action.Action) (Agent, error) {
	g, err := readConfigured(a)
	if g.Policy == nil && err == nil {
		return g, nil // refused by the policy that there is not
	}
	if err != nil {
		return g, err
	}
	if g.Run, err = ReadRun(a); err != nil {
		return g, err
	}
	if !a.InActions() {
		g.Run.ID = "local"
		if g.Principal == "" {
			g.refuse("outside a workflow memory needs memory-principal")
		}
		return g, nil
	}
	elsewhere := g.Run.OnDefaultBranch()
	// A scheduled run is one of the default branch, and its event may not say so.
	_, ref, _ := strings.Cut(a.Getenv("GITHUB_WORKFLOW_REF"), "@")
	if a.Getenv("GITHUB_EVENT_NAME") == "schedule" && ref != "" && ref == a.Getenv("GITHUB_REF") {
		elsewhere = nil
	}
	switch {
	case elsewhere != nil:
		g.refuse(elsewhere.Error())
	case g.Run.Workflow == "":
		g.refuse("the run names no workflow of this repository (GITHUB_WORKFLOW_REF)")
	case g.Principal == "":
		g.Principal = g.Run.Workflow
	case g.person():
		if g.Principal != g.Run.Actor() {
			g.refuse("memory-principal is not the actor of the run")
		} else if _, err := g.Run.Person(g.Policy); err != nil {
			g.refuse(err.Error())
		}
	case g.Principal != g.Run.Workflow:
		g.refuse("memory-principal is not the run's own workflow")
	}
	return g, nil
}

// ServedAgent reads the inputs as ReadAgent left them to a server of the same job,
// which knows less of the run. It judges for good manners only.
func ServedAgent(a *action.Action) (Agent, error) {
	g, err := readConfigured(a)
	if g.Policy != nil && g.Principal == "" {
		return ReadAgent(a)
	}
	return g, err
}

func readConfigured(a *action.Action) (Agent, error) {
	g := Agent{Project: a.GetInput("memory-project"), Principal: a.GetInput("memory-principal")}
	if g.Project != "" && !memory.IsSegment(g.Project) {
		return g, action.BadInput("memory-project", "must be a segment: letters, digits, dots, hyphens and underscores, at most 64")
	}
	var err error
	if g.Policy, err = ReadPolicy(a.GetInput("memory-policy")); err != nil {
		g.Policy = nil
		g.Refused = &memory.Refusal{Reason: memory.ReasonPolicy, Detail: err.Error()}
		return g, action.BadInput("memory-policy", "%v", err)
	}
	return g, nil
}

func (g *Agent) refuse(detail string) {
	g.Refused = &memory.Refusal{Reason: memory.ReasonRun, Detail: detail}
}

func (g *Agent) person() bool { return memory.Principal{ID: g.Principal}.IsUser() }

// Entry is the policy's entry of the principal; an error when the run or the
// project is not theirs.
func (g *Agent) Entry() (memory.Principal, error) {
	if g.Refused != nil {
		return memory.Principal{}, g.Refused
	}
	entry, refused := g.Policy.Principal(g.Principal)
	switch {
	case refused != nil:
		return entry, refused
	case !entry.MayUse(g.Project):
		return entry, errors.New("project: memory-project is not one of the principal's")
	}
	return entry, nil
}
