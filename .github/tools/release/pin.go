package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// own matches a step of a workflow that uses an action of this repository: what
// stands before the reference, and the reference with a comment behind it.
var own = regexp.MustCompile(`(?m)^(\s*(?:- )?uses: repo-memory/ledger/actions/[a-z-]+)@(\S+)(?: #.*)?$`)

var commitForm = regexp.MustCompile(`^[0-9a-f]{40}$`)

// workflows are the files of the workflows, by path.
func workflows(root string) (map[string]string, error) {
	files := map[string]string{}
	for _, pattern := range []string{"*.yml", "*.yaml"} {
		paths, err := filepath.Glob(filepath.Join(root, ".github", "workflows", pattern))
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			files[path] = string(text)
		}
	}
	return files, nil
}

// pin has the workflows use the actions of the commit that is checked out, which must
// be that of the release's list.
func pin(root string, m matrix, version string) error {
	l, err := checked(root, m)
	if err != nil {
		return err
	}
	if l.release != version {
		return fmt.Errorf("checksums.txt is of release %s, not %s", l.release, version)
	}
	if out, err := git(root, "status", "--porcelain"); err != nil || out != "" {
		return fmt.Errorf("the working tree has changes: commit actions/checksums.txt before")
	}
	commit, err := git(root, "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	files, err := workflows(root)
	if err != nil {
		return err
	}
	for path, text := range files {
		if now := own.ReplaceAllString(text, "${1}@"+commit+" # "+version); now != text {
			if err := os.WriteFile(path, []byte(now), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// pinnedActions reports an error unless all that the workflows use of this repository
// is pinned to one commit, the actions of which are those of the commit that is
// checked out. Else whoever pins a workflow would run what a tag is moved to.
func pinnedActions(root string) error {
	files, err := workflows(root)
	if err != nil {
		return err
	}
	var refs []string
	for path, text := range files {
		uses := own.FindAllStringSubmatch(text, -1)
		if strings.Count(text, "repo-memory/ledger/actions/") != len(uses) {
			return fmt.Errorf("%s names an action of this repository in a way that is not understood: write uses: repo-memory/ledger/actions/ROLE@v1", filepath.Base(path))
		}
		for _, use := range uses {
			if !commitForm.MatchString(use[2]) {
				return fmt.Errorf("%s uses an action at %s, which can be moved: run release pin, and commit", filepath.Base(path), use[2])
			}
			refs = append(refs, use[2])
		}
	}
	slices.Sort(refs)
	if refs = slices.Compact(refs); len(refs) == 0 {
		return nil
	}
	if len(refs) > 1 {
		return fmt.Errorf("the workflows use actions of %d commits: run release pin, and commit", len(refs))
	}
	there, err := git(root, "rev-parse", refs[0]+":actions")
	if err != nil {
		return fmt.Errorf("the workflows use actions of %s, which is not here: it must be the commit before", refs[0])
	}
	if here, err := git(root, "rev-parse", "HEAD:actions"); err != nil || here != there {
		return fmt.Errorf("the actions of %s, which the workflows use, are not those of this commit", refs[0])
	}
	return nil
}

func git(root string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s failed: %w", args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}
