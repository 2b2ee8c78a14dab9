package script

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

//go:embed testdata/attempts.js
var attemptsSource string

// box returns the test's node under the given layers, with or without the flags
// of the permission model.
func box(t *testing.T, m mode, permissions bool) sandbox {
	t.Helper()
	b := sandbox{node: testNode(t), mode: m}
	var err error
	if b.version, err = nodeVersion(context.Background(), b.node); err != nil {
		t.Fatal(err)
	}
	if b.flags, err = b.version.flags(); err != nil {
		t.Fatal(err)
	}
	if !permissions {
		b.flags = []string{"--no-warnings", "--input-type=commonjs"}
	}
	return b
}

// layers are the modes that this machine offers, found without the code under
// test: a namespace in which something can be mounted, a kernel with Landlock. The
// filter every machine offers.
func layers(t *testing.T) []mode {
	t.Helper()
	mount := exec.Command("/bin/mount", "-t", "tmpfs", "none", os.TempDir())
	mount.SysProcAttr = mode{namespaces: true}.attributes()
	namespaces := mount.Run() == nil
	_, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	landlock := errno == 0
	t.Logf("namespaces: %v, Landlock: %v", namespaces, landlock)
	return slices.DeleteFunc(slices.Clone(ladder), func(m mode) bool {
		return m.namespaces && !namespaces || m.landlock && !landlock
	})
}

// target is what a script tries to reach: files, sockets, this process.
type target struct {
	facts map[string]any
	met   chan struct{} // one for each connection that arrived
}

func newTarget(t *testing.T) *target {
	t.Helper()
	dir, err := os.MkdirTemp("", "ledger-script-test-") // shorter than t.TempDir: a socket's path is bounded
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	file := filepath.Join(dir, "bait")
	for suffix, text := range map[string]string{"": "bait", ".json": "{}", ".mjs": "export default 1", ".gone": ""} {
		if err := os.WriteFile(file+suffix, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	x := &target{met: make(chan struct{}, 100)}
	meet := func() { x.met <- struct{}{} }
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			meet()
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	local, err := net.Listen("unix", file+".sock")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { local.Close() })
	go func() {
		for {
			conn, err := local.Accept()
			if err != nil {
				return
			}
			conn.Close()
			meet()
		}
	}()
	port := server.Listener.Addr().(*net.TCPAddr).Port
	x.facts = map[string]any{"file": file, "absent": filepath.Join(dir, "absent"), "unix": file + ".sock", "port": port, "parent": os.Getpid()}
	return x
}

// try runs the named attempts, all of them when there is no name, and returns how
// each one ended.
func (x *target) try(t *testing.T, b sandbox, names ...string) map[string]string {
	t.Helper()
	facts := maps.Clone(x.facts)
	if names != nil {
		facts["names"] = names
	}
	args, err := json.Marshal([]any{facts})
	if err != nil {
		t.Fatal(err)
	}
	running.Lock()
	defer running.Unlock()
	nonce := newNonce()
	out, err := b.run(context.Background(), harness, envelope(nonce, []byte(attemptsSource), []string{"facts"}, args), 5*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	value, err := parseFrame(out.result, nonce)
	if err != nil || out.code != 0 {
		t.Fatalf("%v, status %d", err, out.code)
	}
	results := make(map[string]string)
	if err := json.Unmarshal(value, &results); err != nil {
		t.Fatal(err)
	}
	return results
}

// refused are the codes that say "you may not" or "there is no such thing here".
var refused = []string{
	"ERR_ACCESS_DENIED", "ERR_DLOPEN_DISABLED", "ERR_UNKNOWN_BUILTIN_MODULE",
	"EACCES", "EPERM", "ENETUNREACH", "ESRCH", "EAI_AGAIN", "ENOTFOUND",
}

// untried cannot be tried in an open process: they would end or slow down this
// test, end node, or need an addon; and this process closes itself to the two that
// look into it, whatever confines the script.
var untried = []string{
	"debug its parent", "slow down its parent", "signal everyone", "become another program", "load an addon",
	"read the environment of its parent", "read the memory of its parent",
}

func TestNothingThatAnOpenProcessCanDoGetsThroughInTheSandbox(t *testing.T) {
	x := newTarget(t)
	open := box(t, mode{}, false)
	var control []string
	for name := range x.try(t, box(t, layers(t)[0], true)) {
		if !slices.Contains(untried, name) && (name != "open a database" || open.version.atLeast(22, 13)) {
			control = append(control, name)
		}
	}
	if len(control) < 25 {
		t.Fatalf("only %d attempts have a control", len(control))
	}
	slices.Sort(control)
	select {
	case <-x.met:
		t.Fatal("a connection came out of the sandbox")
	default:
	}
	for _, m := range layers(t) {
		results := x.try(t, box(t, m, true))
		for _, name := range slices.Sorted(maps.Keys(results)) {
			t.Run(fmt.Sprintf("%s cannot %s", m, name), func(t *testing.T) {
				code := results[name]
				ok := slices.Contains(refused, code)
				if name == "become another program" && !open.version.atLeast(22, 15) {
					ok = code == "TypeError: process.execve is not a function"
				}
				if name == "open the inspector" && code == "ERR_INSPECTOR_NOT_AVAILABLE" {
					ok = true
				}
				if !ok {
					t.Errorf("ended with %s", code)
				}
			})
		}
	}
	results := x.try(t, open, control...)
	for _, name := range control {
		t.Run("an open process can "+name, func(t *testing.T) {
			if results[name] != "got through" {
				t.Errorf("ended with %s: the attempt proves nothing", results[name])
			}
		})
	}
}

// What the kernel refuses, it refuses also to a script that has got around Node's
// permission model.
func TestTheKernelHoldsWithoutThePermissionModel(t *testing.T) {
	always := []string{
		"read the environment of its parent", "read the memory of its parent",
		"spawn a process", "spawn a process and wait", "fork itself",
		"signal its parent", "debug its parent", "slow down its parent", "signal everyone",
		"connect over TCP", "connect over TCP by name", "connect to a Unix socket", "fetch", "listen over TCP", "send over UDP",
	}
	files := []string{
		"read a file", "read a file by promise", "list a folder", "read its own environment",
		"link to a file", "write a file", "make a folder", "remove a file",
	}
	x := newTarget(t)
	for _, m := range layers(t) {
		names := slices.Clone(always)
		if m.landlock {
			names = append(names, files...)
		}
		results := x.try(t, box(t, m, false), names...)
		for _, name := range names {
			t.Run(fmt.Sprintf("%s cannot %s", m, name), func(t *testing.T) {
				code := results[name]
				hidden := m.namespaces && code == "ENOENT" // a /proc without the parent
				if !slices.Contains(refused, code) && !(hidden && (name == always[0] || name == always[1])) {
					t.Errorf("ended with %s", code)
				}
			})
		}
	}
	select {
	case <-x.met:
		t.Fatal("a connection came out of the sandbox")
	default:
	}
}

// A shell in node's place shows what the layers do to any program at all. (Node
// 22.15 and later end themselves when process.execve is refused.)
func TestNoProgramInTheSandboxReachesAnother(t *testing.T) {
	parent := strconv.Itoa(os.Getpid())
	for _, c := range []struct {
		name, command string
		namespaces    bool // only these stop it
	}{
		{"become another", "exec /bin/true", false},
		{"start another", "/bin/true || exit 1; exit 0", false},
		{"fork itself", "(exit 0) || exit 1; exit 0", false},
		{"signal us", "kill -0 " + parent, false},
		{"see others", "set -- /proc/[0-9]*; test $# -gt 1", true},
	} {
		end := func(m mode) int {
			running.Lock()
			defer running.Unlock()
			out, err := sandbox{node: "/bin/sh", flags: []string{"-c", c.command}, mode: m}.run(context.Background(), "", nil, 5*time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			return out.code
		}
		if code := end(mode{}); code != 0 {
			t.Fatalf("%s: an open shell ends with status %d: the test proves nothing", c.name, code)
		}
		for _, m := range layers(t) {
			if c.namespaces && !m.namespaces {
				continue
			}
			t.Run(fmt.Sprintf("%s cannot %s", m, c.name), func(t *testing.T) {
				if code := end(m); code == 0 || code >= exitUsage && code <= exitExec {
					t.Errorf("status %d", code)
				}
			})
		}
	}
}

// peek opens the environment of its parent, which only works while the parent
// lets processes of its user look in.
const peek = ": < /proc/$PPID/environ"

func init() { helpers["peek"] = peekHelper }

func peekHelper() int {
	if err := exec.Command("/bin/sh", "-c", peek).Run(); err != nil {
		fmt.Println("an open process cannot be looked into: the test proves nothing")
	}
	out, err := sandbox{node: "/bin/sh", flags: []string{"-c", peek}, mode: mode{filter: true}}.run(context.Background(), "", nil, 5*time.Minute)
	if err != nil || out.code == 0 || out.code >= exitUsage && out.code <= exitExec {
		fmt.Printf("a process of the same user looked in: status %d, %v\n", out.code, err)
	}
	if err := exec.Command("/bin/sh", "-c", peek).Run(); err != nil {
		fmt.Println("the process stayed closed after the script")
	}
	return 0
}

func TestAProcessIsClosedToItsOwnUserWhileAScriptRuns(t *testing.T) {
	run := func(as *syscall.Credential) ([]byte, error) {
		cmd := exec.Command("/proc/self/exe")
		cmd.Env, cmd.Dir = []string{helperVariable + "=peek"}, "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: as}
		return cmd.CombinedOutput()
	}
	var nobody *syscall.Credential
	if os.Geteuid() == 0 { // from root a script is kept by other means too
		nobody = &syscall.Credential{Uid: 65534, Gid: 65534}
	}
	out, err := run(nobody)
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.EPERM) { // a root that knows no other user
		out, err = run(nil)
	}
	if err != nil || len(out) > 0 {
		t.Fatalf("%v\n%s", err, out)
	}
}

func TestAScriptHasNoPrivilegesAndBoundedMemory(t *testing.T) {
	source := `
const over = (bytes) => { try { new Uint8Array(new ArrayBuffer(bytes)).fill(1); return true } catch { return false } };
const heap = require("node:v8").getHeapStatistics().heap_size_limit;
return { ok: false, reason: JSON.stringify([
  Object.keys(process.env).length, process.cwd(), heap < 800 * 2 ** 20, over(3 * 2 ** 30), over(64 * 2 ** 20),
]) }`
	report, err := Validate(context.Background(), patient(t), []byte(source), ValidationInput{})
	if want := `[0,"/",true,false,true]`; report.Reason != want {
		t.Fatalf("got %s, %v; want %s", report.Reason, err, want)
	}
	status := `
const status = require("node:fs").readFileSync("/proc/self/status", "utf8");
return Object.fromEntries([...status.matchAll(/^(Cap\w+|NoNewPrivs|Seccomp):\s+(\w+)$/gm)].map((m) => [m[1], m[2]]))`
	running.Lock()
	defer running.Unlock()
	nonce := newNonce()
	out, err := box(t, mode{filter: true}, false).run(context.Background(), harness,
		envelope(nonce, []byte(status), nil, []byte("[]")), 5*time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	value, err := parseFrame(out.result, nonce)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]string
	if err := json.Unmarshal(value, &got); err != nil {
		t.Fatal(err)
	}
	for _, set := range []string{"CapInh", "CapPrm", "CapEff", "CapAmb"} {
		if got[set] != "0000000000000000" {
			t.Errorf("%s is %s", set, got[set])
		}
	}
	if got["NoNewPrivs"] != "1" || got["Seccomp"] != "2" {
		t.Errorf("got %v", got)
	}
}
