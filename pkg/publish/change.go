package publish

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/repo-memory/ledger/pkg/branch"
	"github.com/repo-memory/ledger/pkg/ledger"
)

// attributes keep git from rewriting line endings of ledger files in any
// checkout of a branch that begins here.
const (
	attributesPath = ".gitattributes"
	attributesText = "*.jsonl -text\n"
)

// complete adds to a change what the first commit of a branch needs.
func complete(s ledger.Snapshot, c ledger.Change) ledger.Change {
	if _, own := c.Add[attributesPath]; s.Head == "" && !own {
		add := map[string][]byte{attributesPath: []byte(attributesText)}
		maps.Copy(add, c.Add)
		c.Add = add
	}
	return c
}

// check refuses a change that cannot be committed on the snapshot, or would
// leave a branch that nobody may read under the limits.
func check(s ledger.Snapshot, c ledger.Change, limits branch.Limits) error {
	if err := checkMessage(c.Message); err != nil {
		return err
	}
	files := make(map[string]int64, len(s.Files)+len(c.Add))
	for p, data := range s.Files {
		files[p] = int64(len(data))
	}
	deleted := make(map[string]bool, len(c.Delete))
	for _, p := range c.Delete {
		if _, ok := files[p]; !ok {
			return fmt.Errorf("%w: it deletes %s, which is no regular file of the branch, or twice", ErrChange, branch.Printable(p, 200))
		}
		delete(files, p)
		deleted[p] = true
	}
	for _, p := range slices.Sorted(maps.Keys(c.Add)) {
		if err := branch.CheckPath(p); err != nil {
			return fmt.Errorf("%w: %w", ErrChange, err)
		}
		if deleted[p] {
			return fmt.Errorf("%w: it both adds and deletes %s", ErrChange, branch.Printable(p, 200))
		}
		for _, at := range append(parents(p), p) {
			if what, ok := s.Irregular[at]; ok {
				return fmt.Errorf("%w: it adds %s, but %s on the branch is irregular (%s)", ErrChange, branch.Printable(p, 200), branch.Printable(at, 200), what)
			}
		}
		files[p] = int64(len(c.Add[p]))
	}
	return checkResult(files, s, c, limits)
}

// checkResult looks at the branch as it would be.
func checkResult(files map[string]int64, s ledger.Snapshot, c ledger.Change, limits branch.Limits) error {
	directories := map[string]bool{}
	var total int64
	for p, n := range files {
		total += n
		for _, d := range parents(p) {
			directories[d] = true
		}
	}
	for p := range s.Irregular {
		for _, d := range parents(p) {
			directories[d] = true
		}
	}
	for _, p := range slices.Sorted(maps.Keys(c.Add)) {
		if n := files[p]; n > limits.FileBytes {
			return fmt.Errorf("%w: %s would have %d bytes, the limit is %d", ErrTooLarge, branch.Printable(p, 200), n, limits.FileBytes)
		}
		if directories[p] {
			return fmt.Errorf("%w: it adds a file %s where a directory is", ErrChange, branch.Printable(p, 200))
		}
		for _, d := range parents(p) {
			if _, ok := files[d]; ok {
				return fmt.Errorf("%w: it adds %s below the file %s", ErrChange, branch.Printable(p, 200), branch.Printable(d, 200))
			}
		}
		if n := strings.Count(p, "/") + 1; n > limits.Depth {
			return fmt.Errorf("%w: %s has %d components, the limit is %d", ErrTooLarge, branch.Printable(p, 200), n, limits.Depth)
		}
	}
	if total > limits.TotalBytes {
		return fmt.Errorf("%w: the branch would have %d bytes, the limit is %d", ErrTooLarge, total, limits.TotalBytes)
	}
	if n := len(files) + len(directories) + len(s.Irregular); n > limits.Entries {
		return fmt.Errorf("%w: the branch would have %d files and directories, the limit is %d", ErrTooLarge, n, limits.Entries)
	}
	return nil
}

// parents lists the directories that a path stands in.
func parents(p string) []string {
	var dirs []string
	for i := range len(p) {
		if p[i] == '/' {
			dirs = append(dirs, p[:i])
		}
	}
	return dirs
}

// checkMessage wants one line of subject, and if there is more, an empty line
// after it; UTF-8 without control or formatting characters but line feeds.
func checkMessage(m string) error {
	subject, rest, more := strings.Cut(strings.TrimRight(m, "\n"), "\n")
	var err error
	switch {
	case strings.TrimSpace(subject) == "":
		err = errors.New("it has no subject line")
	case len(subject) > maxSubjectBytes:
		err = fmt.Errorf("the subject has %d bytes, the limit is %d", len(subject), maxSubjectBytes)
	case len(m) > maxMessageBytes:
		err = fmt.Errorf("it has %d bytes, the limit is %d", len(m), maxMessageBytes)
	case more && !strings.HasPrefix(rest, "\n"):
		err = errors.New("the subject is more than one line")
	case !utf8.ValidString(m) || strings.ContainsFunc(m, func(r rune) bool {
		return r != '\n' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp))
	}):
		err = errors.New("it holds control or formatting characters")
	}
	if err != nil {
		return fmt.Errorf("%w: the commit message: %w", ErrChange, err)
	}
	return nil
}
