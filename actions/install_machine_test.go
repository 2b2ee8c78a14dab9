package actions_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestPathsOfAWindowsRunnerAreUnderstood gives the step what a Windows runner sets:
// backslashes, drives, and binaries that end in .exe. The drives are folders of the
// workspace here.
func TestPathsOfAWindowsRunnerAreUnderstood(t *testing.T) {
	r := aRunner(t)
	for _, folder := range []string{"D:/a/_temp", "C:/hosted tool cache/windows", "D:/my bin"} {
		if err := os.MkdirAll(filepath.Join(r.work, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(r.work, "D:", "a", "_actions", "OWNER", "ledger"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(r.dir, filepath.Join(r.work, "D:", "a", "_actions", "OWNER", "ledger", "v1")); err != nil {
		t.Fatal(err)
	}
	// The line of the step itself is for a bash that knows drives.
	r.script = func(run string) string {
		return strings.ReplaceAll(run, "$GITHUB_ACTION_PATH", "${GITHUB_ACTION_PATH//\\\\//}")
	}
	r.dir = `D:\a\_actions\OWNER\ledger\v1`
	r.temp = filepath.Join(r.work, "D:", "a", "_temp")
	r.github["RUNNER_OS"], r.github["RUNNER_TEMP"], r.github["RUNNER_TOOL_CACHE"] = "Windows", `D:\a\_temp`, `C:\hosted tool cache\windows`
	for range 2 {
		out := r.ran(t, "persist")
		if !strings.Contains(out, "/persist.exe  ledger=memory") {
			t.Errorf("it printed %q", out)
		}
	}
	want := "GET /OWNER/ledger/releases/download/" + thisRelease + "/persist-windows-amd64.exe"
	if asked := r.host.asked(); !slices.Equal(asked, []string{want}) {
		t.Errorf("asked for %q, want %q", asked, want)
	}
	cached := filepath.Join(r.work, "C:", "hosted tool cache", "windows", "ledger", digestOf(thatBinary), "persist.exe")
	if _, err := os.Stat(cached); err != nil {
		t.Error(err)
	}

	own := filepath.Join(r.work, "D:", "my bin", "persist.exe")
	write(t, own, "#!/bin/sh\necho own $MSYS2_ENV_CONV_EXCL\n")
	if err := os.Chmod(own, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, bin := range []string{`D:\my bin`, "D:/my bin", `D:\my bin\`} {
		r.inputs["bin"] = bin
		if out, code := r.run(t, "persist"); code != 0 || out != "own INPUT_\n" {
			t.Errorf("bin %s: %d, %q", bin, code, out)
		}
	}
	r.inputs["bin"] = `my bin`
	r.failed(t, "persist", 1, "bin is no absolute path: a folder below the workspace could be the agent's")
}

// TestEachMachineGetsItsOwnBinaryAndAnUnknownOneNone names machines as runners do.
func TestEachMachineGetsItsOwnBinaryAndAnUnknownOneNone(t *testing.T) {
	for _, c := range []struct{ os, arch, name string }{
		{"Linux", "X64", "persist-linux-amd64"}, {"macOS", "ARM64", "persist-darwin-arm64"},
		{"macOS", "X64", ""}, {"Linux", "ARM", ""}, {"Linux", "X86", ""}, {"Plan9", "X64", ""}, {"", "", ""},
	} {
		r := aRunner(t)
		r.github["RUNNER_OS"], r.github["RUNNER_ARCH"] = c.os, c.arch
		if c.name == "" {
			said := func(value, variable string) string {
				if value == "" {
					return "no " + variable
				}
				return value
			}
			r.failed(t, "persist", 1, "release "+thisRelease+" has no persist for this runner ("+said(c.os, "RUNNER_OS")+", "+said(c.arch, "RUNNER_ARCH")+"): give a folder of binaries as bin")
			continue
		}
		r.ran(t, "persist")
		if asked := r.host.asked(); len(asked) != 1 || !strings.HasSuffix(asked[0], "/"+c.name) {
			t.Errorf("%s, %s: asked for %q", c.os, c.arch, asked)
		}
	}
}

// TestTheBinaryComesFromTheRepositoryOfTheAction takes that from where the runner
// keeps the action, and from the variable where it keeps it elsewhere.
func TestTheBinaryComesFromTheRepositoryOfTheAction(t *testing.T) {
	for _, c := range []struct{ dir, variable, from string }{
		{"_actions/OWNER/ledger/v1", "evil/evil", "OWNER/ledger"},
		{"_actions/OWNER/ledger/branch/with/slashes", "", "OWNER/ledger"},
		{"act/OWNER-ledger@v1", "OWNER/ledger", "OWNER/ledger"},
		{"workspace/ledger", "", "octo/consumer"}, // uses: ./actions/persist
		{"act/x", "OWNER", ""},
		{"act/x", "OWNER/ledger/x", ""},
		{"act/x", "../..", ""},
		{"act/x", "/", ""},
		{"act/x", "OWNER/led ger", ""},
		{"act/x", "OWNER/ledger?x=#", ""},
	} {
		r := aRunner(t)
		moved := filepath.Join(r.work, c.dir)
		if err := os.MkdirAll(filepath.Dir(moved), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(r.dir, moved); err != nil {
			t.Fatal(err)
		}
		r.dir, r.github["GITHUB_ACTION_REPOSITORY"] = moved, c.variable
		if c.from == "" {
			r.failed(t, "persist", 1, "nothing says which repository the action comes from: give a folder of binaries as bin")
			continue
		}
		_, _ = r.run(t, "persist")
		if asked := r.host.asked(); len(asked) == 0 || !strings.HasPrefix(asked[0], "GET /"+c.from+"/releases/") {
			t.Errorf("%v: asked for %q", c, asked)
		}
	}
}

// TestAServerIsAnAddressOrNothingIsFetched also proves that a proxy is used, and
// that a server which is not github.com gives way to it.
func TestAServerIsAnAddressOrNothingIsFetched(t *testing.T) {
	for _, server := range []string{"file:///etc", "ftp://example.org", "-o/tmp/x", "https://", "https://user:key@example.org", "https://example.org/?", "https://a b", "https://{a,b}.example.org"} {
		r := aRunner(t)
		r.github["GITHUB_SERVER_URL"] = server
		r.failed(t, "persist", 1, "GITHUB_SERVER_URL is no address")
		if asked := r.host.asked(); len(asked) > 0 {
			t.Errorf("%s: asked for %q", server, asked)
		}
	}
	for server, want := range map[string][]string{
		"https://ghes.example": {"CONNECT ghes.example:443", "CONNECT github.com:443"},
		"https://github.com":   {"CONNECT github.com:443"},
		"":                     {"CONNECT github.com:443"},
	} {
		r := aRunner(t)
		r.github["GITHUB_SERVER_URL"] = server
		r.failed(t, "persist", 1, cannotFetch)
		if asked := r.host.asked(); !slices.Equal(asked, want) {
			t.Errorf("%s: asked for %q, want %q", server, asked, want)
		}
	}
}

func TestAFolderOfOwnBinariesIsAnInputAndNothingElse(t *testing.T) {
	r := aRunner(t)
	own := program(t, "echo own", "persist")
	r.job["INPUT_BIN"], r.job["LEDGER_BIN"], r.job["BIN"] = own, own, own
	r.ran(t, "persist")
	r.inputs["bin"] = own
	if out, code := r.run(t, "persist"); code != 0 || out != "own\n" {
		t.Errorf("%d, %q", code, out)
	}
}
