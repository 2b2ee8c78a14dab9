package githubtest

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/repo-memory/ledger/pkg/canonical"
)

// decode reads the body of a request; where it cannot, the request is answered.
func (c *call) decode(target any) bool {
	if err := canonical.Decode(c.body, target); err != nil {
		fail(c.w, http.StatusUnprocessableEntity, "Invalid request.\n\n"+err.Error())
		return false
	}
	return true
}

func (c *call) created(value any) { answer(c.w, http.StatusCreated, value) }

func (s *Server) gitURL(c *call, kind, oid string) string {
	return s.URL + "/api/v3/repos/" + c.repo.name + "/git/" + kind + "/" + oid
}

func (s *Server) refObject(c *call, ref, oid string) object {
	return object{"ref": ref, "url": s.gitURL(c, "refs", strings.TrimPrefix(ref, "refs/")), "object": object{"type": "commit", "sha": oid, "url": s.gitURL(c, "commits", oid)}}
}

func (s *Server) getRef(c *call) {
	ref := "refs/" + strings.Join(c.rest[2:], "/")
	if oid := s.resolve(c.repo, ref); oid != "" && s.validRef(ref) {
		answer(c.w, http.StatusOK, s.refObject(c, ref, oid))
		return
	}
	fail(c.w, http.StatusNotFound, "Not Found")
}

// createRef makes a reference, or fails because there is one.
func (s *Server) createRef(c *call) {
	var in struct {
		Ref string `json:"ref"`
		SHA string `json:"sha"`
	}
	if !c.decode(&in) {
		return
	}
	switch {
	case !strings.HasPrefix(in.Ref, "refs/") || strings.Count(in.Ref, "/") < 2 || !s.validRef(in.Ref):
		fail(c.w, http.StatusUnprocessableEntity, "Reference name must be valid and start with refs/ and have at least two slashes")
		return
	case s.kind(c, in.SHA) != "commit":
		fail(c.w, http.StatusUnprocessableEntity, "Object does not exist")
		return
	case s.move(c.repo, in.Ref, in.SHA, strings.Repeat("0", 40)) != nil:
		if s.resolve(c.repo, in.Ref) != "" {
			fail(c.w, http.StatusUnprocessableEntity, "Reference already exists")
		} else {
			fail(c.w, http.StatusUnprocessableEntity, "Reference update failed")
		}
		return
	}
	if branch, ok := strings.CutPrefix(in.Ref, "refs/heads/"); ok {
		s.landed(c.repo, Landed{Branch: branch, OID: in.SHA, How: "ref", Parent: s.resolve(c.repo, in.SHA+"^"), Token: c.r.Token})
	}
	c.created(s.refObject(c, in.Ref, in.SHA))
}

// kind is the type of an object, "" for none.
func (s *Server) kind(c *call, oid string) string {
	if !oidForm.MatchString(oid) {
		return ""
	}
	out, err := s.in(c.repo, "cat-file", "-t", oid)
	if err != nil {
		return ""
	}
	return out
}

func (s *Server) writeBlob(c *call, data []byte) (string, error) {
	return s.run(data, nil, "-C", c.repo.dir, "hash-object", "-w", "--no-filters", "--stdin")
}

func (s *Server) createBlob(c *call) {
	var in struct {
		Content  *string `json:"content"`
		Encoding string  `json:"encoding"`
	}
	if !c.decode(&in) {
		return
	}
	if in.Content == nil {
		fail(c.w, http.StatusUnprocessableEntity, "Invalid request.\n\n\"content\" wasn't supplied.")
		return
	}
	data := []byte(*in.Content)
	switch in.Encoding {
	case "", "utf-8":
	case "base64":
		var err error
		if data, err = decodeBase64(*in.Content); err != nil {
			fail(c.w, http.StatusUnprocessableEntity, "content is not valid Base64")
			return
		}
	default:
		fail(c.w, http.StatusUnprocessableEntity, "encoding must be utf-8 or base64")
		return
	}
	oid, err := s.writeBlob(c, data)
	if err != nil {
		fail(c.w, http.StatusInternalServerError, "Server Error")
		return
	}
	c.created(object{"sha": oid, "url": s.gitURL(c, "blobs", oid)})
}

func (s *Server) createTree(c *call) {
	type entry struct {
		Path    string  `json:"path"`
		Mode    string  `json:"mode"`
		Type    string  `json:"type"`
		SHA     *string `json:"sha"`
		Content *string `json:"content"`
	}
	var in struct {
		Base string  `json:"base_tree"`
		Tree []entry `json:"tree"`
	}
	if !c.decode(&in) {
		return
	}
	refuse := func(why string) { fail(c.w, http.StatusUnprocessableEntity, why) }
	if in.Base != "" && s.kind(c, in.Base) != "tree" && s.kind(c, in.Base) != "commit" {
		refuse("base_tree is not a tree")
		return
	}
	var index bytes.Buffer
	for _, e := range in.Tree {
		switch {
		case !validPath(e.Path):
			refuse("tree.path contains a malformed path component")
			return
		case !slices.Contains([]string{"100644", "100755", "120000"}, e.Mode):
			refuse("tree.mode " + e.Mode + " is not served here")
			return
		case (e.SHA == nil) == (e.Content == nil):
			refuse("Must supply either tree.sha or tree.content")
			return
		case e.Content != nil:
			oid, err := s.writeBlob(c, []byte(*e.Content))
			if err != nil {
				fail(c.w, http.StatusInternalServerError, "Server Error")
				return
			}
			e.SHA = &oid
		case s.kind(c, *e.SHA) != "blob":
			refuse("tree.sha " + *e.SHA + " is not a valid blob")
			return
		}
		fmt.Fprintf(&index, "%s %s\t%s\x00", e.Mode, *e.SHA, e.Path)
	}
	oid, err := s.writeTree(c, in.Base, index.Bytes())
	if err != nil {
		refuse("GitRPC::BadObjectState")
		return
	}
	c.created(object{"sha": oid, "url": s.gitURL(c, "trees", oid), "truncated": false})
}

// writeTree adds the entries, in the form of update-index, to a tree.
func (s *Server) writeTree(c *call, base string, index []byte) (string, error) {
	s.mu.Lock()
	s.sequence++
	env := []string{fmt.Sprintf("GIT_INDEX_FILE=%s/index-%d", s.home, s.sequence)}
	s.mu.Unlock()
	if base != "" {
		if _, err := s.run(nil, env, "-C", c.repo.dir, "read-tree", base); err != nil {
			return "", err
		}
	}
	if _, err := s.run(index, env, "-C", c.repo.dir, "update-index", "-z", "--add", "--replace", "--index-info"); err != nil {
		return "", err
	}
	return s.run(nil, env, "-C", c.repo.dir, "write-tree")
}

func (s *Server) createCommitObject(c *call) {
	type person struct {
		Name  string `json:"name"`
		Email string `json:"email"`
		Date  string `json:"date"`
	}
	var in struct {
		Message   string   `json:"message"`
		Tree      string   `json:"tree"`
		Parents   []string `json:"parents"`
		Author    *person  `json:"author"`
		Committer *person  `json:"committer"`
	}
	if !c.decode(&in) {
		return
	}
	if in.Message == "" || s.kind(c, in.Tree) != "tree" {
		fail(c.w, http.StatusUnprocessableEntity, "Tree SHA does not exist")
		return
	}
	args := []string{"-C", c.repo.dir, "commit-tree", "-F", "-", in.Tree}
	for _, p := range in.Parents {
		if s.kind(c, p) != "commit" {
			fail(c.w, http.StatusUnprocessableEntity, "Parent SHA does not exist or is not a commit object")
			return
		}
		args = append(args, "-p", p)
	}
	now := s.opts.Now().UTC().Format(time.RFC3339)
	author := person{c.id.account.Login, fmt.Sprintf("%d+%s@users.noreply.github.com", c.id.account.ID, c.id.account.Login), now}
	if in.Author != nil {
		author = *in.Author
	}
	committer := person{"GitHub", "noreply@github.com", now}
	if in.Committer != nil {
		committer = *in.Committer
	}
	env := []string{"GIT_AUTHOR_NAME=" + author.Name, "GIT_AUTHOR_EMAIL=" + author.Email, "GIT_AUTHOR_DATE=" + author.Date,
		"GIT_COMMITTER_NAME=" + committer.Name, "GIT_COMMITTER_EMAIL=" + committer.Email, "GIT_COMMITTER_DATE=" + committer.Date}
	oid, err := s.run([]byte(in.Message), env, args...)
	if err != nil {
		fail(c.w, http.StatusUnprocessableEntity, "Invalid commit")
		return
	}
	c.created(object{"sha": oid, "url": s.gitURL(c, "commits", oid), "message": in.Message, "tree": object{"sha": in.Tree}})
}

func (s *Server) getCommit(c *call) {
	oid := c.rest[2]
	if s.kind(c, oid) != "commit" {
		fail(c.w, http.StatusNotFound, "Not Found")
		return
	}
	tree := s.resolve(c.repo, oid+"^{tree}")
	parents := []any{}
	if out, err := s.in(c.repo, "rev-list", "--parents", "-n1", oid); err == nil {
		for _, p := range strings.Fields(out)[1:] {
			parents = append(parents, object{"sha": p})
		}
	}
	message, _ := s.in(c.repo, "log", "-1", "--format=%B", oid)
	answer(c.w, http.StatusOK, object{"sha": oid, "tree": object{"sha": tree, "url": s.gitURL(c, "trees", tree)}, "parents": parents, "message": message})
}

// contents is one file of a branch or commit, whole.
func (s *Server) contents(c *call) {
	ref, path := c.q.URL.Query().Get("ref"), strings.Join(c.rest[1:], "/")
	if ref == "" {
		ref = s.defaultBranch(c.repo)
	}
	commit := s.resolve(c.repo, "refs/heads/"+strings.TrimPrefix(ref, "refs/heads/"))
	if commit == "" && oidForm.MatchString(ref) {
		commit = ref
	}
	oid := ""
	if commit != "" && validPath(path) {
		oid = s.resolve(c.repo, commit+":"+path)
	}
	if oid == "" || s.kind(c, oid) != "blob" {
		fail(c.w, http.StatusNotFound, "Not Found")
		return
	}
	text, err := s.raw(c.repo, oid)
	if err != nil {
		fail(c.w, http.StatusInternalServerError, "Server Error")
		return
	}
	s.conditional(c, object{"type": "file", "encoding": "base64", "size": len(text), "path": path, "name": path[strings.LastIndex(path, "/")+1:], "sha": oid,
		"content": folded(base64.StdEncoding.EncodeToString(text))})
}

// folded breaks base64 into the lines that GitHub sends.
func folded(text string) string {
	var b strings.Builder
	for len(text) > 60 {
		b.WriteString(text[:60] + "\n")
		text = text[60:]
	}
	return b.String() + text + "\n"
}
