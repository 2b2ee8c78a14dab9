package script

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
)

// FindNode returns the node executable of the first directory in pathList (as in
// PATH) that has one, as an absolute path without links. Directories that are not
// absolute, and executables that stand in or lead into one of the untrusted
// directories, are passed over.
func FindNode(pathList string, untrusted ...string) (string, error) {
	name := "node"
	if runtime.GOOS == "windows" {
		name = "node.exe"
	}
	var roots []string
	for _, dir := range untrusted {
		if dir == "" {
			continue
		}
		roots = append(roots, filepath.Clean(dir))
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			roots = append(roots, real)
		}
	}
	for _, dir := range filepath.SplitList(pathList) {
		if !filepath.IsAbs(dir) {
			continue
		}
		path := filepath.Join(dir, name)
		real, err := filepath.EvalSymlinks(path)
		if err != nil || inside(path, roots) || inside(real, roots) || !executable(real) {
			continue
		}
		return real, nil
	}
	return "", fmt.Errorf("%w: not found outside the workspace; install Node 24, or name its absolute path", ErrNode)
}

// findNode is FindNode for this process: the checkout and the runner's folder for
// temporary files are what a workflow can write to.
func findNode() (string, error) {
	return FindNode(os.Getenv("PATH"), os.Getenv("GITHUB_WORKSPACE"), os.Getenv("RUNNER_TEMP"))
}

func inside(path string, roots []string) bool {
	for _, root := range roots {
		rel, err := filepath.Rel(root, path)
		if err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0)
}

// version is a release of node.
type version struct{ major, minor, patch int }

func (v version) String() string { return fmt.Sprintf("v%d.%d.%d", v.major, v.minor, v.patch) }

func (v version) atLeast(major, minor int) bool {
	return v.major > major || v.major == major && v.minor >= minor
}

var versionLine = regexp.MustCompile(`^v(0|[1-9][0-9]{0,2})\.(0|[1-9][0-9]{0,3})\.(0|[1-9][0-9]{0,3})\r?\n$`)

// nodeVersion asks the executable at path, which gets no environment.
func nodeVersion(ctx context.Context, path string) (version, error) {
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	var out counter
	out.keep, out.limit, out.over = 64, 64, cancel
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.Env, cmd.Stdout, cmd.WaitDelay = []string{}, &out, drainTimeout
	if err := cmd.Run(); err != nil {
		return version{}, fmt.Errorf("%w: node --version failed", ErrNode)
	}
	m := versionLine.FindSubmatch(out.kept)
	if m == nil {
		return version{}, fmt.Errorf("%w: node --version printed no release number", ErrNode)
	}
	var v version
	for i, field := range []*int{&v.major, &v.minor, &v.patch} {
		*field, _ = strconv.Atoi(string(m[i+1]))
	}
	return v, nil
}

// flags are what a release needs to be confined. An unknown major has none: what
// its flags leave open is not known.
func (v version) flags() ([]string, error) {
	var flags []string
	switch v.major {
	case 20, 22, 24, 25:
	default:
		return nil, fmt.Errorf("%w: version %d is not one of 20, 22, 24 and 25", ErrNode, v.major)
	}
	if v.atLeast(22, 13) {
		flags = append(flags, "--permission")
	} else {
		flags = append(flags, "--experimental-permission")
	}
	if v.atLeast(22, 5) {
		flags = append(flags, "--no-experimental-sqlite")
	}
	return append(flags,
		"--no-addons",
		"--no-warnings",
		"--max-old-space-size="+strconv.Itoa(maxOldSpaceMiB),
		"--input-type=commonjs",
	), nil
}

// counter counts what is written to it, keeps the first bytes, and calls over
// once there is too much.
type counter struct {
	keep  int
	limit int64
	over  func()
	kept  []byte
	n     int64
}

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	if room := c.keep - len(c.kept); room > 0 {
		c.kept = append(c.kept, p[:min(room, len(p))]...)
	}
	if c.n > c.limit {
		c.over()
		return 0, errors.New("too much output")
	}
	return len(p), nil
}
