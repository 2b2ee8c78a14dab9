//go:build unix

package script

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakeNode writes an executable that only answers --version.
func fakeNode(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "node")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTheVersionOfNodeIsReadStrictly(t *testing.T) {
	t.Setenv("LEDGER_PROBE", "probe")
	for _, c := range []struct{ name, script, want string }{
		{"a release", `echo v24.21.0`, "v24.21.0"},
		{"a release under an empty environment", `[ -z "$LEDGER_PROBE$HOME" ] && [ "$1" = --version ] && echo v22.5.0`, "v22.5.0"},
		{"a nightly build", `echo v26.0.0-nightly20260101`, ""},
		{"another program", `echo 'GNU bash, version 5.2'`, ""},
		{"nothing", `:`, ""},
		{"no v", `echo 24.1.0`, ""},
		{"two lines", `echo v24.1.0; echo v24.1.0`, ""},
		{"leading zeros", `echo v024.1.0`, ""},
		{"a huge number", `echo v99999999999999999999.1.0`, ""},
		{"endless output", `while :; do echo v24.1.0; done`, ""},
		{"a failure", `echo v24.1.0; exit 1`, ""},
		{"a missing interpreter", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := fakeNode(t, c.script)
			if c.script == "" {
				if err := os.WriteFile(path, []byte("#!/missing/sh\n"), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			v, err := nodeVersion(context.Background(), path)
			if c.want == "" {
				if !errors.Is(err, ErrNode) || strings.Contains(err.Error(), path) {
					t.Fatalf("got %v, %v; want %v", v, err, ErrNode)
				}
				return
			}
			if err != nil || v.String() != c.want {
				t.Fatalf("got %v, %v; want %s", v, err, c.want)
			}
		})
	}
}

func TestNodeIsTakenFromNoFolderThatAWorkflowCanWriteTo(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(parts ...string) string { return filepath.Join(append([]string{root}, parts...)...) }
	for _, dir := range []string{"work/bin", "work/links", "work-tools", "tools", "plain", "linked", "empty", "folder/node"} {
		if err := os.MkdirAll(at(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for path, mode := range map[string]os.FileMode{"work/bin/node": 0o700, "work-tools/node": 0o700, "tools/node": 0o700, "plain/node": 0o600} {
		if err := os.WriteFile(at(path), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"linked/node": "work/bin/node", "work/links/node": "tools/node", "alias": "tools", "checkout": "work"} {
		if err := os.Symlink(at(target), at(link)); err != nil {
			t.Fatal(err)
		}
	}
	list := func(dirs ...string) string { return strings.Join(dirs, string(os.PathListSeparator)) }
	for _, c := range []struct {
		name, pathList, untrusted, want string
	}{
		{"the first folder that has it", list(at("empty"), at("tools"), at("work-tools")), "", at("tools/node")},
		{"a link is followed", at("alias"), "", at("tools/node")},
		{"the workspace is passed over", list(at("work/bin"), at("tools")), at("work"), at("tools/node")},
		{"the workspace under another name is passed over", list(at("checkout/bin"), at("tools")), at("work"), at("tools/node")},
		{"a workspace that is named by a link is passed over", list(at("work/bin"), at("tools")), at("checkout"), at("tools/node")},
		{"a link into the workspace is passed over", list(at("linked"), at("tools")), at("work"), at("tools/node")},
		{"a link out of the workspace is passed over", list(at("work/links"), at("work-tools")), at("work"), at("work-tools/node")},
		{"a folder that only begins like the workspace is not in it", at("work-tools"), at("work"), at("work-tools/node")},
		{"a relative folder is passed over", list("tools", ".", "", at("tools")), "", at("tools/node")},
		{"a file that is not executable is passed over", list(at("plain"), at("tools")), "", at("tools/node")},
		{"a folder named node is passed over", list(at("folder"), at("tools")), "", at("tools/node")},
		{"nothing but the workspace is an error", at("work/bin"), at("work"), ""},
		{"an empty path is an error", "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := FindNode(c.pathList, "", c.untrusted)
			if got != c.want || (err == nil) != (c.want != "") || err != nil && !errors.Is(err, ErrNode) {
				t.Fatalf("got %q, %v; want %q", got, err, c.want)
			}
		})
	}
}
