package github

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// needsContents is the permission of everything that writes a branch.
const needsContents = "contents: write"

// Commit is one commit to put on a branch. Paths are given once.
type Commit struct {
	Repository string // OWNER/NAME
	Branch     string // without refs/heads/
	Expected   string // the object id that the branch must stand at
	Message    string // subject, and after an empty line the body
	Add        map[string][]byte
	Delete     []string
}

// createCommit is the mutation; the schema calls Expected expectedHeadOid.
const createCommit = `mutation($input: CreateCommitOnBranchInput!) { createCommitOnBranch(input: $input) { commit { oid } } }`

var objectID = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// CommitOnBranch puts a commit on a branch that exists, with
// createCommitOnBranch: the server makes it, signs it, and moves the branch to it
// only if the branch stands at Expected ([ErrStale] when not). The author is the
// token's owner. It returns the commit's id.
func (c *Client) CommitOnBranch(ctx context.Context, commit Commit) (string, error) {
	if err := CheckRepository(commit.Repository); err != nil {
		return "", err
	}
	if !objectID.MatchString(commit.Expected) {
		return "", fmt.Errorf("%w: a commit needs the id that its branch must stand at", ErrConfig)
	}
	type addition struct {
		Path     string `json:"path"`
		Contents string `json:"contents"`
	}
	type deletion struct {
		Path string `json:"path"`
	}
	// Empty lists, not null, where there is nothing.
	additions, deletions := []addition{}, []deletion{}
	for _, path := range slices.Sorted(maps.Keys(commit.Add)) {
		additions = append(additions, addition{path, base64.StdEncoding.EncodeToString(commit.Add[path])})
	}
	for _, path := range slices.Sorted(slices.Values(commit.Delete)) {
		deletions = append(deletions, deletion{path})
	}
	headline, body, _ := strings.Cut(strings.TrimRight(commit.Message, "\n"), "\n\n")
	input := map[string]any{
		"branch":          map[string]any{"repositoryNameWithOwner": commit.Repository, "branchName": commit.Branch},
		"expectedHeadOid": commit.Expected,
		"message":         map[string]any{"headline": headline, "body": body},
		"fileChanges":     map[string]any{"additions": additions, "deletions": deletions},
	}
	var made struct {
		CreateCommitOnBranch *struct {
			Commit *struct {
				OID string `json:"oid"`
			} `json:"commit"`
		} `json:"createCommitOnBranch"`
	}
	call := Call{Needs: needsContents, Private: Within(commit.Add)}
	if err := c.GraphQL(ctx, createCommit, map[string]any{"input": input}, call, &made); err != nil {
		return "", err
	}
	if made.CreateCommitOnBranch == nil || made.CreateCommitOnBranch.Commit == nil || !objectID.MatchString(made.CreateCommitOnBranch.Commit.OID) {
		return "", &Error{Kind: ErrMalformed, Hint: "the answer names no commit"}
	}
	return made.CreateCommitOnBranch.Commit.OID, nil
}

// Within tells of a word whether it stands in one of the files: for [Redact], so
// that a refusal repeats nothing of what was sent.
func Within(files map[string][]byte) func(string) bool {
	return func(word string) bool {
		for _, data := range files {
			if bytes.Contains(data, []byte(word)) {
				return true
			}
		}
		return false
	}
}
