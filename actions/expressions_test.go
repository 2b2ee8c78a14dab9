package actions_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// scripts returns every script in a YAML text, by the line that it begins at: the
// value of a key "run", and of a key "script", which actions take as code.
func scripts(text string) (map[int]string, error) {
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		return nil, err
	}
	found := map[int]string{}
	seen := map[*yaml.Node]bool{}
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		if n == nil || seen[n] {
			return
		}
		seen[n] = true
		walk(n.Alias)
		for i, child := range n.Content {
			if n.Kind == yaml.MappingNode && i%2 == 1 && child.Kind == yaml.ScalarNode && (n.Content[i-1].Value == "run" || n.Content[i-1].Value == "script") {
				found[child.Line] = child.Value
			}
			walk(child)
		}
	}
	walk(&document)
	return found, nil
}

var (
	yamlBlock   = regexp.MustCompile("(?ms)^```ya?ml[^\n]*\n(.*?)^```")
	frontMatter = regexp.MustCompile(`(?s)\A---\n(.*?\n)---\n`)
)

// yamls are all YAML texts of the repository, by where they stand: files, and what
// Markdown holds as a block or as its front matter.
func yamls(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(root(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if err == nil && (d.Name() == ".git" || d.Name() == "node_modules") {
				return fs.SkipDir
			}
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root(), path)
		if err != nil {
			return err
		}
		switch filepath.Ext(path) {
		case ".yml", ".yaml":
			all[rel] = string(text)
		case ".md":
			for i, m := range append(yamlBlock.FindAllStringSubmatch(string(text), -1), frontMatter.FindAllStringSubmatch(string(text), -1)...) {
				all[fmt.Sprintf("%s, part %d", rel, i+1)] = m[1]
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestNoScriptHoldsAnExpression: a runner puts the value of an expression into a
// script as it is, and the shell would run it. Values go through env.
func TestNoScriptHoldsAnExpression(t *testing.T) {
	places := map[string]int{}
	for name, text := range yamls(t) {
		found, err := scripts(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for line, script := range found {
			if strings.Contains(script, "${{") {
				t.Errorf("%s: the script at line %d holds an expression; map it to env", name, line)
			}
		}
		switch dir := filepath.ToSlash(name); {
		case strings.HasPrefix(dir, "actions/") && strings.Contains(dir, "action.yml"):
			places["actions"] += len(found)
		case strings.HasPrefix(dir, ".github/workflows/"):
			places["workflows"] += len(found)
		case strings.HasPrefix(dir, "testdata/workflows/"):
			places["testdata"] += len(found)
		case strings.Contains(dir, "README.md, part"):
			places["READMEs"] += len(found)
		}
	}
	for _, place := range []string{"actions", "workflows", "testdata", "READMEs"} {
		if places[place] == 0 {
			t.Errorf("no script was found in the %s", place)
		}
	}
}

func TestAnExpressionInAScriptIsFoundWhereverItStands(t *testing.T) {
	for name, text := range map[string]string{
		"a step":             "jobs:\n  a:\n    steps:\n      - run: echo ${{ inputs.x }}\n",
		"a block":            "jobs:\n  a:\n    steps:\n      - run: |\n          echo\n          echo ${{ inputs.x }}\n",
		"an action":          "runs:\n  steps:\n    - {run: '${{ x }}'}\n",
		"script of another":  "- uses: a/b@c\n  with:\n    script: f(${{ x }})\n",
		"an anchor":          "a: &steps\n  - run: ${{ x }}\nb: *steps\n",
		"frontmatter steps":  "post-steps:\n  - name: x\n    run: a ${{ x }}\n",
		"a quoted key":       "- \"run\": a ${{ x }}\n",
		"a folded long text": "- run: >-\n    a\n    ${{ x }}\n",
	} {
		found, err := scripts(text)
		seen := false
		for _, script := range found {
			seen = seen || strings.Contains(script, "${{")
		}
		if err != nil || !seen {
			t.Errorf("%s: %v, not seen", name, err)
		}
	}
	if found, err := scripts("jobs:\n  a:\n    env: {x: '${{ y }}'}\n    steps:\n      - run: echo $x\n"); err != nil || len(found) != 1 {
		t.Errorf("%v: %v", found, err)
	}
}
