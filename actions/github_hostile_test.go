package actions_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/github/githubtest"
)

// trap is a machine whose git was prepared by an attacker: each thing that git would
// run leaves a file, and what it would fetch comes from another server.
type trap struct {
	dir   string // of what was left
	env   []string
	other *githubtest.Server
}

// setTrap prepares the configuration of the user, the system, the environment and
// the workspace.
func (h *hosted) setTrap(t *testing.T) *trap {
	t.Helper()
	dir := t.TempDir()
	tr := &trap{dir: filepath.Join(dir, "fired"), other: githubtest.New(t, githubtest.Options{})}
	tr.other.Repo(octo)
	for _, folder := range []string{"fired", "hooks", "exec", "template/hooks"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	fires := func(name string) string {
		file := filepath.Join(dir, "exec", name)
		write(t, file, "#!/bin/sh\ntouch '"+filepath.Join(tr.dir, name)+"'\nexit 1\n")
		if err := os.Chmod(file, 0o755); err != nil {
			t.Fatal(err)
		}
		n++
		return file
	}
	for _, hook := range []string{"pre-push", "reference-transaction", "post-checkout", "pre-commit", "post-commit", "pre-receive", "update"} {
		for _, folder := range []string{"hooks", "template/hooks"} {
			if err := os.Symlink(fires("hook-"+hook), filepath.Join(dir, folder, hook)); err != nil {
				t.Fatal(err)
			}
		}
	}
	config := func(from string) string {
		return "[url \"" + tr.other.URL + "/" + "\"]\n\tinsteadOf = " + h.consumer.server +
			"\n\tpushInsteadOf = " + h.consumer.server +
			"\n[credential]\n\thelper = !" + fires(from+"-credential") +
			"\n[core]\n\tsshCommand = " + fires(from+"-ssh") + "\n\thooksPath = " + filepath.Join(dir, "hooks") +
			"\n\tfsmonitor = " + fires(from+"-fsmonitor") + "\n\taskPass = " + fires(from+"-askpass") + "\n\tgitProxy = " + fires(from+"-proxy") +
			"\n\tpager = " + fires(from+"-pager") +
			"\n[gpg]\n\tprogram = " + fires(from+"-gpg") + "\n[commit]\n\tgpgSign = true\n[push]\n\tgpgSign = if-asked" +
			"\n[uploadpack]\n\tpackObjectsHook = " + fires(from+"-pack-objects") +
			"\n[http \"" + h.consumer.server + "\"]\n\tproxy = " + tr.other.URL + "\n[http]\n\textraHeader = X-Trap: " + from + "\n\tsslVerify = false\n\tfollowRedirects = true" +
			"\n[protocol]\n\tallow = always\n[include]\n\tpath = " + filepath.Join(dir, "included") + "\n"
	}
	write(t, filepath.Join(dir, "included"), "[remote \"origin\"]\n\tuploadpack = "+fires("included-uploadpack")+"\n\treceivepack = "+fires("included-receivepack")+"\n[alias]\n\tupload-pack = !"+fires("included-alias")+"\n")
	write(t, filepath.Join(h.home, ".gitconfig"), config("user"))
	write(t, filepath.Join(dir, "system"), config("system"))
	write(t, filepath.Join(dir, "global"), config("global"))
	h.commit(t)
	local, err := os.OpenFile(filepath.Join(h.dir, ".git", "config"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := local.WriteString(config("workspace")); err != nil {
		t.Fatal(err)
	}
	if err := local.Close(); err != nil {
		t.Fatal(err)
	}
	tr.env = []string{
		"GIT_CONFIG_SYSTEM=" + filepath.Join(dir, "system"), "GIT_CONFIG_GLOBAL=" + filepath.Join(dir, "global"),
		"GIT_CONFIG_COUNT=3",
		"GIT_CONFIG_KEY_0=url." + tr.other.URL + "/.insteadOf", "GIT_CONFIG_VALUE_0=" + h.consumer.server,
		"GIT_CONFIG_KEY_1=core.hooksPath", "GIT_CONFIG_VALUE_1=" + filepath.Join(dir, "hooks"),
		"GIT_CONFIG_KEY_2=credential.helper", "GIT_CONFIG_VALUE_2=!" + fires("environment-credential"),
		"GIT_CONFIG_PARAMETERS='credential.helper=!" + fires("parameters-credential") + "'",
		"GIT_SSH_COMMAND=" + fires("environment-ssh"), "GIT_SSH=" + fires("environment-ssh2"),
		"GIT_ASKPASS=" + fires("environment-askpass"), "SSH_ASKPASS=" + fires("environment-askpass2"),
		"GIT_PROXY_COMMAND=" + fires("environment-proxy"), "GIT_EXTERNAL_DIFF=" + fires("environment-diff"),
		"GIT_TEMPLATE_DIR=" + filepath.Join(dir, "template"), "GIT_PAGER=" + fires("environment-pager"), "GIT_EDITOR=" + fires("environment-editor"),
		"GIT_TRACE=" + filepath.Join(tr.dir, "trace"), "GIT_TRACE_CURL=" + filepath.Join(tr.dir, "trace-curl"),
		"GIT_SSL_NO_VERIFY=1", "GIT_ALLOW_PROTOCOL=file:https:ssh:ext",
		// Objects and references of another place.
		"GIT_DIR=" + filepath.Join(dir, "nowhere"), "GIT_OBJECT_DIRECTORY=" + filepath.Join(dir, "nowhere"), "GIT_NAMESPACE=evil",
	}
	if n < 40 {
		t.Fatalf("only %d traps", n)
	}
	return tr
}

// fired are the traps that something stepped on.
func (tr *trap) fired(t *testing.T) []string { t.Helper(); return entries(t, tr.dir) }

// TestAHostileGitConfigurationNeverFires runs the roles where git itself would run
// what it was told, and asks other servers: over HTTPS, and on a path, where the
// roles start git.
func TestAHostileGitConfigurationNeverFires(t *testing.T) {
	h := newHosted(t)
	base := h.seed(t, "ledgers/memory", tiny(t, 5, 1000))
	tr := h.setTrap(t)

	// The control: git steps on them.
	control := func(args ...string) {
		cmd := exec.Command("git", args...)
		cmd.Dir = h.dir
		cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + h.home}, slices.DeleteFunc(slices.Clone(tr.env), func(v string) bool {
			return strings.HasPrefix(v, "GIT_DIR=") || strings.HasPrefix(v, "GIT_OBJECT_DIRECTORY=")
		})...)
		_ = cmd.Run()
	}
	control("fetch", h.consumer.server+octo)
	control("-c", "user.name=x", "-c", "user.email=x@example.org", "commit", "--allow-empty", "-m", "x")
	control("fetch", "ssh://git@127.0.0.1:1/x")
	if got := tr.fired(t); !slices.Contains(got, "trace") || len(got) < 5 || !strings.Contains(strings.Join(got, " "), "hook-") || len(tr.other.Requests()) == 0 {
		t.Fatalf("the control left only %v, and %d requests", got, len(tr.other.Requests()))
	}
	for _, name := range tr.fired(t) {
		if err := os.Remove(filepath.Join(tr.dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	asked := len(tr.other.Requests())

	var env []string
	for _, v := range tr.env {
		env = append(env, "--env", v)
	}
	for name, way := range map[string][]string{
		"over the API": nil,
		"over git":     nil,
		"on a path":    {"--var", "PERSIST_REMOTE=" + h.remote},
	} {
		publish := map[string]string{"over git": "git"}[name]
		if publish == "" {
			publish = "auto"
		}
		r := h.persistBy(t, publish, append(slices.Clone(env), way...)...)
		if r.code != 0 || r.outputs("persist", "persist")["persisted"] != "true" {
			t.Fatalf("%s: exit %d, jobs %v\n%s", name, r.code, r.jobs(), r.readable())
		}
		if got := tr.fired(t); len(got) > 0 {
			t.Errorf("%s: fired: %v", name, got)
		}
	}
	r := h.act(t, "github.yml", "{}", env...)
	if r.code != 0 || r.outputs("apply", "apply")["status"] != "applied" {
		t.Fatalf("exit %d, jobs %v\n%s", r.code, r.jobs(), r.readable())
	}
	if got := tr.fired(t); len(got) > 0 {
		t.Errorf("fired: %v", got)
	}
	if n := len(tr.other.Requests()); n > asked {
		t.Errorf("the other server was asked: %+v", tr.other.Requests()[asked:])
	}
	for _, q := range h.server.Requests() {
		if q.Header.Get("X-Trap") != "" {
			t.Errorf("%s %s carries a header of the configuration", q.Method, q.Path)
		}
	}
	if list := command(t, h.remote, "git", "log", "--format=%H", "ledgers/memory"); !strings.Contains(list, base) || strings.Count(list, "\n") != 6 {
		t.Errorf("the branch is\n%s", list)
	}
	h.ledger(t, "verify")
}
