package actions_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// said are texts that others print and our READMEs explain.
var said = []string{
	"Unable to download artifact(s)", "Artifact not found for name", // actions/download-artifact
	"Resource not accessible by integration", // GitHub
}

// sources are the texts of everything that a consumer runs.
var sources = sync.OnceValues(func() (string, error) {
	var b strings.Builder
	for _, dir := range []string{"cmd", "pkg", "actions"} {
		err := filepath.WalkDir(filepath.Join(root(), dir), func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go") || filepath.Ext(path) != ".go" && filepath.Ext(path) != ".sh" {
				return err
			}
			text, err := os.ReadFile(path)
			b.Write(text)
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return b.String() + strings.Join(said, "\n"), nil
})

var (
	sections = regexp.MustCompile(`(?m)^## (.+)$`)
	trouble  = regexp.MustCompile("(?m)^### (.*)$")
	verb     = regexp.MustCompile(`%[a-z]|…|: `)
)

func TestEveryREADMEHasItsSectionsAndExplainsErrorsThatExist(t *testing.T) {
	code, err := sources()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range theMatrix().Actions {
		text := read(t, "actions", r.Name, "README.md")
		var got []string
		for _, m := range sections.FindAllStringSubmatch(text, -1) {
			got = append(got, m[1])
		}
		want := "Usage, Inputs, Outputs, Permissions, Security, Troubleshooting"
		if strings.Join(got, ", ") != want || !strings.HasPrefix(text, "# "+r.Name+"\n\n") {
			t.Errorf("%s: sections are %v, want %s", r.Name, got, want)
		}
		if len(examples(text)) == 0 || !strings.Contains(text, "OWNER/ledger/actions/"+r.Name+"@v1") {
			t.Errorf("%s: no workflow that uses it", r.Name)
		}
		for scope, access := range r.Permissions {
			if !strings.Contains(text, "| `"+scope+": "+access+"` |") {
				t.Errorf("%s: the table of permissions lacks %s: %s", r.Name, scope, access)
			}
		}
		_, last, _ := strings.Cut(text, "\n## Troubleshooting\n")
		headings := trouble.FindAllStringSubmatch(last, -1)
		if len(headings) < 2 {
			t.Errorf("%s: %d kinds of trouble", r.Name, len(headings))
		}
		for _, m := range headings {
			literal, ok := strings.CutPrefix(strings.TrimSuffix(m[1], "`"), "`")
			if !ok {
				t.Errorf("%s: heading %q is no literal text", r.Name, m[1])
			}
			for _, part := range verb.Split(literal, -1) {
				if part = strings.Trim(part, " :;"); !strings.Contains(code, part) {
					t.Errorf("%s: nothing says %q of %q", r.Name, part, literal)
				}
			}
		}
	}
}
