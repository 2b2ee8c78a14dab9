package actions_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
)

const module = "github.com/repo-memory/ledger"

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(root(), dir))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		if e.IsDir() {
			list = append(list, e.Name())
		}
	}
	return list
}

func TestEveryActionAndEveryBinaryHasARowAndEveryRowHasBoth(t *testing.T) {
	var rows []string
	for _, r := range theMatrix().Actions {
		rows = append(rows, r.Name)
		if r.Binary != "cmd/"+r.Name {
			t.Errorf("row %s: binary %s, want cmd/%s", r.Name, r.Binary, r.Name)
		}
	}
	sort.Strings(rows)
	if got := names(t, "actions"); !slices.Equal(got, rows) {
		t.Errorf("actions/ holds %v, the matrix has rows for %v", got, rows)
	}
	commands := slices.DeleteFunc(names(t, "cmd"), func(name string) bool { return name == "ledger" })
	if !slices.Equal(commands, rows) {
		t.Errorf("cmd/ holds %v beside ledger, the matrix has rows for %v", commands, rows)
	}
}

func TestARowIsWholeAndAWriteTokenMeansAJobOfItsOwn(t *testing.T) {
	for _, r := range theMatrix().Actions {
		if r.Job == "" || r.Permissions == nil || len(r.NeverLinks) == 0 {
			t.Errorf("row %s: job, permissions and never-links must be given", r.Name)
		}
		if !slices.Contains([]string{"untrusted", "trusted step", "trusted"}, r.Trust) {
			t.Errorf("row %s: unknown trust %q", r.Name, r.Trust)
		}
		for scope, access := range r.Permissions {
			if access != "read" && access != "write" {
				t.Errorf("row %s: permission %s: %q", r.Name, scope, access)
			}
			if access == "write" && (!r.OwnJob || r.Trust != "trusted") {
				t.Errorf("row %s: a role that may write must be trusted and have a job of its own", r.Name)
			}
		}
	}
}

// forbidden reports whether a package is one of those, or below one.
func forbidden(pkg string, never []string) bool {
	return slices.ContainsFunc(never, func(path string) bool {
		if strings.HasPrefix(path, "pkg/") {
			path = module + "/" + path
		}
		return pkg == path || strings.HasPrefix(pkg, path+"/")
	})
}

func TestForbiddenPackagesAreFoundBelowAPathAndNotBesideIt(t *testing.T) {
	never := []string{"pkg/publish", "github.com/go-git/go-git"}
	for pkg, want := range map[string]bool{
		module + "/pkg/publish":                true,
		module + "/pkg/publish/inner":          true,
		module + "/pkg/publisher":              false,
		"github.com/go-git/go-git/v5/plumbing": true,
		"github.com/go-git/go-git-fixtures":    false,
	} {
		if forbidden(pkg, never) != want {
			t.Errorf("%s: want %v", pkg, want)
		}
	}
}

// TestNoBinaryLinksWhatItsRowForbids is the first rule of security: an untrusted
// role cannot contain the code that writes.
func TestNoBinaryLinksWhatItsRowForbids(t *testing.T) {
	systems := map[string]bool{}
	for _, p := range theMatrix().Platforms {
		systems[p.OS] = true
	}
	for _, system := range []string{"linux", "darwin", "windows"} {
		if !systems[system] {
			t.Errorf("the matrix has no platform with %s", system)
		}
		args := []string{"list", "-f", `{{.ImportPath}} {{join .Deps " "}}`}
		for _, r := range theMatrix().Actions {
			args = append(args, "./"+r.Binary)
		}
		cmd := exec.Command("go", args...)
		cmd.Dir, cmd.Env = root(), append(os.Environ(), "GOOS="+system, "GOARCH=amd64", "CGO_ENABLED=0")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("go list for %s: %v", system, err)
		}
		seen := 0
		for _, line := range strings.Split(strings.TrimSpace(string(out)), "\n") {
			packages := strings.Fields(line)
			name := strings.TrimPrefix(packages[0], module+"/cmd/")
			r, ok := rowOf(name)
			if !ok || len(packages) < 20 || !slices.Contains(packages, module+"/pkg/action") {
				t.Fatalf("%s: %q does not look like the packages of a role", system, packages[0])
			}
			seen++
			for _, pkg := range packages {
				if forbidden(pkg, r.NeverLinks) {
					t.Errorf("%s: %s links %s", system, name, pkg)
				}
			}
		}
		if seen != len(theMatrix().Actions) {
			t.Errorf("%s: %d binaries looked at, want %d", system, seen, len(theMatrix().Actions))
		}
	}
}

// TestTheForbiddenPackagesExist guards the test above against a renamed package
// and against a version in a path, which would let another version through.
func TestTheForbiddenPackagesExist(t *testing.T) {
	for _, r := range theMatrix().Actions {
		for _, path := range r.NeverLinks {
			if !strings.HasPrefix(path, "pkg/") {
				if strings.Count(path, "/") != 2 || strings.Contains(path, "@") {
					t.Errorf("row %s: %s is not host/owner/repository", r.Name, path)
				}
			} else if _, err := os.Stat(filepath.Join(root(), path)); err != nil {
				t.Errorf("row %s: %v", r.Name, err)
			}
		}
	}
}

func TestOnlyTrustedRolesRefuseToRunInAnAgentsJob(t *testing.T) {
	for _, r := range theMatrix().Actions {
		role := helpRole(t, r.Name)
		if role.Trusted != (r.Trust == "trusted") {
			t.Errorf("%s: --help says trusted: %v, its row %q", r.Name, role.Trusted, r.Trust)
		}
		for _, marked := range []bool{true, false} {
			cmd := exec.Command(binary(t, r.Name))
			cmd.Dir = t.TempDir()
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + cmd.Dir, "RUNNER_TEMP=" + cmd.Dir, "INPUT_REMOTE=" + cmd.Dir + "/no-remote.git"}
			if marked {
				cmd.Env = append(cmd.Env, "LEDGER_UNTRUSTED_JOB=1")
			}
			out, err := cmd.CombinedOutput()
			refused := strings.Contains(string(out), "refuses to run in a job that runs an agent (LEDGER_UNTRUSTED_JOB is set); give it a job of its own")
			if want := marked && r.Trust == "trusted"; refused != want || want && err == nil {
				t.Errorf("%s, marked %v: refused %v, error %v, want %v\n%s", r.Name, marked, refused, err, want, out)
			}
		}
	}
}

func TestTheMatrixToolPrintsThePlatformsForWorkflowsAndScripts(t *testing.T) {
	var list, array []string
	for _, p := range theMatrix().Platforms {
		list = append(list, p.OS+"/"+p.Arch+"\n")
		array = append(array, `{"os":"`+p.OS+`","arch":"`+p.Arch+`"}`)
	}
	tools := filepath.Join(root(), ".github", "tools")
	if got := command(t, tools, "go", "run", "./matrix", "../../action-matrix.yml", "list"); got != strings.Join(list, "") {
		t.Errorf("list: %q", got)
	}
	if got := command(t, tools, "go", "run", "./matrix", "../../action-matrix.yml", "json"); got != "["+strings.Join(array, ",")+"]\n" {
		t.Errorf("json: %q", got)
	}
	if len(list) != 6 {
		t.Errorf("%d platforms, want 6", len(list))
	}
}

// TestTheTypecheckOfPlatformsFindsWhatOneOfThemLacks gives it a module that one
// platform cannot compile.
func TestTheTypecheckOfPlatformsFindsWhatOneOfThemLacks(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module example.org/m\n\ngo 1.26\n")
	write(t, filepath.Join(dir, "m.go"), "package m\n\nimport \"os\"\n\nfunc M() string { return os.TempDir() + name }\n")
	write(t, filepath.Join(dir, "name_linux.go"), "package m\n\nconst name = \"x\"\n")
	for _, c := range []struct {
		platforms []string
		want      string
	}{
		{[]string{"linux/amd64", "linux/arm64"}, ""},
		{[]string{"linux/amd64", "windows/amd64"}, "undefined: name"},
	} {
		cmd := exec.Command("go", append([]string{"-C", filepath.Join(root(), ".github", "tools"), "run", "./typecheck", dir}, c.platforms...)...)
		out, err := cmd.CombinedOutput()
		if (err != nil) != (c.want != "") || !strings.Contains(string(out), c.want) {
			t.Errorf("%v: %v, want %q\n%s", c.platforms, err, c.want, out)
		}
	}
}
