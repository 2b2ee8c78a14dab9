package memoryrun

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/action"
	"github.com/repo-memory/ledger/pkg/memory"
)

var keyRole = action.Role{Name: "test", Summary: "test.", Inputs: []action.Input{InputKeys, InputPolicy}}

// in runs a function in a role with an environment.
func in(t *testing.T, env map[string]string, do func(*action.Action) error) error {
	t.Helper()
	err := errors.New("the role was not run")
	var said strings.Builder
	action.Run(context.Background(), keyRole, nil, func(_ context.Context, a *action.Action) error {
		err = do(a)
		return nil
	}, action.WithEnv(env), action.WithWriter(io.Discard), action.WithErrorWriter(&said))
	if said.Len() > 0 {
		t.Error(said.String())
	}
	return err
}

func TestTheKeysLeaveTheEnvironmentEvenWhereTheyAreNoGood(t *testing.T) {
	for _, keys := range []string{"a=" + strings.Repeat("a1", 32), "a=short"} {
		for _, variable := range []string{KeysVariable, "INPUT_MERGE_KEYS"} {
			t.Setenv(variable, keys)
			err := in(t, map[string]string{variable: keys}, func(a *action.Action) error {
				_, err := TakeKeys(a, "")
				return err
			})
			if (err == nil) != (len(keys) > 40) {
				t.Errorf("%s: %v", variable, err)
			}
			if err != nil && strings.Contains(err.Error(), "short") {
				t.Errorf("the error shows the key: %v", err)
			}
			if _, there := os.LookupEnv(variable); there {
				t.Errorf("%s is still in the environment", variable)
			}
		}
	}
}

func TestARunIsOfTheDefaultBranchOnlyWhereAllThreeNamesSaySo(t *testing.T) {
	good := map[string]string{"GITHUB_REPOSITORY": "octo/consumer", "GITHUB_WORKFLOW_REF": "octo/consumer/.github/workflows/a.yml@refs/heads/main",
		"GITHUB_REF": "refs/heads/main", "GITHUB_ACTOR": "octo", "GITHUB_TRIGGERING_ACTOR": "octo", "GITHUB_ACTOR_ID": "5", "GITHUB_RUN_ATTEMPT": "1"}
	const event = `{"repository":{"default_branch":"main","id":1},"more":[1]}`
	for name, c := range map[string]struct {
		event  string
		change map[string]string
		want   string
	}{
		"all say so":                           {event, nil, ""},
		"another branch's workflow":            {event, map[string]string{"GITHUB_WORKFLOW_REF": "octo/consumer/.github/workflows/a.yml@refs/heads/x"}, "not that of the default branch"},
		"a tag of that name":                   {event, map[string]string{"GITHUB_REF": "refs/tags/main"}, "not that of the default branch"},
		"a pull request":                       {event, map[string]string{"GITHUB_REF": "refs/pull/1/merge"}, "not that of the default branch"},
		"another repository's workflow":        {event, map[string]string{"GITHUB_WORKFLOW_REF": "octo/other/.github/workflows/a.yml@refs/heads/main"}, "not that of the default branch"},
		"a repository whose name goes on":      {event, map[string]string{"GITHUB_WORKFLOW_REF": "octo/consumer2/.github/workflows/a.yml@refs/heads/main"}, "not that of the default branch"},
		"no repository":                        {event, map[string]string{"GITHUB_REPOSITORY": ""}, "not that of the default branch"},
		"no workflow":                          {event, map[string]string{"GITHUB_WORKFLOW_REF": ""}, "not that of the default branch"},
		"another default branch":               {`{"repository":{"default_branch":"trunk"}}`, nil, "not that of the default branch"},
		"an event that names none":             {`{"repository":{}}`, nil, "the event names none"},
		"an event of another form":             {`{"repository":{"default_branch":7}}`, nil, "the event is not understood"},
		"an event that says it twice":          {`{"repository":{"default_branch":"x","default_branch":"main"}}`, nil, "the event is not understood"},
		"an event with the name in upper case": {`{"repository":{"Default_Branch":"main"}}`, nil, "the event names none"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "event.json")
			if err := os.WriteFile(file, []byte(c.event), 0o644); err != nil {
				t.Fatal(err)
			}
			env := map[string]string{"GITHUB_EVENT_PATH": file}
			for _, from := range []map[string]string{good, c.change} {
				for k, v := range from {
					env[k] = v
				}
			}
			err := in(t, env, func(a *action.Action) error {
				r, err := ReadRun(a)
				if err != nil {
					return err
				}
				if r.Facts().WorkflowOnDefaultBranch != (r.OnDefaultBranch() == nil) {
					t.Error("the facts say something else")
				}
				return r.OnDefaultBranch()
			})
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestAPersonIsTheActorByIdWhoTriggeredTheRun(t *testing.T) {
	policy, err := memory.ParsePolicy([]byte("version: memory-policy/v1\nprincipals:\n  - {user: 5, actor: octo, scopes: [memory.review], projects: [demo]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	facts := memory.RunFacts{Attempt: 1, Actor: "5", TriggeringActor: "5", WorkflowOnDefaultBranch: true}
	if p, err := (Run{facts: facts}).Person(policy); err != nil || p.Actor != "octo" {
		t.Errorf("%v, %v", p, err)
	}
	for want, change := range map[string]func(*memory.RunFacts){
		"names no actor":            func(f *memory.RunFacts) { f.Actor = "" },
		"triggered by somebody":     func(f *memory.RunFacts) { f.TriggeringActor = "" },
		"policy has no entry for":   func(f *memory.RunFacts) { f.Actor, f.TriggeringActor = "6", "6" },
		"triggered by somebody els": func(f *memory.RunFacts) { f.TriggeringActor = "6" },
	} {
		other := facts
		change(&other)
		if _, err := (Run{facts: other}).Person(policy); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestAPolicyThatIsNotThereIsNoneAndALinkIsNotRead(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{"", filepath.Join(dir, "absent.yml")} {
		if p, err := ReadPolicy(path); p != nil || err != nil {
			t.Errorf("%q: %v, %v", path, p, err)
		}
	}
	real := filepath.Join(dir, "real.yml")
	if err := os.WriteFile(real, []byte("version: memory-policy/v1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if p, err := ReadPolicy(real); p == nil || err != nil {
		t.Errorf("%v, %v", p, err)
	}
	link := filepath.Join(dir, "link.yml")
	if err := os.Link(real, link); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadPolicy(link); err == nil || strings.Contains(err.Error(), dir) {
		t.Errorf("a file with two names: %v", err)
	}
}
