package memory

import (
	"fmt"
	"strings"
	"testing"
)

func TestPolicies(t *testing.T) {
	entry := func(lines ...string) string {
		return "version: memory-policy/v1\nprincipals:\n  - " + strings.Join(lines, "\n    ") + "\n"
	}
	agent := []string{"workflow: .github/workflows/a.yml", "actor: a", "scopes: [memory.read]", "projects: [demo]"}
	with := func(lines ...string) string { return entry(append(append([]string{}, agent...), lines...)...) }
	for name, test := range map[string]struct{ text, want string }{
		"an agent":                       {entry(agent...), ""},
		"a user":                         {entry("user: 5", "actor: a", "scopes: [memory.review, memory.write]", "projects: [demo]"), ""},
		"nobody":                         {"version: memory-policy/v1\n", ""},
		"an empty file":                  {"", "not one YAML document"},
		"no version":                     {"principals: []\n", "needs version"},
		"another version":                {"version: memory-policy/v2\n", "needs version"},
		"an unknown key":                 {"version: memory-policy/v1\nadmins: []\n", "unknown"},
		"an unknown key of a principal":  {with("admin: true"), "unknown"},
		"a key twice":                    {"version: memory-policy/v1\nread-only: true\nread-only: false\n", ""},
		"two documents":                  {"version: memory-policy/v1\n---\nversion: memory-policy/v1\n", "more than one"},
		"an alias":                       {"version: &v memory-policy/v1\n", "anchor"},
		"a tag":                          {"version: !!str memory-policy/v1\n", "tag"},
		"read-only as text":              {"version: memory-policy/v1\nread-only: \"yes\"\n", "mistyped"},
		"read-only without a value":      {"version: memory-policy/v1\nread-only:\nprincipals: []\n", "without a value on line 2"},
		"read-only as null":              {"version: memory-policy/v1\nread-only: ~\n", "without a value"},
		"scopes without a value":         {with("scopes:"), "without a value"},
		"a merge key":                    {with("<<: {topics: [t]}"), "merge key"},
		"a user by name":                 {entry("user: ada", "actor: a"), "mistyped"},
		"user 0":                         {entry("user: 0", "actor: a"), "numeric"},
		"a negative user":                {entry("user: -5", "actor: a"), "mistyped"},
		"neither user nor workflow":      {entry("actor: a"), "either"},
		"both user and workflow":         {with("user: 5"), "either"},
		"a workflow elsewhere":           {entry("workflow: workflows/a.yml", "actor: a"), "numeric user id, or"},
		"a workflow up the tree":         {entry("workflow: .github/workflows/../a.yml", "actor: a"), "numeric user id, or"},
		"no actor":                       {entry("workflow: .github/workflows/a.yml"), "needs an actor"},
		"a bad actor":                    {entry("workflow: .github/workflows/a.yml", "actor: a/b"), "needs an actor"},
		"a scope that there is not":      {entry("workflow: .github/workflows/a.yml", "actor: a", "scopes: [memory.admin]"), "unknown scope"},
		"a workflow that reviews":        {entry("workflow: .github/workflows/a.yml", "actor: a", "scopes: [memory.review]"), "give it to a user"},
		"a workflow that merges":         {entry("workflow: .github/workflows/a.yml", "actor: a", "scopes: [memory.merge]"), "give it to a user"},
		"a workflow that operates":       {entry("workflow: .github/workflows/a.yml", "actor: a", "scopes: [memory.write]"), "give it to a user"},
		"a bad project":                  {entry("workflow: .github/workflows/a.yml", "actor: a", "projects: ['a b']"), "bad project"},
		"two entries for one":            {entry(agent...) + "  - " + strings.Join(agent, "\n    ") + "\n", "two entries"},
		"a user's actor for a workflow":  {entry(agent...) + "  - user: 5\n    actor: a\n", "is a user's"},
		"an actor in two workflows":      {entry(agent...) + "  - workflow: .github/workflows/b.yml\n    actor: a\n", ""},
		"an actor of two users":          {entry("user: 5", "actor: a") + "  - user: 6\n    actor: a\n", "is a user's"},
		"a file over the bound":          {"version: memory-policy/v1\n#" + long(MaxPolicyBytes), "at most"},
		"more principals than the bound": {"version: memory-policy/v1\nprincipals:\n" + many(MaxPrincipals+1), "at most"},
		"more projects than the bound":   {entry("workflow: .github/workflows/a.yml", "actor: a", "projects: ["+strings.Repeat("p,", MaxPolicyList+1)+"]"), "over 64"},
		"YAML that is none":              {"version: [", "not one YAML document"},
	} {
		_, err := ParsePolicy([]byte(test.text))
		if name == "a key twice" {
			if err == nil {
				t.Error("a key twice passes")
			}
			continue
		}
		if (err == nil) != (test.want == "") || err != nil && (!strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

func many(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "  - user: %d\n    actor: a%d\n", i+1, i)
	}
	return b.String()
}

func TestNoEntryNoAdmission(t *testing.T) {
	policy, err := ParsePolicy([]byte(policyText))
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"", "99", "011", "ada", ".github/workflows/ONE.yml", ".github/workflows/one.yaml", "github-actions[bot]"} {
		if _, fault := policy.Principal(id); fault == nil || fault.Reason != ReasonPolicy {
			t.Errorf("%q has an entry", id)
		}
	}
	var none *Policy
	if _, fault := none.Writer(one); fault == nil {
		t.Error("no policy admits")
	}
	if p, _ := policy.Principal(two); !p.Has(ScopeRead) || p.Has(ScopeReview) {
		t.Error("memory.search is not memory.read")
	}
}
