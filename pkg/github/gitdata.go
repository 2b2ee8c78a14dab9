package github

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"net/http"
	"slices"
)

// CreateBranch makes a branch that does not exist, with one commit that has no
// parents and holds the files of commit.Add alone; commit.Expected and
// commit.Delete must be empty. Blobs, tree and commit are made by the REST git data
// API; only the last request, which creates the reference and fails if it is there
// ([ErrExists]), changes what anyone can see. A repository without any commit is
// refused by the API ([ErrEmpty]).
func (c *Client) CreateBranch(ctx context.Context, commit Commit) (string, error) {
	if err := CheckRepository(commit.Repository); err != nil {
		return "", err
	}
	if commit.Expected != "" || len(commit.Delete) != 0 {
		return "", fmt.Errorf("%w: a new branch expects no commit and deletes nothing", ErrConfig)
	}
	base := "repos/" + commit.Repository + "/git/"
	private := Within(commit.Add)
	post := func(what string, body any) (string, error) {
		return c.object(ctx, Call{Method: http.MethodPost, Path: base + what, Body: body, Needs: needsContents, Private: private})
	}
	type entry struct {
		Path string `json:"path"`
		Mode string `json:"mode"`
		Type string `json:"type"`
		SHA  string `json:"sha"`
	}
	entries := []entry{}
	for _, path := range slices.Sorted(maps.Keys(commit.Add)) {
		// By reference, because trees with content in them time out at a few MB.
		id, err := post("blobs", map[string]any{"content": base64.StdEncoding.EncodeToString(commit.Add[path]), "encoding": "base64"})
		if err != nil {
			return "", err
		}
		entries = append(entries, entry{path, "100644", "blob", id})
	}
	tree, err := post("trees", map[string]any{"tree": entries})
	if err != nil {
		return "", err
	}
	// Without an author, so that the server signs the commit for the token's owner.
	id, err := post("commits", map[string]any{"message": commit.Message, "tree": tree, "parents": []string{}})
	if err != nil {
		return "", err
	}
	ref := "refs/heads/" + commit.Branch
	answer, err := c.Do(ctx, Call{Method: http.MethodPost, Path: base + "refs", Body: map[string]any{"ref": ref, "sha": id}, Needs: needsContents, Private: private})
	if err != nil {
		return "", err
	}
	var made struct {
		Ref    string `json:"ref"`
		Object struct {
			SHA string `json:"sha"`
		} `json:"object"`
	}
	if err := answer.Decode(&made); err != nil {
		return "", err
	}
	if made.Ref != ref || made.Object.SHA != id {
		return "", &Error{Kind: ErrMalformed, Hint: "the answer does not name the reference that was made"}
	}
	return id, nil
}

// object makes one object and returns its id.
func (c *Client) object(ctx context.Context, call Call) (string, error) {
	answer, err := c.Do(ctx, call)
	if err != nil {
		return "", err
	}
	var made struct {
		SHA string `json:"sha"`
	}
	if err := answer.Decode(&made); err != nil {
		return "", err
	}
	if !objectID.MatchString(made.SHA) {
		return "", &Error{Kind: ErrMalformed, Hint: "the answer names no object"}
	}
	return made.SHA, nil
}
