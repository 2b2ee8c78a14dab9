package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

type platform struct {
	OS   string `yaml:"os"`
	Arch string `yaml:"arch"`
}

func (p platform) String() string { return p.OS + "/" + p.Arch }

// matrix is what a release reads of action-matrix.yml.
type matrix struct {
	Actions []struct {
		Name   string `yaml:"name"`
		Binary string `yaml:"binary"`
	} `yaml:"actions"`
	Platforms []platform `yaml:"platforms"`
}

func readMatrix(root string) (m matrix, err error) {
	text, err := os.ReadFile(filepath.Join(root, "action-matrix.yml"))
	if err != nil {
		return m, err
	}
	if err := yaml.Unmarshal(text, &m); err != nil {
		return m, err
	}
	if len(m.Actions) == 0 || len(m.Platforms) == 0 {
		return m, fmt.Errorf("action-matrix.yml lists no actions or no platforms")
	}
	return m, nil
}

// only is the part of the matrix with one role and one platform.
func (m matrix) only(role, on string) (matrix, error) {
	for _, a := range m.Actions {
		for _, p := range m.Platforms {
			if a.Name == role && p.String() == on {
				m.Actions, m.Platforms = append(m.Actions[:0:0], a), []platform{p}
				return m, nil
			}
		}
	}
	return m, fmt.Errorf("action-matrix.yml has no %s on %s", role, on)
}

// name is what a release calls the binary of a role.
func name(role string, p platform) string {
	name := role + "-" + p.OS + "-" + p.Arch
	if p.OS == "windows" {
		name += ".exe"
	}
	return name
}

// names are those of all binaries, sorted.
func (m matrix) names() (list []string) {
	for _, a := range m.Actions {
		for _, p := range m.Platforms {
			list = append(list, name(a.Name, p))
		}
	}
	slices.Sort(list)
	return list
}

// build makes the binaries in a folder, which must be empty or missing, and returns
// their digests by name.
func build(root string, m matrix, version, dir string) (map[string]string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return nil, fmt.Errorf("%s is not empty", dir)
	}
	digests := map[string]string{}
	for _, p := range m.Platforms {
		fmt.Println(p)
		part := filepath.Join(dir, p.OS+"-"+p.Arch)
		if err := os.MkdirAll(part, 0o755); err != nil {
			return nil, err
		}
		args := []string{"build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid= -X github.com/repo-memory/ledger/pkg/action.version=" + version, "-o", part + string(filepath.Separator)}
		for _, a := range m.Actions {
			args = append(args, "./"+a.Binary)
		}
		cmd := exec.Command("go", args...)
		cmd.Dir, cmd.Env, cmd.Stderr = root, environment(p), os.Stderr
		if err := cmd.Run(); err != nil {
			return nil, fmt.Errorf("%s cannot be built: %w", p, err)
		}
		for _, a := range m.Actions {
			full := name(a.Name, p)
			if err := os.Rename(filepath.Join(part, a.Name+strings.TrimPrefix(full, a.Name+"-"+p.OS+"-"+p.Arch)), filepath.Join(dir, full)); err != nil {
				return nil, err
			}
			if digests[full], err = digest(filepath.Join(dir, full)); err != nil {
				return nil, err
			}
		}
		if err := os.Remove(part); err != nil {
			return nil, err
		}
	}
	return digests, nil
}

// environment is Go's: where it keeps and gets things is the machine's, all that
// could change what it makes is fixed.
func environment(p platform) (env []string) {
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "TMP", "TEMP", "SYSTEMROOT", "LOCALAPPDATA", "USERPROFILE", "GOCACHE", "GOMODCACHE", "GOPATH", "GOPROXY", "GOSUMDB",
		"http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "no_proxy", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return append(env, "GOENV=off", "GOFLAGS=-mod=readonly", "GOWORK=off", "GOTOOLCHAIN="+toolchain, "CGO_ENABLED=0",
		"GOOS="+p.OS, "GOARCH="+p.Arch, "GOAMD64=v1", "GOARM64=v8.0")
}

func digest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
