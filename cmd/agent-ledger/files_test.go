package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// mode MODE FILE compares permissions, in octal.
func mode(ts *testscript.TestScript, neg bool, args []string) {
	info, err := os.Stat(ts.MkAbs(args[1]))
	ts.Check(err)
	if got := strconv.FormatUint(uint64(info.Mode().Perm()), 8); (got == args[0]) == neg {
		ts.Fatalf("mode of %s is %s", args[1], got)
	}
}

// nowhere TEXT fails when any file in the work directory holds TEXT, or its name
// does.
func nowhere(ts *testscript.TestScript, neg bool, args []string) {
	found, looked := "", 0
	ts.Check(filepath.WalkDir(ts.MkAbs("."), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		looked++
		content, err := os.ReadFile(path)
		if strings.Contains(d.Name(), args[0]) || bytes.Contains(content, []byte(args[0])) {
			found = path
		}
		return err
	}))
	if (found == "") == neg || looked == 0 {
		ts.Fatalf("%q: %q, %d files", args[0], found, looked)
	}
}

func TestTheBinaryHoldsNoCodeThatWritesToABranch(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	linked := "\n" + string(out)
	if !strings.Contains(linked, "\ngithub.com/repo-memory/ledger/pkg/mcptools\n") {
		t.Fatal("the list is not that of this binary")
	}
	for _, name := range []string{"publish", "persist", "compaction", "script"} {
		if strings.Contains(linked, "\ngithub.com/repo-memory/ledger/pkg/"+name+"\n") {
			t.Errorf("pkg/%s is linked", name)
		}
	}
}
