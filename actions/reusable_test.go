package actions_test

import (
	"maps"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestTheMaintenanceWorkflowHasEightRoundsAndTheInputsOfItsActions also proves
// that it waits instead of cancelling, for each ledger apart.
func TestTheMaintenanceWorkflowHasEightRoundsAndTheInputsOfItsActions(t *testing.T) {
	const path = ".github/workflows/ledger-maintenance.yml"
	var w workflow
	if err := yaml.Unmarshal([]byte(read(t, path)), &w); err != nil {
		t.Fatal(err)
	}
	if w.Concurrency["group"] != "ledger-maintenance-${{ inputs.ledger }}" || w.Concurrency["cancel-in-progress"] != "false" {
		t.Errorf("concurrency: %v", w.Concurrency)
	}
	if len(w.Jobs) != 16 {
		t.Errorf("%d jobs, want a plan and an apply for each of 8 rounds", len(w.Jobs))
	}
	inputs := calledInputs(t, path)
	defs := map[string]inputDef{}
	for _, id := range []string{"apply", "plan"} {
		c, err := parseAction(read(t, "actions", "maintenance-"+id, "action.yml"))
		if err != nil {
			t.Fatal(err)
		}
		maps.Copy(defs, c.Inputs)
	}
	for name, in := range inputs {
		if name == "runs-on" {
			continue
		}
		def, ok := defs[name]
		if !ok || def.Description != in.Description || in.Type != "string" || def.Default != nil && *def.Default != in.Default || def.Default == nil && in.Default != "" {
			t.Errorf("input %s: %+v, the action has %+v", name, in, def)
		}
	}
	// All that the two actions take comes from the caller, except the token, what
	// the rounds are and where the plan stands between the jobs.
	for _, id := range []string{"plan", "apply"} {
		steps := w.Jobs[id+"-1"].Steps
		with := steps[len(steps)-1].With
		c, err := parseAction(read(t, "actions", "maintenance-"+id, "action.yml"))
		if err != nil {
			t.Fatal(err)
		}
		for name := range c.Inputs {
			want := "${{ inputs." + name + " }}"
			switch name {
			case "token":
				want = map[string]string{"plan": "${{ secrets.read-token || github.token }}", "apply": "${{ secrets.token || github.token }}"}[id]
			case "round":
				want = "${{ env.ROUND }}"
			case "plan", "artifact":
				want = ""
			}
			if with[name] != want {
				t.Errorf("%s-1: input %s is %q, want %q", id, name, with[name], want)
			}
		}
	}
}

// TestNoSecretOfAJobThatWritesReachesAnother looks through the reusable workflows: a
// permission can be given up for a job, a secret token brings its own along.
func TestNoSecretOfAJobThatWritesReachesAnother(t *testing.T) {
	secret := regexp.MustCompile(`secrets\.([A-Za-z_-]+)`)
	seen := 0
	for _, name := range []string{"agent-with-ledger.yml", "agent-with-thread.yml", "ledger-maintenance.yml"} {
		var w struct {
			Jobs map[string]map[string]any `yaml:"jobs"`
		}
		if err := yaml.Unmarshal([]byte(read(t, ".github", "workflows", name)), &w); err != nil {
			t.Fatal(err)
		}
		of := map[bool]map[string]string{true: {}, false: {}} // whether the job writes; secret; job
		for id, job := range w.Jobs {
			permissions, err := yaml.Marshal(job["permissions"])
			if err != nil {
				t.Fatal(err)
			}
			steps, err := yaml.Marshal(job["steps"])
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range secret.FindAllStringSubmatch(string(steps), -1) {
				of[strings.Contains(string(permissions), ": write")][m[1]] = id
			}
		}
		for name := range of[true] {
			seen++
			// What stages a thread's records is trusted, and reads as the same account.
			if id := of[false][name]; id != "" && id != "context" {
				t.Errorf("the secret %s of job %s reaches job %s", name, of[true][name], id)
			}
		}
	}
	if seen < 4 {
		t.Errorf("%d secrets of jobs that write, want at least 4", seen)
	}
}

// TestCIReadsItsPlatformsFromTheMatrix keeps a second list from growing.
func TestCIReadsItsPlatformsFromTheMatrix(t *testing.T) {
	text := read(t, ".github/workflows/ci.yml")
	if !strings.Contains(text, "action-matrix.yml") || !strings.Contains(text, "fromJSON(needs.platforms.outputs.list)") || !strings.Contains(text, ".ci/run") {
		t.Error("ci.yml does not run .ci/run, or does not read the platforms from action-matrix.yml")
	}
	for _, p := range theMatrix().Platforms {
		if strings.Contains(text, p.Arch) {
			t.Errorf("ci.yml names %s itself", p.Arch)
		}
	}
}
