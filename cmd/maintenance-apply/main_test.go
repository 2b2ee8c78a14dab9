package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/compaction"
	"github.com/repo-memory/ledger/pkg/compaction/compactiontest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"maintenance-apply": main})
}

// buildPlanner builds the other binary of the pair.
func buildPlanner(t *testing.T) string {
	t.Helper()
	planner := filepath.Join(t.TempDir(), "maintenance-plan")
	if runtime.GOOS == "windows" {
		planner += ".exe"
	}
	if out, err := exec.Command("go", "build", "-o", planner, "../maintenance-plan").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return planner
}

func TestScripts(t *testing.T) {
	planner := buildPlanner(t)
	commands := compactiontest.Commands()
	commands["rounds"] = rounds
	testscript.Run(t, testscript.Params{Dir: "testdata", RequireExplicitExec: true, RequireUniqueNames: true, Cmds: commands,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", filepath.Dir(planner)+string(os.PathListSeparator)+env.Getenv("PATH"))
			return compactiontest.Setup(env)
		}})
}

var selected = regexp.MustCompile(`(?m)^selected=(\d+)$`)

// rounds is one maintenance run: plan and apply until nothing is selected. It
// fails unless that takes N rounds.
func rounds(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: rounds N")
	}
	done := 0
	for ; done < compaction.MaxRounds; done++ {
		ts.Setenv("INPUT_ROUND", fmt.Sprint(done+1))
		ts.Check(ts.Exec("maintenance-plan"))
		if selected.FindStringSubmatch(ts.ReadFile("stdout"))[1] == "0" {
			break
		}
		ts.Check(ts.Exec("maintenance-apply"))
		if !strings.Contains(ts.ReadFile("stdout"), "\nstatus=applied\n") && !strings.HasPrefix(ts.ReadFile("stdout"), "status=applied\n") {
			ts.Fatalf("round %d was not applied", done+1)
		}
	}
	ts.Setenv("INPUT_ROUND", "")
	if fmt.Sprint(done) != args[0] {
		ts.Fatalf("the run took %d rounds", done)
	}
}

func TestTheDeclarationIsSound(t *testing.T) {
	if err := role.Check(); err != nil {
		t.Fatal(err)
	}
	if _, err := action.ParseHelp(role.Help()); err != nil {
		t.Fatal(err)
	}
}

func TestInputsThatPlanAndApplyShareAreTheSame(t *testing.T) {
	help, err := exec.Command(buildPlanner(t), "--help").Output()
	if err != nil {
		t.Fatal(err)
	}
	plan, err := action.ParseHelp(string(help))
	if err != nil {
		t.Fatal(err)
	}
	apply, err := action.ParseHelp(role.Help())
	if err != nil {
		t.Fatal(err)
	}
	theirs := map[string]action.Input{}
	for _, in := range plan.Inputs {
		theirs[in.Name] = in
	}
	for _, in := range apply.Inputs {
		if in.Name == action.InputPublish.Name {
			continue // a plan publishes nothing
		}
		other, ok := theirs[in.Name]
		if !ok || fmt.Sprint(other) != fmt.Sprint(in) {
			t.Errorf("%s: plan has %v, apply %v", in.Name, other, in)
		}
	}
}
