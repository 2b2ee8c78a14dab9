package githubtest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/repo-memory/ledger/pkg/canonical"
)

// commitInput is CreateCommitOnBranchInput, no more and no less.
type commitInput struct {
	ClientMutationID *string `json:"clientMutationId"`
	Branch           *struct {
		ID     *string `json:"id"`
		Repo   *string `json:"repositoryNameWithOwner"`
		Branch *string `json:"branchName"`
	} `json:"branch"`
	Message *struct {
		Headline *string `json:"headline"`
		Body     *string `json:"body"`
	} `json:"message"`
	Expected    *string `json:"expectedHeadOid"`
	FileChanges *struct {
		Additions *[]struct {
			Path     *string `json:"path"`
			Contents *string `json:"contents"`
		} `json:"additions"`
		Deletions *[]struct {
			Path *string `json:"path"`
		} `json:"deletions"`
	} `json:"fileChanges"`
}

var oidForm = regexp.MustCompile(`^[0-9a-f]{40}$`)

func unprocessable(format string, args ...any) error {
	return &graphError{"UNPROCESSABLE", fmt.Sprintf(format, args...)}
}

func invalid(format string, args ...any) error {
	return &graphError{"", "Variable $input of type CreateCommitOnBranchInput! was provided invalid value for " + fmt.Sprintf(format, args...)}
}

// createCommit is the mutation createCommitOnBranch.
func (s *Server) createCommit(id *identity, token string, value any, types map[string]string) (any, error) {
	if len(types) != 1 {
		return nil, invalid("input (Expected value to not be null)")
	}
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	var in commitInput
	if err := canonical.Decode(text, &in); err != nil {
		return nil, invalid("a field (%v)", err)
	}
	switch {
	case in.Branch == nil:
		return nil, invalid("branch (Expected value to not be null)")
	case in.Message == nil || in.Message.Headline == nil:
		return nil, invalid("message.headline (Expected value to not be null)")
	case in.Expected == nil:
		return nil, invalid("expectedHeadOid (Expected value to not be null)")
	case !oidForm.MatchString(*in.Expected):
		return nil, invalid("expectedHeadOid (Could not coerce value %q to GitObjectID)", *in.Expected)
	case in.Branch.Repo == nil || in.Branch.Branch == nil || in.Branch.ID != nil:
		return nil, unprocessable("this server takes a branch by repositoryNameWithOwner and branchName")
	}
	repo := s.lookup(*in.Branch.Repo)
	if repo == nil {
		return nil, &graphError{"NOT_FOUND", "Could not resolve to a Repository with the name '" + *in.Branch.Repo + "'."}
	}
	if !id.may("contents", "write") {
		return nil, &graphError{"FORBIDDEN", notAccessible}
	}
	branch := strings.TrimPrefix(*in.Branch.Branch, "refs/heads/")
	ref := "refs/heads/" + branch
	if !s.validRef(ref) {
		return nil, unprocessable("A branch name is not valid: %q", branch)
	}
	head := s.resolve(repo, ref)
	switch {
	case head == "":
		return nil, &graphError{"NOT_FOUND", "Could not resolve to a Branch with the name '" + branch + "'."}
	case head != *in.Expected:
		return nil, stale(*in.Expected)
	}
	stream, err := s.stream(repo, head, id.account, in)
	if err != nil {
		return nil, err
	}
	oid, err := s.importCommit(repo, stream)
	if err != nil {
		return nil, unprocessable("%v", err)
	}
	if err := s.move(repo, ref, oid, head); err != nil {
		if s.resolve(repo, ref) == head {
			return nil, err // the lock of another writer that moved nothing: GitHub says 500
		}
		return nil, stale(*in.Expected)
	}
	s.landed(repo, Landed{Branch: branch, OID: oid, How: "mutation", Expected: *in.Expected, Parent: head, Token: token})
	return s.payload(repo, branch, oid, in), nil
}

// payload is CreateCommitOnBranchPayload.
func (s *Server) payload(repo *repository, branch, oid string, in commitInput) object {
	o := object{"clientMutationId": nil, "ref": object{"name": branch, "prefix": "refs/heads/"}, "commit": object{"oid": oid, "id": "C_" + oid, "url": s.URL}}
	if in.ClientMutationID != nil {
		o["clientMutationId"] = *in.ClientMutationID
	}
	if repo != nil {
		o["commit"].(object)["url"] = s.URL + "/" + repo.name + "/commit/" + oid
	}
	return o
}

func stale(expected string) error {
	return &graphError{"STALE_DATA", fmt.Sprintf("Expected branch to point to \"%s\" but it did not.  Pull and try again.", expected)}
}

// stream writes the commit for git fast-import, each file whole.
func (s *Server) stream(repo *repository, head string, author Account, in commitInput) ([]byte, error) {
	message := *in.Message.Headline
	if in.Message.Body != nil && *in.Message.Body != "" {
		message += "\n\n" + *in.Message.Body
	}
	now := s.opts.Now().Unix()
	var b bytes.Buffer
	fmt.Fprintf(&b, "feature done\ncommit refs/heads/made\nmark :1\n")
	fmt.Fprintf(&b, "author %s <%d+%s@users.noreply.github.com> %d +0000\n", author.Login, author.ID, author.Login, now)
	fmt.Fprintf(&b, "committer GitHub <noreply@github.com> %d +0000\ndata %d\n%s\nfrom %s\n", now, len(message), message, head)
	if in.FileChanges != nil {
		there, err := s.modes(repo, head)
		if err != nil {
			return nil, err
		}
		seen := map[string]bool{}
		check := func(path *string) error {
			switch {
			case path == nil:
				return invalid("fileChanges.path (Expected value to not be null)")
			case !validPath(*path):
				return unprocessable("A path was requested that is not valid: %q", *path)
			case seen[*path]:
				return unprocessable("A path was requested more than once: %q", *path)
			}
			seen[*path] = true
			return nil
		}
		if in.FileChanges.Deletions != nil {
			for _, d := range *in.FileChanges.Deletions {
				if err := check(d.Path); err != nil {
					return nil, err
				}
				if there[*d.Path] == "" {
					return nil, unprocessable("A path was requested for deletion which does not exist as of commit oid `%s`: `%s`", head, *d.Path)
				}
				fmt.Fprintf(&b, "D %s\n", quote(*d.Path))
			}
		}
		if in.FileChanges.Additions != nil {
			for _, a := range *in.FileChanges.Additions {
				if err := check(a.Path); err != nil {
					return nil, err
				}
				if a.Contents == nil {
					return nil, invalid("fileChanges.additions.contents (Expected value to not be null)")
				}
				data, err := decodeBase64(*a.Contents)
				if err != nil {
					return nil, invalid("fileChanges.additions.contents (Could not coerce value to Base64String)")
				}
				mode := there[*a.Path]
				if mode != "100755" {
					mode = "100644"
				}
				fmt.Fprintf(&b, "M %s inline %s\ndata %d\n", mode, quote(*a.Path), len(data))
				b.Write(data)
				b.WriteByte('\n')
			}
		}
	}
	b.WriteString("\nget-mark :1\ndone\n")
	return b.Bytes(), nil
}

// decodeBase64 is RFC 4648, with padding, in one spelling, without line ends.
func decodeBase64(text string) ([]byte, error) {
	data, err := base64.StdEncoding.Strict().DecodeString(text)
	if err == nil && base64.StdEncoding.EncodeToString(data) != text {
		err = base64.CorruptInputError(0)
	}
	return data, err
}

func validPath(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if part == "" || part == "." || part == ".." || strings.EqualFold(part, ".git") {
			return false
		}
	}
	return !strings.ContainsRune(path, 0)
}

// quote is fast-import's spelling of any path.
func quote(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}

// modes are the files of a commit.
func (s *Server) modes(repo *repository, commit string) (map[string]string, error) {
	out, err := s.in(repo, "ls-tree", "-r", "-z", commit)
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for line := range strings.SplitSeq(out, "\x00") {
		if head, path, ok := strings.Cut(line, "\t"); ok {
			files[path], _, _ = strings.Cut(head, " ")
		}
	}
	return files, nil
}

// importCommit makes the objects in the repository. fast-import wants to set a
// reference; it sets one in a repository of its own that shares the objects.
func (s *Server) importCommit(repo *repository, stream []byte) (string, error) {
	dir, err := os.MkdirTemp(s.home, "import-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	if _, err := s.run(nil, nil, "init", "-q", "--bare", "--template=", dir); err != nil {
		return "", err
	}
	env := []string{"GIT_DIR=" + dir, "GIT_OBJECT_DIRECTORY=" + filepath.Join(repo.dir, "objects")}
	return s.run(stream, env, "fast-import", "--quiet")
}
