package memory

import "strings"

// RefKind is the first part of a ref's name.
type RefKind string

const (
	SharedRef  RefKind = "shared"   // refs/shared/<name>: accepted memory, protected
	AgentRef   RefKind = "agents"   // refs/agents/<actor>/main
	SessionRef RefKind = "sessions" // refs/sessions/<actor>/<session>
	TopicRef   RefKind = "topics"   // refs/topics/<topic>
	RepoRef    RefKind = "repos"    // refs/repos/<repo>/<branch>
)

// SharedMain is the ref of a project's accepted memory.
const SharedMain = "refs/shared/main"

// Ref is a ref name taken apart.
type Ref struct {
	Kind RefKind
	// Owner is the actor of an agent or session ref, the repository of a repo
	// ref, and empty for the others.
	Owner string
	// Name is the last part.
	Name string
}

// topicRef is the ref of a topic.
func topicRef(topic string) string { return "refs/topics/" + topic }

// ParseRef reads a ref name. Its parts are segments (see IsSegment).
func ParseRef(text string) (Ref, bool) {
	parts := strings.Split(text, "/")
	if len(parts) < 3 || len(parts) > 4 || parts[0] != "refs" {
		return Ref{}, false
	}
	for _, part := range parts[1:] {
		if !IsSegment(part) {
			return Ref{}, false
		}
	}
	r := Ref{Kind: RefKind(parts[1]), Name: parts[len(parts)-1]}
	if len(parts) == 4 {
		r.Owner = parts[2]
	}
	switch r.Kind {
	case SharedRef, TopicRef:
		return r, len(parts) == 3
	case AgentRef:
		return r, len(parts) == 4 && r.Name == "main"
	case SessionRef, RepoRef:
		return r, len(parts) == 4
	}
	return Ref{}, false
}

// IsSegment reports whether text is one segment of a ref, and so an actor, a
// project or a key id: [A-Za-z0-9][A-Za-z0-9._-]{0,63}.
func IsSegment(text string) bool {
	if len(text) < 1 || len(text) > 64 {
		return false
	}
	for i := range len(text) {
		c := text[i]
		alnum := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !alnum && (i == 0 || c != '.' && c != '_' && c != '-') {
			return false
		}
	}
	return true
}

// IsProtected reports whether a ref moves by memory.merge only.
func IsProtected(name string) bool { return strings.HasPrefix(name, "refs/shared/") }

func (f *fields) ref(name string) string {
	s := f.text(name, MaxFieldBytes)
	if _, ok := ParseRef(s); !ok {
		f.failf("needs a ref as %s", name)
	}
	return s
}

func (f *fields) segment(name string) string {
	s := f.text(name, MaxFieldBytes)
	if !IsSegment(s) {
		f.failf("needs letters, digits, dots, hyphens or underscores, at most 64, as %s", name)
	}
	return s
}
