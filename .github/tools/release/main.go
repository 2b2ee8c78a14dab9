// Command release makes the binaries of a release and the list that pins them.
//
//	release prepare VERSION      write actions/checksums.txt, for the release commit
//	release pin VERSION          have the workflows use the actions of that commit, for
//	                             the commit after it, which is tagged
//	release verify VERSION DIR   build anew into DIR, and compare with that list; and
//	                             see that the workflows are pinned
//	release check                whether the list, if there is one, is of this source
//	release build VERSION DIR [ROLE OS/ARCH]
//	                             build into DIR, all or one
//
// All but build take -root DIR before the command, too: the folder of the module,
// by default the one that the tools stand in.
//
// # What is built
//
// One binary for each action and each platform of action-matrix.yml, named
// ROLE-OS-ARCH, with .exe for Windows. Two builds of one commit by anybody anywhere
// give the same bytes: one toolchain, no cgo, no paths (-trimpath), no state of the
// version control, no symbols, and an environment of which only where Go keeps and
// gets things is left.
//
// # The list
//
// actions/checksums.txt is text in the form of sha256sum, in the order of names,
// after comments that say what it is of:
//
//	# release v1.2.3
//	# toolchain go1.26.8
//	# source 64 hexadecimal digits
//	64 hexadecimal digits, two spaces, name
//
// The source's digest is the SHA-256 of a line like the last for go.mod, go.sum,
// and each file below cmd and pkg that a build can use, in the order of paths.
//
// Only the commit that a release is tagged at has the list, and the one before it,
// which the reusable workflows of the release take the actions from: no commit can
// name itself. Where the list is missing the actions know that they are of no release.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

// toolchain makes every release. A new one changes here, in a commit of its own,
// and in release.yml.
const toolchain = "go1.26.8"

var versionForm = regexp.MustCompile(`^v(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z.-]+)?$`)

const usage = "usage: release [-root DIR] prepare VERSION | pin VERSION | verify VERSION DIR | check | build VERSION DIR [ROLE OS/ARCH]"

func main() {
	root := flag.String("root", filepath.Join("..", ".."), "folder of the module")
	flag.Parse()
	if err := run(*root, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(root string, args []string) error {
	root, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	m, err := readMatrix(root)
	if err != nil {
		return err
	}
	if len(args) > 1 && !versionForm.MatchString(args[1]) {
		return fmt.Errorf("%q is no version: give one like v1.2.3", args[1])
	}
	switch {
	case len(args) == 2 && args[0] == "prepare":
		return prepare(root, m, args[1])
	case len(args) == 2 && args[0] == "pin":
		return pin(root, m, args[1])
	case len(args) == 3 && args[0] == "verify":
		return verify(root, m, args[1], args[2])
	case len(args) == 1 && args[0] == "check":
		return check(root, m)
	case len(args) == 3 && args[0] == "build":
		_, err := build(root, m, args[1], args[2])
		return err
	case len(args) == 5 && args[0] == "build":
		one, err := m.only(args[3], args[4])
		if err != nil {
			return err
		}
		_, err = build(root, one, args[1], args[2])
		return err
	}
	return errors.New(usage)
}
