package actions_test

import (
	"maps"
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
				want = "${{ secrets.token || github.token }}"
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
