package actions_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/repo-memory/ledger/pkg/branch"
	"github.com/repo-memory/ledger/pkg/ledger"
	"github.com/repo-memory/ledger/pkg/memory"
	"github.com/repo-memory/ledger/pkg/memoryrun"
	"github.com/repo-memory/ledger/pkg/publish"
)

// The people and agents of the tests, and their policy.
const (
	ada      = "11" // reviews and merges
	ben      = "12" // reviews, merges, and writes
	agentOne = ".github/workflows/one.yml"
	agentTwo = ".github/workflows/two.yml"

	mergeKey  = "a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1"
	otherKey  = "b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2"
	mergeKeys = "2026=" + mergeKey + ",2025=" + otherKey

	memoryPolicy = `version: memory-policy/v1
principals:
  - {workflow: .github/workflows/one.yml, actor: one, scopes: [memory.read, memory.branch, memory.commit, memory.propose], projects: [demo, other]}
  - {workflow: .github/workflows/two.yml, actor: two, scopes: [memory.read, memory.branch, memory.commit, memory.propose], projects: [demo]}
  - {user: 11, actor: ada, scopes: [memory.read, memory.review, memory.merge], projects: [demo]}
  - {user: 12, actor: ben, scopes: [memory.read, memory.review, memory.merge, memory.write, memory.propose], projects: [demo, other]}
  - {user: 13, actor: eve, scopes: [memory.read], projects: [demo]}
`
)

var mergeBinding = memory.Binding{Server: "github.com", Repository: "4242", Ledger: "memory", Branch: "ledgers/memory"}

// memoryRig is a remote with reviewed memory, and a folder for each run.
type memoryRig struct {
	dir, remote, policy string
	policyRead          *memory.Policy
	runs                int
}

func newMemoryRig(t testing.TB) *memoryRig {
	t.Helper()
	dir := t.TempDir()
	m := &memoryRig{dir: dir, remote: filepath.Join(dir, "remote.git"), policy: filepath.Join(dir, "policy.yml")}
	command(t, dir, "git", "init", "-q", "--bare", "-b", "main", m.remote)
	write(t, m.policy, memoryPolicy)
	var err error
	if m.policyRead, err = memoryrun.ReadPolicy(m.policy); err != nil {
		t.Fatal(err)
	}
	return m
}

// trial is one run of a binary.
type trial struct {
	code    int
	printed string
	summary string
	outputs map[string]string
}

// job is the environment of a job whose actor is a user; more of the same name wins.
func (m *memoryRig) job(t testing.TB, folder, user string, more ...string) []string {
	t.Helper()
	write(t, filepath.Join(folder, "event.json"), `{"repository":{"default_branch":"main"}}`)
	env := map[string]string{
		"PATH": os.Getenv("PATH"), "HOME": folder, "TMPDIR": os.TempDir(), "RUNNER_TEMP": folder, "GITHUB_ACTIONS": "true",
		"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": "octo/consumer", "GITHUB_REPOSITORY_ID": "4242",
		"GITHUB_ACTOR_ID": user, "GITHUB_ACTOR": "user-" + user, "GITHUB_TRIGGERING_ACTOR": "user-" + user, "GITHUB_RUN_ID": "42", "GITHUB_RUN_ATTEMPT": "1",
		"GITHUB_WORKFLOW_REF": "octo/consumer/.github/workflows/memory-review.yml@refs/heads/main", "GITHUB_REF": "refs/heads/main",
		"GITHUB_EVENT_NAME": "workflow_dispatch", "GITHUB_EVENT_PATH": filepath.Join(folder, "event.json"),
		"GITHUB_OUTPUT": filepath.Join(folder, "output"), "GITHUB_STEP_SUMMARY": filepath.Join(folder, "summary"),
		"INPUT_REMOTE": m.remote, "INPUT_MEMORY_POLICY": m.policy, "INPUT_MEMORY_PROJECT": "demo",
	}
	for _, entry := range more {
		name, value, _ := strings.Cut(entry, "=")
		env[name] = value
	}
	var list []string
	for name, value := range env {
		list = append(list, name+"="+value)
	}
	return list
}

// folder returns a new folder for a run.
func (m *memoryRig) folder(t testing.TB) string {
	t.Helper()
	m.runs++
	dir := filepath.Join(m.dir, fmt.Sprintf("run-%d", m.runs))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// start runs a binary in a job of its own.
func start(t testing.TB, folder, role string, env []string) trial {
	t.Helper()
	cmd := exec.Command(binary(t, role))
	cmd.Dir, cmd.Env = folder, env
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	r := trial{code: cmd.ProcessState.ExitCode(), printed: string(out), outputs: map[string]string{}}
	summary, _ := os.ReadFile(filepath.Join(folder, "summary"))
	r.summary = string(summary)
	outputs, err := os.ReadFile(filepath.Join(folder, "output"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(outputs)) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		r.outputs[name] = value
	}
	for _, secret := range []string{mergeKey, otherKey} {
		if strings.Contains(r.printed+r.summary+string(outputs), secret) {
			t.Errorf("%s shows a key", role)
		}
	}
	return r
}

// review runs memory-review with inputs such as "operation=show".
func (m *memoryRig) review(t testing.TB, user, proposal string, inputs ...string) trial {
	t.Helper()
	folder := m.folder(t)
	env := []string{"INPUT_PROPOSAL=" + proposal, "INPUT_MERGE_KEYS=" + mergeKeys}
	for _, in := range inputs {
		name, value, _ := strings.Cut(in, "=")
		if strings.ToUpper(name) != name { // an input, not a variable
			in = "INPUT_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_")) + "=" + value
		}
		env = append(env, in)
	}
	return start(t, folder, "memory-review", m.job(t, folder, user, env...))
}

// shown shows a proposal, prepared, and fails unless that went well.
func (m *memoryRig) shown(t testing.TB, user, proposal string) trial {
	t.Helper()
	r := m.review(t, user, proposal, "operation=show", "prepare=true")
	if r.code != 0 {
		t.Fatalf("show: exit %d\n%s", r.code, r.printed)
	}
	return r
}

// approved takes a proposal through review and returns the file of its envelope.
func (m *memoryRig) approved(t testing.TB, user, proposal string, inputs ...string) string {
	t.Helper()
	show := m.shown(t, user, proposal)
	r := m.review(t, user, proposal, append([]string{"operation=approve", "state-digest=" + show.outputs["state-digest"], "conflicts=" + show.outputs["acknowledge"]}, inputs...)...)
	if r.code != 0 || r.outputs["envelope"] == "" || r.outputs["proposal-status"] != "approved" {
		t.Fatalf("approve: exit %d, outputs %v\n%s", r.code, r.outputs, r.printed)
	}
	return r.outputs["envelope"]
}

// merge runs memory-merge.
func (m *memoryRig) merge(t testing.TB, user, envelope string, env ...string) trial {
	t.Helper()
	folder := m.folder(t)
	return start(t, folder, "memory-merge", m.job(t, folder, user, append([]string{"INPUT_ENVELOPE=" + envelope, "INPUT_MERGE_KEYS=" + mergeKeys}, env...)...))
}

// land takes a proposal through review and merge.
func (m *memoryRig) land(t testing.TB, user, proposal string) {
	t.Helper()
	if r := m.merge(t, user, m.approved(t, user, proposal)); r.code != 0 || r.outputs["status"] != "merged" {
		t.Fatalf("merge: exit %d, outputs %v\n%s", r.code, r.outputs, r.printed)
	}
}

// remoteOf is the remote as the packages name it.
func (m *memoryRig) remoteOf(t testing.TB) branch.Remote {
	t.Helper()
	remote, err := branch.ParseRemote(m.remote, "", "")
	if err != nil {
		t.Fatal(err)
	}
	return remote
}

// state folds the remote.
func (m *memoryRig) state(t testing.TB) *memory.State {
	t.Helper()
	snap, err := branch.Read(t.Context(), m.remoteOf(t), "ledgers/memory", branch.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return memoryrun.Fold(snap, ledger.DefaultLimits())
}

// begin starts the project.
func (m *memoryRig) begin(t testing.TB, project string) {
	t.Helper()
	m.ledger(t, "memory", "init", "--project", project, "--user", ben, "--policy", m.policy)
}

// ledger runs the operator's command line on the remote.
func (m *memoryRig) ledger(t testing.TB, args ...string) string {
	t.Helper()
	name := 1
	if args[0] == "memory" {
		name = 2
	}
	return command(t, m.dir, binary(t, "ledger"), slices.Insert(slices.Clone(args), name, "--remote", m.remote)...)
}

// submit publishes what a principal asks for, without a process of its own.
func (m *memoryRig) submit(t testing.TB, principal string, ask func(*memory.State, memory.Agent) (memory.Request, error)) (made memory.Request, err error) {
	entry, refusal := m.policyRead.Principal(principal)
	if refusal != nil {
		t.Fatal(refusal)
	}
	job := memoryrun.Job{Role: "test", Ledger: "memory", Limits: ledger.DefaultLimits(), Policy: m.policyRead, Principal: entry, Now: time.Now()}
	_, err = publish.Update(t.Context(), m.remoteOf(t), "ledgers/memory", publish.Options{}, func(snap ledger.Snapshot) (change ledger.Change, err error) {
		made, change, err = job.Submit(snap, "test", ask)
		return change, err
	})
	return made, err
}

// fact is an op that adds a fact.
func fact(t testing.TB, key, content string) memory.Op {
	t.Helper()
	return memoryOp(t, memory.AddMemory, "", fmt.Sprintf(`{"kind":"fact","fact_key":%q,"content":%q}`, key, content))
}

func memoryOp(t testing.TB, typ memory.OpType, target, payload string) memory.Op {
	t.Helper()
	op, refusal := memory.NewOp(typ, target, "", []byte(payload))
	if refusal != nil {
		t.Fatal(refusal)
	}
	return op
}

// committed commits ops to a session ref that is new, at main's head.
func (m *memoryRig) committed(t testing.TB, principal, session string, ops ...memory.Op) memory.Name {
	t.Helper()
	entry, _ := m.policyRead.Principal(principal)
	made, err := m.submit(t, principal, func(s *memory.State, a memory.Agent) (memory.Request, error) {
		main, _ := s.Ref("demo", memory.SharedMain)
		return s.Commit(a, memory.Commit{Project: "demo", Ref: "refs/sessions/" + entry.Actor + "/" + session, Create: true, Parents: []memory.Name{main.Head},
			Message: "work", Key: "commit-" + session, Ops: ops})
	})
	if err != nil {
		t.Fatal(err)
	}
	return made.Name
}

// proposed proposes a head for main.
func (m *memoryRig) proposed(t testing.TB, principal, key string, head memory.Name, selected ...memory.Selection) string {
	t.Helper()
	made, err := m.submit(t, principal, func(s *memory.State, a memory.Agent) (memory.Request, error) {
		q := memory.Proposal{Project: "demo", Head: head, Message: "please", Key: "propose-" + key, Selected: selected}
		if len(selected) > 0 {
			q.Kind = memory.ChangesetProposal
		}
		return s.Propose(a, q)
	})
	if err != nil {
		t.Fatal(err)
	}
	return made.ID
}

// audited checks the remote with the command line, signatures included.
func (m *memoryRig) audited(t testing.TB) {
	t.Helper()
	for _, name := range []string{"verify", "reconcile"} {
		cmd := exec.Command(binary(t, "ledger"), "memory", name, "--remote", m.remote, "--repository-id", "4242")
		cmd.Env = append(os.Environ(), memoryrun.KeysVariable+"="+mergeKeys)
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "every signature was checked") {
			t.Errorf("ledger memory %s: %v\n%s", name, err, out)
		}
	}
}

// want fails the test for each output that is not what it should be.
func (r trial) want(t *testing.T, code int, printed string, outputs map[string]string) {
	t.Helper()
	if r.code != code || !strings.Contains(r.printed, printed) {
		t.Errorf("exit %d, want %d and %q:\n%s", r.code, code, printed, r.printed)
	}
	for name, value := range maps.All(outputs) {
		if r.outputs[name] != value {
			t.Errorf("output %s is %q, want %q", name, r.outputs[name], value)
		}
	}
}
