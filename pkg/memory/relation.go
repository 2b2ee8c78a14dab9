package memory

import (
	"fmt"
	"slices"
)

// Relation is one add_relationship of a memory.
type Relation struct{ Kind, To string }

// Relations are those of a memory as it is projected at a changeset. Each version of
// a memory shares those of the version before: a long list costs what is new.
type Relations struct {
	last *relationNode
	n    int
}

type relationNode struct {
	Relation
	before *relationNode
}

func (r Relations) with(one Relation) Relations {
	return Relations{&relationNode{one, r.last}, r.n + 1}
}

// Len is how many there are.
func (r Relations) Len() int { return r.n }

// List returns them, the first one first.
func (r Relations) List() []Relation {
	list := make([]Relation, 0, r.n)
	for at := r.last; at != nil; at = at.before {
		list = append(list, at.Relation)
	}
	slices.Reverse(list)
	return list
}

func (r Relations) String() string { return fmt.Sprint(r.List()) }
