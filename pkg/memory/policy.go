package memory

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// PolicyPath is where the policy stands, on the default branch.
const PolicyPath = ".github/memory-policy.yml"

const policyVersion = "memory-policy/v1"

// Policy says who may do what. The file is one YAML document, at most
// MaxPolicyBytes, without aliases, merge keys and empty values, and with no keys but
// these:
//
//	version: memory-policy/v1
//	read-only: false            # optional; true stops every writer of memory
//	principals:
//	  - user: 583231            # numeric user id; or
//	    workflow: .github/workflows/agent.yml
//	    actor: alice            # owns refs/agents/alice/main, refs/sessions/alice/*
//	    scopes: [memory.read, memory.branch, memory.commit, memory.propose]
//	    projects: [demo]
//	    topics: [release]       # optional: refs/topics/release is theirs alone
//
// Each user or workflow has one entry. memory.review, memory.merge and
// memory.write are for users. An actor may stand for several workflows, or for
// one user, not for both. A topic that some entry names belongs to those that
// name it; any other belongs to the principal who creates it.
type Policy struct {
	ReadOnly   bool
	principals map[string]Principal
	topics     map[string]bool // named by somebody
}

type policyFile struct {
	Version    string        `yaml:"version"`
	ReadOnly   literalBool   `yaml:"read-only"`
	Principals []policyEntry `yaml:"principals"`
}

type policyEntry struct {
	User     *userID  `yaml:"user"`
	Workflow string   `yaml:"workflow"`
	Actor    string   `yaml:"actor"`
	Scopes   []Scope  `yaml:"scopes"`
	Projects []string `yaml:"projects"`
	Topics   []string `yaml:"topics"`
}

// literalBool is true or false and none of YAML's other words for them.
type literalBool bool

func (b *literalBool) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" || n.Value != "true" && n.Value != "false" {
		return errors.New("mistyped: want true or false")
	}
	*b = n.Value == "true"
	return nil
}

// userID is a plain decimal, as a number and not as text.
type userID string

func (u *userID) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" || !isUserID(n.Value) {
		return errors.New("mistyped: want a numeric user id")
	}
	*u = userID(n.Value)
	return nil
}

// ParsePolicy reads the policy file. Errors are one line and name the entry.
func ParsePolicy(text []byte) (*Policy, error) {
	if len(text) > MaxPolicyBytes {
		return nil, fmt.Errorf("memory policy has %d bytes, at most %d are read: split projects over repositories", len(text), MaxPolicyBytes)
	}
	var document yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(&document); err != nil {
		return nil, errors.New("memory policy is not one YAML document: see the format in the documentation")
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("memory policy holds more than one YAML document: keep one")
	}
	if hasAlias(&document) {
		return nil, errors.New("memory policy has an anchor, alias, merge key or tag: write the values out")
	}
	if line := emptyValue(&document); line > 0 {
		return nil, fmt.Errorf("memory policy has a key without a value on line %d: give it one or leave it out", line)
	}
	var file policyFile
	strict := yaml.NewDecoder(bytes.NewReader(text))
	strict.KnownFields(true)
	if err := strict.Decode(&file); err != nil {
		return nil, fmt.Errorf("memory policy has an unknown, repeated or mistyped key: %s", firstLine(err))
	}
	if file.Version != policyVersion {
		return nil, fmt.Errorf("memory policy needs version: %s", policyVersion)
	}
	if len(file.Principals) > MaxPrincipals {
		return nil, fmt.Errorf("memory policy has %d principals, at most %d are read", len(file.Principals), MaxPrincipals)
	}
	p := &Policy{ReadOnly: bool(file.ReadOnly), principals: map[string]Principal{}, topics: map[string]bool{}}
	isUser := map[string]bool{}
	for i, e := range file.Principals {
		if (e.User == nil) == (e.Workflow == "") {
			return nil, fmt.Errorf("memory policy: principal %d needs either user or workflow", i+1)
		}
		entry := Principal{e.Workflow, e.Actor, e.Scopes, e.Projects, e.Topics}
		if e.User != nil {
			entry.ID = string(*e.User)
		}
		if fault := entry.check(); fault != nil {
			return nil, fmt.Errorf("memory policy: %s", fault.Detail)
		}
		if _, taken := p.principals[entry.ID]; taken {
			return nil, fmt.Errorf("memory policy: principal %s has two entries: keep one", quoted(entry.ID))
		}
		if other, used := isUser[entry.Actor]; used && (other || entry.IsUser()) {
			return nil, fmt.Errorf("memory policy: actor %s is a user's and somebody else's: give each their own", quoted(entry.Actor))
		}
		isUser[entry.Actor] = entry.IsUser()
		p.principals[entry.ID] = entry
		for _, topic := range entry.Topics {
			p.topics[topic] = true
		}
	}
	return p, nil
}

func hasAlias(n *yaml.Node) bool {
	if n.Kind == yaml.AliasNode || n.Anchor != "" || n.Style&yaml.TaggedStyle != 0 || n.Tag == "!!merge" {
		return true
	}
	for _, c := range n.Content {
		if hasAlias(c) {
			return true
		}
	}
	return false
}

// emptyValue returns the line of a null, which would read as what a key is when it
// is left out: "read-only:" as false. It is 0 where there is none.
func emptyValue(n *yaml.Node) int {
	if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
		return n.Line
	}
	for _, c := range n.Content {
		if line := emptyValue(c); line > 0 {
			return line
		}
	}
	return 0
}

func firstLine(err error) string {
	text, _, _ := bytes.Cut([]byte(err.Error()), []byte("\n  "))
	var typed *yaml.TypeError
	if errors.As(err, &typed) && len(typed.Errors) > 0 {
		text = []byte(typed.Errors[0])
	}
	return quoted(string(text))
}

// Principal returns the entry for a numeric user id or a workflow's path.
// Without an entry nothing is admitted.
func (p *Policy) Principal(id string) (Principal, *Refusal) {
	if p == nil {
		return Principal{}, refuse(ReasonPolicy, "there is no memory policy: add %s to the default branch", PolicyPath)
	}
	entry, ok := p.principals[id]
	if !ok {
		return Principal{}, refuse(ReasonPolicy, "the memory policy has no entry for %s", quoted(id))
	}
	return entry, nil
}

// Writer returns the entry of a principal that may write: there is one, and the
// policy is not read-only. Every job that writes memory asks it.
func (p *Policy) Writer(id string) (Principal, *Refusal) {
	entry, fault := p.Principal(id)
	if fault == nil && p.ReadOnly {
		fault = refuse(ReasonReadOnly, "the memory policy is read-only: nothing is written")
	}
	return entry, fault
}

// reserves reports whether the policy gives a topic to others than an entry.
func (p *Policy) reserves(topic string, entry Principal) bool {
	if !p.topics[topic] {
		return false
	}
	for _, own := range entry.Topics {
		if own == topic {
			return false
		}
	}
	return true
}
