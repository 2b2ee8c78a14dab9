package branch

import (
	"fmt"
	"regexp"
	"strings"
)

// ledgerName is the alphabet of a ledger's name: nothing that git, a shell, a
// URL or a file system reads as more than a name.
var ledgerName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// namespaces are the directories of branches that may hold a ledger.
var namespaces = []string{"ledgers/", "memory/"}

// CheckName reports an error ([ErrName]) unless name is a ledger branch:
// "ledgers/NAME" or "memory/NAME", NAME matching
// ^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$. It is the short form; references are never
// given to a server in any but the full one ([Ref]).
func CheckName(name string) error {
	for _, ns := range namespaces {
		if rest, ok := strings.CutPrefix(name, ns); ok && ledgerName.MatchString(rest) {
			return nil
		}
	}
	return fmt.Errorf("%w %s: use ledgers/NAME or memory/NAME, with a NAME of 1 to 64 letters, digits, - and _ that begins with a letter or digit", ErrName, Printable(name, 100))
}

// Ref is the full reference name of a branch that CheckName accepts.
func Ref(name string) string { return "refs/heads/" + name }

// checkTaken reports an error if another reference stands where the branch is,
// or is to be.
func checkTaken(name string, has func(ref string) bool, under func(prefix string) string) error {
	if has("refs/tags/" + name) {
		return fmt.Errorf("%w: there is a tag of the name %s, so the short name would be ambiguous: delete the tag or use another branch", ErrNameTaken, name)
	}
	for i, c := range name {
		if c == '/' && has("refs/heads/"+name[:i]) {
			return fmt.Errorf("%w: the branch %s exists, so git cannot hold a branch %s: rename the one or use another", ErrNameTaken, name[:i], name)
		}
	}
	if below := under(Ref(name) + "/"); below != "" {
		return fmt.Errorf("%w: the branch %s exists, so git cannot hold a branch %s: rename the one or use another", ErrNameTaken, Printable(strings.TrimPrefix(below, "refs/heads/"), 200), name)
	}
	return nil
}
