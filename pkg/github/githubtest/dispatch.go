package githubtest

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Dispatch is a workflow that was started by hand.
type Dispatch struct {
	Workflow string // file name below .github/workflows
	Ref      string // as the request named it
	Inputs   map[string]string
	Token    string
}

// Dispatches are the workflows of a repository that were started so far.
func (s *Server) Dispatches(repo string) []Dispatch {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.repos[repo]; r != nil {
		return slices.Clone(r.dispatches)
	}
	return nil
}

// dispatch starts a workflow that stands on the branch: it has to be there, to have
// the event, and to declare the inputs.
func (s *Server) dispatch(c *call) {
	var in struct {
		Ref    string            `json:"ref"`
		Inputs map[string]string `json:"inputs"`
	}
	if !c.decode(&in) {
		return
	}
	refuse := func(format string, args ...any) {
		fail(c.w, http.StatusUnprocessableEntity, fmt.Sprintf(format, args...))
	}
	file := c.rest[2]
	if _, err := s.in(c.repo, "cat-file", "blob", "refs/heads/"+s.defaultBranch(c.repo)+":.github/workflows/"+file); err != nil || strings.Contains(file, "/") {
		fail(c.w, http.StatusNotFound, "Not Found") // the workflow must be on the default branch
		return
	}
	branch := strings.TrimPrefix(in.Ref, "refs/heads/")
	if in.Ref == "" || s.resolve(c.repo, "refs/heads/"+branch) == "" {
		refuse("No ref found for: %s", in.Ref)
		return
	}
	text, err := s.in(c.repo, "cat-file", "blob", "refs/heads/"+branch+":.github/workflows/"+file)
	if err != nil {
		refuse("Workflow does not exist on ref: %s", in.Ref)
		return
	}
	declared, ok, err := dispatchInputs(text)
	switch {
	case err != nil:
		refuse("failed to parse workflow: %v", err)
		return
	case !ok:
		refuse("Workflow does not have 'workflow_dispatch' trigger")
		return
	case len(in.Inputs) > maxInputs:
		refuse("you may only define up to %d `inputs` for a `workflow_dispatch` event", maxInputs)
		return
	}
	for name := range in.Inputs {
		if _, ok := declared[name]; !ok {
			refuse("Unexpected inputs provided: %q", []string{name})
			return
		}
	}
	for name, d := range declared {
		value, given := in.Inputs[name]
		switch {
		case d.Required && d.Default == "" && value == "":
			refuse("Required input '%s' not provided", name)
			return
		case given && d.Type == "choice" && !slices.Contains(d.Options, value):
			refuse("Provided value '%s' for input '%s' not in the list of allowed values", value, name)
			return
		}
	}
	s.mu.Lock()
	c.repo.dispatches = append(c.repo.dispatches, Dispatch{Workflow: file, Ref: in.Ref, Inputs: maps.Clone(in.Inputs), Token: c.r.Token})
	s.mu.Unlock()
	c.w.WriteHeader(http.StatusNoContent)
}

type dispatchInput struct {
	Required bool     `yaml:"required"`
	Default  string   `yaml:"default"`
	Type     string   `yaml:"type"`
	Options  []string `yaml:"options"`
}

// dispatchInputs are the inputs that a workflow declares for a start by hand; ok is
// false when it has no such event.
func dispatchInputs(text string) (inputs map[string]dispatchInput, ok bool, err error) {
	var w struct {
		On yaml.Node `yaml:"on"`
	}
	if err := yaml.Unmarshal([]byte(text), &w); err != nil {
		return nil, false, err
	}
	const event = "workflow_dispatch"
	switch w.On.Kind {
	case yaml.ScalarNode:
		return nil, w.On.Value == event, nil
	case yaml.SequenceNode:
		var list []string
		err := w.On.Decode(&list)
		return nil, slices.Contains(list, event), err
	case yaml.MappingNode:
		var events map[string]yaml.Node
		if err := w.On.Decode(&events); err != nil {
			return nil, false, err
		}
		node, ok := events[event]
		if !ok || node.Kind != yaml.MappingNode {
			return nil, ok, nil
		}
		var d struct {
			Inputs map[string]dispatchInput `yaml:"inputs"`
		}
		err := node.Decode(&d)
		return d.Inputs, true, err
	}
	return nil, false, nil
}
