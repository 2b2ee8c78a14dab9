package pkg_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/repo-memory/ledger/"

// tiers lists every package from the bottom up: a package imports only from tiers
// below its own.
var tiers = [][]string{
	{"pkg/canonical", "pkg/glyph", "pkg/regular"},
	{"pkg/ledger", "pkg/safeoutput"},
	{"pkg/action", "pkg/branch", "pkg/compaction", "pkg/github", "pkg/memory", "pkg/projection", "pkg/schema", "pkg/script", "pkg/staging", "pkg/thread", "pkg/txlog"},
	{"pkg/listing", "pkg/mcptools", "pkg/memoryrun", "pkg/persist", "pkg/publish"},
}

// pure packages know no git, SQL, network or workflow, and start no process.
var pure = []string{"pkg/canonical", "pkg/glyph", "pkg/ledger", "pkg/compaction", "pkg/memory", "pkg/schema", "pkg/thread"}

type goPackage struct {
	ImportPath, Dir string
	Imports         []string
	Deps            []string
	GoFiles         []string
}

// packages asks the Go toolchain for the product's packages.
func packages(t *testing.T) []goPackage {
	t.Helper()
	list := exec.Command("go", "list", "-json=ImportPath,Dir,Imports,Deps,GoFiles", "../...")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []goPackage
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		if len(p.GoFiles) > 0 {
			p.ImportPath = strings.TrimPrefix(p.ImportPath, module)
			all = append(all, p)
		}
	}
}

func tierOf(path string) int {
	return slices.IndexFunc(tiers, func(tier []string) bool { return slices.Contains(tier, path) })
}

func TestImportsPointDownward(t *testing.T) {
	seen := 0
	for _, p := range packages(t) {
		tier := tierOf(p.ImportPath)
		switch {
		case strings.HasPrefix(p.ImportPath, "cmd/"), strings.HasSuffix(p.ImportPath, "test"):
			tier = len(tiers) // commands, and what only tests import
		case tier < 0:
			t.Errorf("%s has no tier: give it one", p.ImportPath)
		}
		seen++
		for _, path := range p.Imports {
			imported, ours := strings.CutPrefix(path, module)
			if !ours {
				continue
			}
			if below := tierOf(imported); below < 0 || below >= tier {
				t.Errorf("%s imports %s, which is not in a tier below", p.ImportPath, imported)
			}
		}
	}
	if seen < 15 {
		t.Errorf("only %d packages were looked at", seen)
	}
}

func TestPurePackagesReachNothingOutside(t *testing.T) {
	for _, p := range packages(t) {
		if !slices.Contains(pure, p.ImportPath) {
			continue
		}
		for _, dep := range p.Deps {
			if slices.Contains([]string{"net", "net/http", "os/exec", "database/sql"}, dep) ||
				strings.Contains(dep, "go-git") || strings.Contains(dep, "go-github") || strings.Contains(dep, "sqlite") {
				t.Errorf("%s reaches %s", p.ImportPath, dep)
			}
		}
	}
}

func TestEveryPackageHasOneComment(t *testing.T) {
	for _, p := range packages(t) {
		comments := 0
		for _, file := range p.GoFiles {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, file), nil, parser.PackageClauseOnly|parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			if f.Doc != nil {
				comments++
				checkOpening(t, p.ImportPath, f)
			}
		}
		if comments != 1 {
			t.Errorf("%s has %d package comments, want one", p.ImportPath, comments)
		}
	}
}

// checkOpening wants the conventional first words.
func checkOpening(t *testing.T, path string, f *ast.File) {
	t.Helper()
	want := "Package " + f.Name.Name + " "
	if f.Name.Name == "main" {
		want = "Command " + filepath.Base(path) + " "
	}
	if !strings.HasPrefix(f.Doc.Text(), want) {
		t.Errorf("the comment of %s does not start with %q", path, want)
	}
}
