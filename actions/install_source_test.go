package actions_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const noRelease = "this version of the action has no release to take persist from, and where a token is nothing is built unasked: use a release, give a folder of binaries as bin, or set allow-source-build to true"

// program puts a program that is a shell script into a new folder, which it
// returns.
func program(t *testing.T, script string, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		write(t, filepath.Join(dir, name), "#!/bin/sh\n"+script+"\n")
		if err := os.Chmod(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// scriptedGo is a go that says what it was given, and builds that script.
const scriptedGo = `env | sort | sed "s/^/given /"; echo "args $*"
while [ "$1" != -o ]; do shift; done
printf '%s\n' '#!/bin/sh' 'echo "ran $0 $*"' > "$2"; chmod +x "$2"`

// TestASourceBuildGetsNothingOfTheJobButProxiesAndModules lists all that Go sees.
func TestASourceBuildGetsNothingOfTheJobButProxiesAndModules(t *testing.T) {
	r := aRunner(t)
	r.unreleased(t)
	r.inputs["allow-source-build"], r.inputs["token"] = "true", token
	modules := filepath.Join(t.TempDir(), "mod")
	if err := os.MkdirAll(filepath.Join(modules, "cache", "download"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.job = map[string]string{"PATH": "relative:" + program(t, scriptedGo, "go"), "HOME": "/root", "https_proxy": "http://proxy.example:3128", "GOPROXY": "https://goproxy.example",
		"GOFLAGS": "-toolexec=/bin/false", "GOENV": "/tmp/evil", "GOWORK": "/tmp/go.work", "GOCACHE": "/tmp/poisoned", "GOMODCACHE": modules, "GOPATH": "/tmp/poisoned",
		"GOTOOLCHAIN": "path", "GONOSUMDB": "*", "GOINSECURE": "*", "GOROOT": "/tmp/evil", "CC": "/tmp/evil", "CGO_ENABLED": "1", "GOOS": "plan9", "name": "x", "private": "y", "ACTIONS_RUNTIME_TOKEN": token}
	out, code := r.run(t, "persist")
	var given []string
	private := ""
	for line := range strings.Lines(out) {
		if rest, ok := strings.CutPrefix(line, "ran "); ok {
			private = strings.TrimSuffix(strings.TrimSpace(rest), "/persist")
		}
	}
	for line := range strings.Lines(strings.ReplaceAll(out, private, "PRIVATE")) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "given "); ok && !strings.HasPrefix(rest, "PWD=") && !strings.HasPrefix(rest, "_=") && !strings.HasPrefix(rest, "SHLVL=") {
			given = append(given, rest)
		}
	}
	want := []string{"CGO_ENABLED=0", "GOCACHE=PRIVATE/cache", "GOENV=off", "GOFLAGS=-mod=readonly -modcacherw", "GOMODCACHE=PRIVATE/modules", "GOPATH=PRIVATE/go",
		"GOPROXY=file://" + modules + "/cache/download,https://goproxy.example", "GOSUMDB=off", "GOTELEMETRY=off", "GOTOOLCHAIN=local", "GOVCS=*:off", "GOWORK=off",
		"HOME=PRIVATE/home", "PATH=/usr/bin:/bin", "TEMP=PRIVATE", "TMP=PRIVATE", "TMPDIR=PRIVATE", "https_proxy=http://proxy.example:3128"}
	if code != 0 || private == "" || strings.Join(given, "\n") != strings.Join(want, "\n") {
		t.Errorf("%d: Go was given\n%s\nwant\n%s\n%s", code, strings.Join(given, "\n"), strings.Join(want, "\n"), out)
	}
	if want := "args build -C " + r.dir + "/actions/persist/../.. -trimpath -buildvcs=false -ldflags=-s -w -o " + private + "/persist ./cmd/persist\n"; !strings.Contains(out, want) {
		t.Errorf("it ran %q, want %q", out, want)
	}
	entries, err := os.ReadDir(private)
	if err != nil || len(entries) != 1 {
		t.Errorf("the build left %v, %v", entries, err)
	}
}

func TestOnlyRolesWithoutATokenAreBuiltUnasked(t *testing.T) {
	for _, row := range theMatrix().Actions {
		r := aRunner(t)
		r.unreleased(t)
		r.job["PATH"] = program(t, scriptedGo, "go")
		r.job["INPUT_ALLOW_SOURCE_BUILD"] = "true" // of an earlier step
		if len(row.Permissions) == 0 {
			r.ran(t, row.Name)
			continue
		}
		r.failed(t, row.Name, 1, strings.ReplaceAll(noRelease, "persist", row.Name))
		r.inputs["allow-source-build"] = "true"
		r.ran(t, row.Name)
		for _, value := range []string{"TRUE", "yes", " true", "1", "true\ntrue"} {
			r.inputs["allow-source-build"] = value
			r.failed(t, row.Name, 2, "allow-source-build is neither true nor false")
		}
	}
}

// TestAReleaseIsNeverBuiltFromSource: no failure to fetch it falls back.
func TestAReleaseIsNeverBuiltFromSource(t *testing.T) {
	r := aRunner(t)
	r.job["PATH"], r.inputs["allow-source-build"] = program(t, scriptedGo, "go"), "true"
	r.host.files = nil
	r.failed(t, "persist", 1, cannotFetch)
	r.pin(t, "")
	r.failed(t, "persist", 1, "checksums.txt names no release: check out the action anew")
}

func TestASourceBuildThatFailsSaysSo(t *testing.T) {
	for name, c := range map[string]struct {
		path, want string
	}{
		"no Go":              {t.TempDir(), "there is no Go to build persist from source: use a release, run actions/setup-go before, or give a folder of binaries as bin"},
		"a relative Go":      {".", "there is no Go to build persist from source: use a release, run actions/setup-go before, or give a folder of binaries as bin"},
		"a build that fails": {program(t, "echo no >&2; exit 1", "go"), "persist cannot be built from source: the lines above say why"},
		"nothing was built":  {program(t, "exit 0", "go"), "persist cannot be built from source: the lines above say why"},
	} {
		t.Log(name)
		r := aRunner(t)
		r.unreleased(t)
		r.inputs["allow-source-build"], r.job["PATH"] = "true", c.path
		write(t, filepath.Join(r.work, "go"), "#!/bin/sh\necho ran\n")
		if err := os.Chmod(filepath.Join(r.work, "go"), 0o755); err != nil {
			t.Fatal(err)
		}
		r.failed(t, "persist", 1, c.want)
	}
}

// TestARealSourceBuildUnderAHostileJob builds with the Go of this machine, the
// modules of its cache and an empty build cache.
func TestARealSourceBuildUnderAHostileJob(t *testing.T) {
	dir, err := source()
	if err != nil {
		t.Fatal(err)
	}
	r := aRunner(t)
	r.dir = dir
	evil := program(t, "touch "+filepath.Join(r.work, "evil")+"; exec \"$@\"", "tool", "cc", "git")
	golang, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	modules := strings.TrimSpace(command(t, root(), "go", "env", "GOMODCACHE"))
	r.job = map[string]string{"PATH": evil + ":" + filepath.Dir(golang), "GOFLAGS": "-toolexec=" + evil + "/tool -tags=nonsense", "CC": evil + "/cc", "CGO_ENABLED": "1",
		"GOWORK": "/nonexistent/go.work", "GOENV": "/nonexistent/env", "GOCACHEPROG": evil + "/tool", "GOMODCACHE": modules, "GOPROXY": "off", "HOME": t.TempDir()}
	r.inputs["safe-output"] = filepath.Join(r.work, "none")
	out, code := r.run(t, "ledger-mutation")
	if left, err := os.ReadDir(r.work); code != 0 || strings.Contains(out, "cannot be built") || err != nil || len(left) != 0 {
		t.Errorf("%d: left %v, %v\n%s", code, left, err, out)
	}
}
