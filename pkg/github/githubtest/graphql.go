package githubtest

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/repo-memory/ledger/pkg/canonical"
)

// object is a JSON object of an answer.
type object = map[string]any

// graphError is one entry of errors.
type graphError struct {
	kind, message string
}

func (e *graphError) Error() string { return e.message }

// graphql serves one operation with one field at the root. Like GitHub it answers
// with 200 whatever happens behind the authentication.
func (s *Server) graphql(w http.ResponseWriter, r *Request, body []byte) {
	id, known := s.who(r)
	switch {
	case !known:
		fail(w, http.StatusUnauthorized, badCredentials)
		return
	case id == nil:
		fail(w, http.StatusUnauthorized, "This endpoint requires you to be authenticated.")
		return
	}
	if !s.spend(w, "graphql") {
		answer(w, http.StatusOK, object{"errors": []any{object{"type": "RATE_LIMITED", "message": "API rate limit exceeded for installation."}}})
		return
	}
	var call struct {
		Query         string         `json:"query"`
		Variables     map[string]any `json:"variables"`
		OperationName string         `json:"operationName"`
	}
	if err := canonical.Decode(body, &call); err != nil {
		fail(w, http.StatusBadRequest, "Problems parsing JSON")
		return
	}
	op, err := parseQuery(call.Query, call.Variables)
	if err == nil && len(op.fields) != 1 {
		err = &graphError{"", "this server serves one field at the root"}
	}
	if err != nil {
		answer(w, http.StatusOK, object{"errors": []any{object{"message": err.Error()}}})
		return
	}
	root := op.fields[0]
	var value any
	switch {
	case op.kind == "mutation" && root.name == "createCommitOnBranch":
		// What cannot be answered is not done.
		if _, err = shape(s.payload(nil, "", "", commitInput{}), root.fields, root.name); err == nil {
			value, err = s.createCommit(id, r.Token, root.args["input"], op.variables)
		}
	case op.kind == "query" && root.name == "viewer":
		value = object{"login": id.account.Login, "databaseId": float64(id.account.ID)}
	case op.kind == "query" && root.name == "repository":
		value, err = s.queryRepository(id, root)
	default:
		err = &graphError{"", "Field '" + root.name + "' doesn't exist on type '" + op.kind + "'"}
	}
	if err == nil {
		value, err = shape(value, root.fields, root.name)
	}
	if err != nil {
		entry := object{"message": err.Error(), "path": []any{root.alias}, "locations": []any{object{"line": 1, "column": 48}}}
		if g, ok := err.(*graphError); ok {
			entry["message"] = g.message
			if g.kind != "" {
				entry["type"] = g.kind
			}
		}
		answer(w, http.StatusOK, object{"data": object{root.alias: nil}, "errors": []any{entry}})
		return
	}
	answer(w, http.StatusOK, object{"data": object{root.alias: value}})
}

// answer writes JSON.
func answer(w http.ResponseWriter, status int, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		status, text = http.StatusInternalServerError, []byte(`{"message":"Server Error"}`)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

// fail writes GitHub's form of an error.
func fail(w http.ResponseWriter, status int, message string) {
	answer(w, status, object{"message": message, "documentation_url": "https://docs.github.com/rest", "status": strconv.Itoa(status)})
}
