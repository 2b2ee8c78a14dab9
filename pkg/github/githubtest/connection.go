package githubtest

import (
	"fmt"
	"strconv"
)

// resolver is a field of an answer that depends on its arguments.
type resolver func(field) (any, error)

// queryRepository serves query { repository(owner:, name:) { … } }.
func (s *Server) queryRepository(id *identity, root field) (any, error) {
	owner, _ := root.args["owner"].(string)
	name, _ := root.args["name"].(string)
	repo := s.lookup(owner + "/" + name)
	if repo == nil {
		return nil, &graphError{"NOT_FOUND", "Could not resolve to a Repository with the name '" + owner + "/" + name + "'."}
	}
	thread := func(kind string) resolver {
		return func(f field) (any, error) {
			n, _ := f.args["number"].(float64)
			s.mu.Lock()
			defer s.mu.Unlock()
			issue := repo.issues[int(n)]
			if issue == nil || kind == "issue" && issue.PullRequest || kind == "pullRequest" && !issue.PullRequest {
				return nil, &graphError{"NOT_FOUND", fmt.Sprintf("Could not resolve to an %s with the number of %v.", map[string]string{"issue": "Issue", "pullRequest": "PullRequest"}[kind], n)}
			}
			if !id.may("issues", "read") && !(issue.PullRequest && id.may("pull-requests", "read")) {
				return nil, &graphError{"FORBIDDEN", notAccessible}
			}
			return threadFields(issue), nil
		}
	}
	return object{"databaseId": float64(repo.id), "nameWithOwner": repo.name, "defaultBranchRef": object{"name": s.defaultBranch(repo)},
		"issue": thread("issue"), "pullRequest": thread("pullRequest")}, nil
}

// threadFields are the fields of an issue or pull request; s.mu is held, so lists
// are made here and cut into pages later.
func threadFields(issue *Issue) object {
	var comments, reviews, threads []any
	hidden := func(id int64, minimized string, edited any) object {
		o := object{"databaseId": float64(id), "fullDatabaseId": strconv.FormatInt(id, 10), "isMinimized": minimized != "", "minimizedReason": nil, "lastEditedAt": edited}
		if minimized != "" {
			o["minimizedReason"] = minimized
		}
		return o
	}
	for _, c := range issue.Comments {
		comments = append(comments, hidden(c.ID, c.Minimized, at(c.Edited)))
	}
	of := map[int64][]any{}
	for _, c := range issue.ReviewComments {
		one := hidden(c.ID, c.Minimized, at(c.Edited))
		of[c.Review] = append(of[c.Review], one)
		threads = append(threads, object{"isResolved": c.Resolved, "isOutdated": c.Outdated, "comments": connection([]any{one})})
	}
	for _, v := range issue.Reviews {
		o := hidden(v.ID, v.Minimized, at(v.Edited))
		o["comments"] = connection(of[v.ID])
		reviews = append(reviews, o)
	}
	o := object{"number": float64(issue.Number), "databaseId": float64(issue.ID), "lastEditedAt": at(issue.Edited), "comments": connection(comments)}
	if issue.PullRequest {
		o["reviews"], o["reviewThreads"] = connection(reviews), connection(threads)
	}
	return o
}

// connection pages through a list with first and after.
func connection(list []any) resolver {
	return func(f field) (any, error) {
		first, ok := f.args["first"].(float64)
		switch {
		case !ok:
			return nil, &graphError{"MISSING_PAGINATION_BOUNDARIES", fmt.Sprintf("You must provide a `first` or `last` value to properly paginate the `%s` connection.", f.name)}
		case first < 1 || first > maxPage:
			return nil, &graphError{"EXCESSIVE_PAGINATION", fmt.Sprintf("Requesting %v records on the `%s` connection exceeds the `first` limit of %d records.", first, f.name, maxPage)}
		}
		from := 0
		if after, ok := f.args["after"].(string); ok {
			n, err := strconv.Atoi(after)
			if err != nil || n < 0 {
				return nil, &graphError{"INVALID_CURSOR_ARGUMENTS", fmt.Sprintf("`%s` does not appear to be a valid cursor.", after)}
			}
			from = min(n, len(list))
		}
		to := min(len(list), from+int(first))
		var end any
		if to > from {
			end = strconv.Itoa(to)
		}
		nodes := append([]any{}, list[from:to]...)
		return object{"nodes": nodes, "totalCount": float64(len(list)), "pageInfo": object{"hasNextPage": to < len(list), "endCursor": end}}, nil
	}
}
