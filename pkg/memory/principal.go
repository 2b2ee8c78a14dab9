package memory

import (
	"github.com/repo-memory/ledger/pkg/canonical"
	"slices"
	"strings"
)

// Scope is what a principal may do.
type Scope string

const (
	ScopeSearch  Scope = "memory.search" // the same as memory.read
	ScopeRead    Scope = "memory.read"   // accepted memory, and branches one owns
	ScopeBranch  Scope = "memory.branch"
	ScopeCommit  Scope = "memory.commit" // on owned refs
	ScopePropose Scope = "memory.propose"
	ScopeReview  Scope = "memory.review" // people only
	ScopeMerge   Scope = "memory.merge"  // people only
	ScopeWrite   Scope = "memory.write"  // operators: unprotected refs and init; people only
)

var (
	scopes       = []Scope{ScopeSearch, ScopeRead, ScopeBranch, ScopeCommit, ScopePropose, ScopeReview, ScopeMerge, ScopeWrite}
	peopleScopes = []Scope{ScopeReview, ScopeMerge, ScopeWrite}
)

// Principal is somebody the policy knows: a person by numeric user id, or the
// agents of a workflow by its path.
type Principal struct {
	ID       string // "583231" or ".github/workflows/agent.yml"
	Actor    string // whose agent and session refs they own
	Scopes   []Scope
	Projects []string
	Topics   []string // topic refs that the policy gives them
}

// IsUser reports whether the principal is a person.
func (p Principal) IsUser() bool { return isUserID(p.ID) }

func isUserID(id string) bool {
	if id == "" || len(id) > 19 || id[0] == '0' {
		return false
	}
	return strings.Trim(id, "0123456789") == ""
}

// isWorkflowPath reports whether id is .github/workflows/<file>.yml or .yaml.
func isWorkflowPath(id string) bool {
	name, found := strings.CutPrefix(id, ".github/workflows/")
	base, isYML := strings.CutSuffix(name, ".yml")
	if !isYML {
		base, isYML = strings.CutSuffix(name, ".yaml")
	}
	return found && isYML && IsSegment(base)
}

// Has reports whether the principal holds a scope.
func (p Principal) Has(s Scope) bool {
	return slices.Contains(p.Scopes, s) || s == ScopeRead && slices.Contains(p.Scopes, ScopeSearch)
}

// MayUse reports whether a project is one of the principal's.
func (p Principal) MayUse(project string) bool { return slices.Contains(p.Projects, project) }

func (p Principal) check() *Refusal {
	switch {
	case !isUserID(p.ID) && !isWorkflowPath(p.ID):
		return refuse(ReasonShape, "principal needs a numeric user id, or .github/workflows/<file>.yml")
	case !IsSegment(p.Actor):
		return refuse(ReasonShape, "principal %s needs an actor: letters, digits, dots, hyphens or underscores", quoted(p.ID))
	}
	for _, s := range p.Scopes {
		if !slices.Contains(scopes, s) {
			return refuse(ReasonShape, "principal %s has an unknown scope %s", quoted(p.ID), quoted(string(s)))
		}
		if !p.IsUser() && slices.Contains(peopleScopes, s) {
			return refuse(ReasonShape, "principal %s is a workflow and cannot have %s: give it to a user", quoted(p.ID), s)
		}
	}
	for _, list := range [][]string{p.Projects, p.Topics} {
		for _, s := range list {
			if !IsSegment(s) {
				return refuse(ReasonShape, "principal %s has a bad project or topic %s", quoted(p.ID), quoted(s))
			}
		}
	}
	if len(p.Scopes) > MaxPolicyList || len(p.Projects) > MaxPolicyList || len(p.Topics) > MaxPolicyList {
		return refuse(ReasonBound, "principal %s has a list over %d", quoted(p.ID), MaxPolicyList)
	}
	return nil
}

func (p Principal) author() Author { return Author{Principal: p.ID, Actor: p.Actor} }

func (p Principal) value() canonical.Value {
	var o object
	o.text("id", p.ID)
	o.text("actor", p.Actor)
	list := make([]string, len(p.Scopes))
	for i, s := range p.Scopes {
		list[i] = string(s)
	}
	o.texts("scopes", list)
	o.texts("projects", p.Projects)
	o.texts("topics", p.Topics)
	return o.value()
}

func readPrincipal(f *fields) Principal {
	p := Principal{ID: f.text("id", MaxFieldBytes), Actor: f.text("actor", MaxFieldBytes)}
	for _, s := range f.texts("scopes", MaxPolicyList, MaxFieldBytes) {
		p.Scopes = append(p.Scopes, Scope(s))
	}
	p.Projects, p.Topics = f.texts("projects", MaxPolicyList, MaxFieldBytes), f.texts("topics", MaxPolicyList, MaxFieldBytes)
	if fault := p.check(); fault != nil && f.fault == nil {
		f.fault = fault
	}
	return p
}

// owns reports whether a ref is the principal's to move: agent and session refs
// of their actor, topics that they created or the policy names, and with
// memory.write every unprotected ref.
func (p Principal) owns(r Ref, creator string) bool {
	switch {
	case r.Kind == SharedRef:
		return false
	case p.Has(ScopeWrite):
		return true
	case r.Kind == AgentRef || r.Kind == SessionRef:
		return r.Owner == p.Actor
	case r.Kind == TopicRef:
		return creator == p.ID || slices.Contains(p.Topics, r.Name)
	}
	return false
}

// mayCreate reports whether the principal may create a ref that nobody has yet.
// That a topic is not another's by policy is judged when a record is admitted
// (see Policy.Judges), since the chain holds the admitting principal alone.
func (p Principal) mayCreate(r Ref) bool { return r.Kind == TopicRef || p.owns(r, "") }
