package actions_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

// TestEveryErrorOfTheInstallerIsExplained compares what run.sh can say with what the
// README of the actions explains, in both directions.
func TestEveryErrorOfTheInstallerIsExplained(t *testing.T) {
	script, text := read(t, "actions", "run.sh"), read(t, "actions", "README.md")
	_, last, ok := strings.Cut(text, "\n## Troubleshooting\n")
	if !ok {
		t.Fatal("the README has no Troubleshooting")
	}
	var headings []string
	for _, m := range trouble.FindAllStringSubmatch(last, -1) {
		for _, literal := range strings.Split(m[1], " · ") {
			headings = append(headings, strings.Trim(literal, "`"))
		}
	}
	variable := regexp.MustCompile(`\$\{?[A-Za-z0-9_]+(:-[^}]*)?\}?`)
	said := regexp.MustCompile(`(?:fail|"\$role") "([^"]*)"`).FindAllStringSubmatch(script, -1)
	if len(said) < 20 {
		t.Fatalf("run.sh says %d things", len(said))
	}
	explains := func(heading, message string) bool {
		parts := verb.Split(heading, -1)
		for _, part := range parts {
			if !strings.Contains(message, strings.Trim(part, " ;")) {
				return false
			}
		}
		return true
	}
	for _, m := range said {
		message := variable.ReplaceAllString(m[1], "…")
		if message == "…" { // fail itself
			continue
		}
		if !slices.ContainsFunc(headings, func(h string) bool { return explains(h, message) }) {
			t.Errorf("nothing explains %q", message)
		}
	}
	for _, h := range headings {
		if !slices.ContainsFunc(said, func(m []string) bool { return explains(h, variable.ReplaceAllString(m[1], "…")) }) {
			t.Errorf("run.sh never says %q", h)
		}
	}
}
