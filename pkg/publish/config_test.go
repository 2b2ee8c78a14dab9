package publish

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/repo-memory/ledger/pkg/branch"
)

// TestNoConfigurationOfTheUserHasAnEffect plants everything that a hostile or
// merely unusual account could hold, and first shows that plain git falls for it.
func TestNoConfigurationOfTheUserHasAnEffect(t *testing.T) {
	r := newRepo(t)
	base := r.commit(testRef, map[string]string{"a": "a"})
	s := serve(t, r)
	ask := serve(t, r)
	ask.wrap = func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		w.WriteHeader(http.StatusUnauthorized)
	}

	home := t.TempDir()
	fired := filepath.Join(home, "fired")
	trap := filepath.Join(home, "trap")
	hooks := filepath.Join(home, "hooks")
	decoy := filepath.Join(home, "decoy.git")
	r.run("", "init", "-q", "--bare", "--initial-branch=main", decoy)
	(&repo{t: t, dir: decoy}).commit("refs/heads/main", map[string]string{"decoy": "x"})
	script := "#!/bin/sh\necho \"$0 $*\" >> " + fired + "\n[ $# -gt 1 ] && exec \"$@\"\nexit 0\n"
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(trap, []byte(script), 0o755))
	must(os.Mkdir(hooks, 0o755))
	for _, h := range []string{"pre-receive", "update", "post-receive", "post-update", "reference-transaction", "pre-push"} {
		must(os.WriteFile(filepath.Join(hooks, h), []byte("#!/bin/sh\necho hook >> "+fired+"\n"), 0o755))
	}
	config := fmt.Sprintf(`[url %q]
	insteadOf = %s
	insteadOf = file://%s
	insteadOf = %s
[credential]
	helper = %s
[core]
	hooksPath = %s
	fsmonitor = %s
	askPass = %s
	sshCommand = %s
	attributesFile = %s/attributes
[uploadpack]
	packObjectsHook = %s
[receive]
	denyCurrentBranch = refuse
	fsckObjects = true
	maxInputSize = 1
[http]
	proxy = http://127.0.0.1:1
	extraHeader = "X-Hostile: 1"
[transfer]
	hideRefs = refs/heads/ledgers
[user]
	name = hostile
[commit]
	gpgSign = true
[init]
	templateDir = %s
`, decoy, r.dir, r.dir, s.URL, trap, hooks, trap, trap, trap, home, trap, hooks)
	must(os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(config), 0o644))
	must(os.MkdirAll(filepath.Join(home, "xdg", "git"), 0o755))
	must(os.WriteFile(filepath.Join(home, "xdg", "git", "config"), []byte(config), 0o644))
	must(os.WriteFile(filepath.Join(home, "attributes"), []byte("* ident text eol=crlf\n"), 0o644))
	for name, value := range map[string]string{
		"HOME": home, "USERPROFILE": home, "XDG_CONFIG_HOME": filepath.Join(home, "xdg"),
		"GIT_CONFIG_GLOBAL": filepath.Join(home, ".gitconfig"), "GIT_CONFIG_SYSTEM": filepath.Join(home, ".gitconfig"),
		"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "uploadpack.packObjectsHook", "GIT_CONFIG_VALUE_0": trap,
		"GIT_CONFIG_PARAMETERS": "'core.hookspath=" + hooks + "'",
		"GIT_DIR":               decoy, "GIT_NAMESPACE": "decoy", "GIT_OBJECT_DIRECTORY": filepath.Join(decoy, "objects"),
		"GIT_ASKPASS": trap, "SSH_ASKPASS": trap, "GIT_SSH_COMMAND": trap, "GIT_PROXY_COMMAND": trap,
		"GIT_TRACE": filepath.Join(home, "trace"), "GIT_TRACE_PACKET": filepath.Join(home, "trace"), "GIT_PROTOCOL": "version=2",
		"GIT_AUTHOR_NAME": "hostile", "GIT_COMMITTER_EMAIL": "hostile@x.invalid", "GIT_TEMPLATE_DIR": hooks,
	} {
		t.Setenv(name, value)
	}

	control, clean, err := branch.Command(context.Background(), "clone", "-q", "--bare", "file://"+r.dir+"/.", filepath.Join(home, "clone"))
	must(err)
	defer clean()
	control.Env = append(slices.DeleteFunc(control.Env, func(e string) bool { return strings.HasPrefix(e, "GIT_CONFIG") }), "HOME="+home)
	control.Run()
	if _, err := os.Stat(fired); err != nil {
		t.Fatal("the traps do not work, so this test would show nothing")
	}
	must(os.Remove(fired))

	opts := quick(Options{Base: base})
	for name, remote := range map[string]branch.Remote{"path": r.remote(), "https": s.remote(t, "")} {
		path := "ledger/" + name + ".jsonl"
		if _, err := Update(context.Background(), remote, testName, opts, add(path, "$Id$\n")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got, err := branch.Read(context.Background(), remote, testName, branch.Limits{})
		if err != nil || string(got.Files[path]) != "$Id$\n" {
			t.Errorf("%s: %q, %v", name, got.Files[path], err)
		}
		if ok, err := branch.Contains(context.Background(), remote, testName, base, branch.Limits{}); !ok || err != nil {
			t.Errorf("%s: contains: %v, %v", name, ok, err)
		}
		if err := branch.History(context.Background(), remote, testName, "", branch.Limits{}, func(branch.Commit) error { return nil }); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := branch.Read(context.Background(), ask.remote(t, ""), testName, branch.Limits{}); !errors.Is(err, ErrUnauthorized) {
		t.Errorf("a server that asks for a password: %v", err)
	}
	for _, trace := range []string{fired, filepath.Join(home, "trace")} {
		if text, err := os.ReadFile(trace); err == nil {
			t.Errorf("something fired: %s", text)
		}
	}
	for _, q := range s.requests {
		if q.Header.Get("X-Hostile") != "" || q.Header.Get("Git-Protocol") != "" {
			t.Errorf("headers %v", q.Header)
		}
	}
	if authors := r.git("log", "--format=%an %ce", base+".."+testRef); strings.Contains(authors, "hostile") {
		t.Errorf("authors %s", authors)
	}
}
