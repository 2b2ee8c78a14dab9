package actions_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const tampered = "::warning title=persist::the tool cache holds something else in place of persist-linux-amd64; it is not used\n"

// TestATamperedCacheIsNoticedNotUsedAndMended puts in place of the binary what
// another job of the machine could, and then takes the network away as well.
func TestATamperedCacheIsNoticedNotUsedAndMended(t *testing.T) {
	evil := "#!/bin/sh\necho ran evil\n"
	for name, tamper := range map[string]func(path string) error{
		"another binary": func(path string) error { return os.WriteFile(path, []byte(evil), 0o755) },
		"a binary with one byte more": func(path string) error {
			return os.WriteFile(path, []byte(thatBinary+"\n"), 0o755)
		},
		"nothing in it": func(path string) error { return os.WriteFile(path, nil, 0o755) },
		"a link to another": func(path string) error {
			if err := os.WriteFile(path+".evil", []byte(evil), 0o755); err != nil {
				return err
			}
			return os.Symlink(path+".evil", path)
		},
		"one that is larger than any": func(path string) error {
			if err := os.WriteFile(path, []byte(evil), 0o755); err != nil {
				return err
			}
			return os.Truncate(path, 20<<20)
		},
		"one that no disk could hold": func(path string) error {
			if err := os.WriteFile(path, []byte(evil), 0o755); err != nil {
				return err
			}
			return os.Truncate(path, 1<<42)
		},
	} {
		t.Log(name)
		r := aRunner(t)
		r.ran(t, "persist")
		path := r.cached("persist")
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := tamper(path); err != nil {
			t.Fatal(err)
		}
		if out := r.ran(t, "persist"); !strings.HasPrefix(out, tampered) || strings.Contains(out, "evil") {
			t.Errorf("%s: %q", name, out)
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != thatBinary {
			t.Errorf("%s: the cache was not mended: %v", name, err)
		}
		if err := os.WriteFile(path, []byte(evil), 0o755); err != nil {
			t.Fatal(err)
		}
		r.host.close() // offline
		if out := r.failed(t, "persist", 1, cannotFetch); !strings.HasPrefix(out, tampered) {
			t.Errorf("%s, offline: %q", name, out)
		}
	}
}

// TestWhatIsNoFileInTheCacheIsLeftAlone: a pipe would keep the step waiting.
func TestWhatIsNoFileInTheCacheIsLeftAlone(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"a pipe":            func(path string) error { command(t, "/", "mkfifo", path); return nil },
		"a folder":          func(path string) error { return os.Mkdir(path, 0o755) },
		"a link to nothing": func(path string) error { return os.Symlink("/nonexistent", path) },
	} {
		t.Log(name)
		r := aRunner(t)
		if err := os.MkdirAll(filepath.Dir(r.cached("persist")), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := put(r.cached("persist")); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			r.ran(t, "persist")
		}
		var left []string
		for _, folder := range []string{filepath.Dir(r.cached("persist")), r.cached("persist")} {
			entries, _ := os.ReadDir(folder)
			for _, e := range entries {
				left = append(left, e.Name())
			}
		}
		if !slices.Equal(left, []string{"persist"}) {
			t.Errorf("%s: the cache holds %q", name, left)
		}
	}
}

func TestACacheThatCannotBeWrittenOrIsNotThereCostsADownload(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, "")
	for _, cache := range []string{file, "/proc/self/fd", ""} {
		r := aRunner(t)
		r.github["RUNNER_TOOL_CACHE"] = cache
		for range 2 {
			out := r.ran(t, "persist")
			if n := len(r.host.asked()); n != 1 || strings.Contains(out, "::debug::") != (cache != "") {
				t.Errorf("cache %q: asked %d times\n%s", cache, n, out)
			}
		}
	}
}

// TestABinaryThatIsReplacedAfterItWasHashedDoesNotRun lets the hasher itself
// replace the binary in the cache once it is done: what runs is another file.
func TestABinaryThatIsReplacedAfterItWasHashedDoesNotRun(t *testing.T) {
	r := aRunner(t)
	r.ran(t, "persist")
	hasher := program(t, `digest=$(/usr/bin/openssl dgst -sha256 -r)
echo "$digest"
printf '#!/bin/sh\necho ran evil\n' > '`+strings.ReplaceAll(r.cached("persist"), "'", `'\''`)+`'`, "openssl")
	path := filepath.Join(r.dir, "actions", "run.sh")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, strings.ReplaceAll(string(text), "/usr/bin/openssl", hasher+"/openssl"))
	r.ran(t, "persist")
	if text, err := os.ReadFile(r.cached("persist")); err != nil || !strings.Contains(string(text), "evil") {
		t.Errorf("the binary was not replaced: %v, %q", err, text)
	}
}

// TestNothingOfAnEarlierStepIsRunBeforeTheBinaryIs gives the job all that a step
// can leave behind for the next: programs in PATH, a start file and functions for
// bash, libraries, options, and settings of curl, openssl and perl.
func TestNothingOfAnEarlierStepIsRunBeforeTheBinaryIs(t *testing.T) {
	r := aRunner(t)
	mark := filepath.Join(t.TempDir(), "mark")
	fakes := program(t, "echo \"$0\" >> "+mark+"; echo "+digestOf(thatBinary), "openssl", "sha256sum", "shasum", "perl", "curl", "mktemp", "cp", "mv", "rm", "mkdir", "chmod", "bash", "sh", "env", "go")
	start := filepath.Join(t.TempDir(), "start")
	write(t, start, "echo start >> "+mark+"\nexec() { echo exec >> "+mark+"; }\n")
	r.job = map[string]string{"PATH": fakes, "HOME": t.TempDir(), "https_proxy": r.host.url, "BASH_ENV": start, "ENV": start, "SHELLOPTS": "xtrace", "BASHOPTS": "extdebug", "PS4": "$(echo ps4 >> " + mark + ")",
		"IFS": "/", "CDPATH": "/", "GLOBIGNORE": "*", "POSIXLY_CORRECT": "1", "LD_PRELOAD": "/nonexistent/evil.so", "LD_LIBRARY_PATH": filepath.Dir(mark),
		"GCONV_PATH": filepath.Dir(mark), "LOCPATH": filepath.Dir(mark), "OPENSSL_CONF": start, "PERL5OPT": "-Mevil", "PERL5LIB": filepath.Dir(mark),
		"CURL_HOME": filepath.Dir(start), "INPUT_BIN": fakes, "network": "everything", "binary": "/bin/false", "sum": digestOf("x"), "repository": "evil/evil", "TMPDIR": "/nonexistent"}
	for _, name := range []string{"printf", "exec", "[", "case", "fail", "mktemp", "unset", "set", "export", "cp", "local", "curl", "read", "pinned"} {
		r.job["BASH_FUNC_"+name+"%%"] = "() { echo function " + name + " >> " + mark + "; }"
	}
	write(t, filepath.Join(filepath.Dir(start), ".curlrc"), "output = "+mark+"\n")
	write(t, filepath.Join(r.job["HOME"], ".curlrc"), "output = "+mark+"\n")
	for range 2 { // from the host, and from the cache
		if out := r.ran(t, "persist"); strings.Count(out, "\n") != 1 || !strings.Contains(out, "PATH="+fakes) {
			t.Errorf("it printed %q", out)
		}
	}
	r.host.answer = func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "#!/bin/sh\necho ran evil\n") }
	if err := os.RemoveAll(r.github["RUNNER_TOOL_CACHE"]); err != nil {
		t.Fatal(err)
	}
	r.failed(t, "persist", 1, notPinned)
	if text, err := os.ReadFile(mark); err == nil {
		t.Errorf("what an earlier step left was run: %s", text)
	}
}

func TestWithoutAHasherOrCurlNothingRuns(t *testing.T) {
	r := aRunner(t)
	r.without(t, "/usr/bin/openssl")
	r.ran(t, "persist") // sha256sum
	r.without(t, "/bin/sha256sum", "/sbin/sha256sum")
	r.ran(t, "persist") // shasum
	r.without(t, "/usr/bin/shasum")
	r.failed(t, "persist", 1, "there is no program to hash persist with, and nothing runs unverified: install openssl, sha256sum or shasum in /usr/bin")

	r = aRunner(t)
	r.without(t, "/bin/curl")
	r.failed(t, "persist", 1, "there is no curl to fetch persist-linux-amd64 of release "+thisRelease+" with: install it, or give a folder of binaries as bin")
}

// TestAHasherThatIsBrokenIsNotBelieved has one that fails, one that prints no
// digest, and one that prints nothing.
func TestAHasherThatIsBrokenIsNotBelieved(t *testing.T) {
	for _, script := range []string{"echo " + digestOf(thatBinary) + "; exit 1", "echo SHA256 is off", ":"} {
		r := aRunner(t)
		r.host.files["/OWNER/ledger/releases/download/"+thisRelease+"/persist-linux-amd64"] = "#!/bin/sh\necho ran evil\n"
		path := filepath.Join(r.dir, "actions", "run.sh")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		write(t, path, strings.ReplaceAll(string(text), "/usr/bin/openssl", program(t, script, "openssl")+"/openssl"))
		r.failed(t, "persist", 1, notPinned)
	}
}

func TestADamagedListOfDigestsIsAnErrorAndNoReasonToBuild(t *testing.T) {
	line := digestOf(thatBinary) + "  persist-linux-amd64\n"
	no := "release " + thisRelease + " has no persist for this runner (Linux, X64): give a folder of binaries as bin"
	digest := "checksums.txt has no one digest for persist-linux-amd64: check out the action anew"
	for name, c := range map[string]struct{ text, want string }{
		"empty":                     {"", "checksums.txt names no release: check out the action anew"},
		"no release":                {line, "checksums.txt names no release: check out the action anew"},
		"a release with a path":     {"# release v1/../../x\n" + line, "checksums.txt names no release: check out the action anew"},
		"other roles only":          {"# release " + thisRelease + "\n" + strings.Replace(line, "persist", "apersist", 1), no},
		"a name that goes on":       {"# release " + thisRelease + "\n" + strings.Replace(line, "amd64", "amd64.exe", 1), no},
		"a digest cut short":        {"# release " + thisRelease + "\n" + line[1:], digest},
		"a digest of other letters": {"# release " + thisRelease + "\n" + strings.ToUpper(line[:64]) + line[64:], digest},
		"two digests":               {"# release " + thisRelease + "\n" + line + line, digest},
		"the last line cut":         {"# release " + thisRelease + "\n" + strings.TrimSpace(line)[:70], no},
	} {
		t.Log(name)
		r := aRunner(t)
		r.job["PATH"], r.inputs["allow-source-build"] = program(t, scriptedGo, "go"), "true"
		r.pin(t, c.text)
		r.failed(t, "persist", 1, c.want)
	}
	r := aRunner(t)
	r.unreleased(t)
	if err := os.Symlink("/nonexistent", filepath.Join(r.dir, "actions", "checksums.txt")); err != nil {
		t.Fatal(err)
	}
	r.failed(t, "persist", 1, "checksums.txt cannot be read: check out the action anew")
}

// TestAHasherGetsNothingOfTheJob: a variable could make it load code.
func TestAHasherGetsNothingOfTheJob(t *testing.T) {
	r := aRunner(t)
	r.inputs["token"] = token
	r.job["OPENSSL_CONF"] = "/tmp/evil"
	given := filepath.Join(t.TempDir(), "given")
	path := filepath.Join(r.dir, "actions", "run.sh")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	hasher := program(t, "/usr/bin/env > "+given+"; exec /usr/bin/openssl \"$@\"", "openssl")
	write(t, path, strings.ReplaceAll(string(text), "/usr/bin/openssl", hasher+"/openssl"))
	r.ran(t, "persist")
	got, err := os.ReadFile(given)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(got)) {
		if name, _, _ := strings.Cut(line, "="); name != "PWD" && name != "_" && name != "SHLVL" { // sh's own
			t.Errorf("it was given %s", line)
		}
	}
}

// TestNoProgramButTheBinaryGetsAnInput: a token and the merge keys are inputs.
func TestNoProgramButTheBinaryGetsAnInput(t *testing.T) {
	r := aRunner(t)
	r.inputs["token"] = token
	given := filepath.Join(t.TempDir(), "given")
	path := filepath.Join(r.dir, "actions", "run.sh")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	maker := program(t, "/usr/bin/env >> "+given+"; exec /usr/bin/mktemp \"$@\"", "mktemp")
	write(t, path, strings.ReplaceAll(string(text), "$(mktemp", "$("+maker+"/mktemp"))
	r.inputs["ledger"] = "mine"
	out := r.ran(t, "persist")
	got, err := os.ReadFile(given)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(got), "INPUT_") || !strings.Contains(string(got), "GITHUB_ACTION_PATH=") {
		t.Errorf("mktemp was given %s", got)
	}
	if !strings.Contains(out, " ledger=mine ") {
		t.Errorf("the binary was not given its input: %s", out)
	}
}
